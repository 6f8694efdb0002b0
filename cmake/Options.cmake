# Compiler, warnings, sanitizers and caches: the same for every target.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

set(GPUOP_SANITIZE "" CACHE STRING "address, thread, fuzzer or empty")
option(GPUOP_FUZZ "build the libFuzzer targets (*_fuzz.cc)" OFF)
option(GPUOP_STATIC "link everything statically but glibc" OFF)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Hits survive another folder's clone: paths are made relative, and a precompiled header counts by its inputs.
  # Headers that change while a file compiles keep it out of the cache: do not add ccache's include_file_* leniences.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# CMake's own form also names the header by its absolute path, which would make every clone compile anew.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wthread-safety -Werror
  $<$<NOT:$<CONFIG:Release>>:-fno-omit-frame-pointer> -ffunction-sections -fdata-sections
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. "SHELL:-Xclang -fno-pch-timestamp")
add_link_options(-fuse-ld=lld -Wl,--gc-sections)
if(GPUOP_STATIC)
  # Functions that are equal stand once, and relocations, which every process reads whole, are a hundredth as long.
  add_link_options(-Wl,--icf=safe -Wl,-z,pack-relative-relocs)
endif()

if(GPUOP_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(GPUOP_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
if(GPUOP_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

function(gpuop_compile_options target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
endfunction()
