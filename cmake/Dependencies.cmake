# What comes from Debian (packages.txt), each as one interface target. Heavy headers stay in few .cc files.
# A release links everything but glibc statically: dlopen of a driver's libraries needs the real loader.

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)

set(GPUOP_LIBDIR /usr/lib/${CMAKE_CXX_LIBRARY_ARCHITECTURE})

# gpuop_dep(NAME <library> …): shared libraries, or in a static build their archives.
function(gpuop_dep name)
  add_library(gpuop_dep_${name} INTERFACE)
  if(GPUOP_STATIC)
    list(TRANSFORM ARGN REPLACE "(.+)" "${GPUOP_LIBDIR}/lib\\1.a" OUTPUT_VARIABLE libraries)
  else()
    set(libraries ${ARGN})
  endif()
  target_link_libraries(gpuop_dep_${name} INTERFACE ${libraries})
endfunction()

gpuop_dep(json boost_json)
gpuop_dep(yaml yaml-cpp)
gpuop_dep(re2 re2)
gpuop_dep(zlib z)
gpuop_dep(compression zstd lz4)
gpuop_dep(tls ssl crypto)
gpuop_dep(http2 nghttp2)
gpuop_dep(protobuf protobuf-lite)

if(GPUOP_STATIC)
  # Under the name that -lfmt has otherwise.
  add_library(fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt.cc)
  # Pages are what many node programs cost. At a fixed address no page is written because of relocations, and where all
  # that runs once at the start lies together, the rest of those pages need not be in memory (docs/decisions.md).
  add_link_options(-static-libstdc++ -static-libgcc -Wl,-O2 -Wl,--icf=safe -Wl,-z,keep-text-section-prefix
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

add_library(gpuop_dep_asio INTERFACE)
target_link_libraries(gpuop_dep_asio INTERFACE gpuop_dep_tls Threads::Threads)
