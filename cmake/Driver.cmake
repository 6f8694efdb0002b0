# The libraries of a simulated machine's driver: shared objects that any program loads, also one in a container of
# another distribution. So they carry what they need (libstdc++ and the few sources of ours), show nothing but their
# interface, and have no precompiled header, whose objects are not position independent. Once loaded they stay (their
# threads and the one state that their C interfaces need live as long as the process).

# gpuop_driver_library(TARGET NAME <libX.so.1> [VERSION <of the symbols>] EXPORTS <patterns of names> SOURCES <own sources> USES <others' sources>)
function(gpuop_driver_library target)
  cmake_parse_arguments(ARG "" "NAME;VERSION" "EXPORTS;SOURCES;USES" ${ARGN})
  add_library(${target} MODULE ${ARG_SOURCES} ${ARG_USES})
  gpuop_compile_options(${target})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME ${ARG_NAME} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/driver
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # What the C++ library declares visible stays inside all the same.
  list(JOIN ARG_EXPORTS "; " exports)
  set(script ${CMAKE_BINARY_DIR}/driver/${target}.map)
  file(CONFIGURE OUTPUT ${script} CONTENT "${ARG_VERSION} { global: ${exports}; local: *; };\n")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -static-libstdc++ -static-libgcc -Wl,-soname,${ARG_NAME} -Wl,--exclude-libs,ALL
    -Wl,-z,defs -Wl,-z,nodelete)
  # Programs that know nothing of sanitizers load them.
  if(GPUOP_SANITIZE OR GPUOP_FUZZ)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -fno-sanitize=all)
  endif()
  target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()

# Names with the suffix of per-thread default streams are the same functions.
function(gpuop_per_thread_names target file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} names)
  list(TRANSFORM names PREPEND -Wl,--defsym=)
  target_link_options(${target} PRIVATE ${names})
endfunction()

set(machine ${CMAKE_SOURCE_DIR}/src/machine)
file(GLOB GPUOP_MACHINE_STATE CONFIGURE_DEPENDS ${machine}/state/*.cc)
list(FILTER GPUOP_MACHINE_STATE EXCLUDE REGEX "(_test|/fake_machine)\\.cc$")
# What every driver library needs of other rooms.
set(GPUOP_DRIVER_USES ${GPUOP_MACHINE_STATE}
  ${CMAKE_SOURCE_DIR}/src/base/check.cc ${CMAKE_SOURCE_DIR}/src/base/result.cc ${CMAKE_SOURCE_DIR}/src/base/text.cc
  ${CMAKE_SOURCE_DIR}/src/os/system_error.cc
  ${CMAKE_SOURCE_DIR}/src/gpu/mig_geometry.cc ${CMAKE_SOURCE_DIR}/src/gpu/mig_models.cc)

file(GLOB sources CONFIGURE_DEPENDS ${machine}/nvml/*.cc)
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
gpuop_driver_library(gpuop_nvml NAME libnvidia-ml.so.1 EXPORTS nvml* gpuopMachine* SOURCES ${sources}
  USES ${GPUOP_DRIVER_USES} ${machine}/spec/pci_address.cc)

# Who runs the program from the build folder finds the libraries beside it.
add_dependencies(gpu-operator gpuop_nvml)
add_dependencies(machine_test gpuop_nvml)

# libcuda.so.1: what of it can be tested without the C interface is in the room; here all of it, position independent.
file(GLOB sources CONFIGURE_DEPENDS ${machine}/cuda/exports/*.cc)
file(GLOB_RECURSE uses CONFIGURE_DEPENDS ${machine}/cuda/ptx/*.cc ${machine}/cuda/exec/*.cc ${machine}/cuda/driver/*.cc)
list(FILTER uses EXCLUDE REGEX "_(test|fuzz)\\.cc$")
gpuop_driver_library(gpuop_cuda NAME libcuda.so.1 EXPORTS cu* SOURCES ${sources} USES ${uses} ${GPUOP_DRIVER_USES})
target_compile_options(gpuop_cuda PRIVATE -O2)
# Contexts have threads, which outlive a dlclose.
target_link_options(gpuop_cuda PRIVATE -Wl,-z,nodelete)
gpuop_per_thread_names(gpuop_cuda ${machine}/cuda/exports/per_thread_names.txt)
target_link_libraries(gpuop_cuda PRIVATE ${GPUOP_LIBDIR}/libzstd.a ${GPUOP_LIBDIR}/liblz4.a)
add_dependencies(gpu-operator gpuop_cuda)
add_dependencies(machine_test gpuop_cuda)

# libcudart.so.13: over the driver API, for programs that nvcc made with -cudart shared; their symbols have a version.
file(GLOB sources CONFIGURE_DEPENDS ${machine}/cudart/*.cc)
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
gpuop_driver_library(gpuop_cudart NAME libcudart.so.13 VERSION libcudart.so.13 EXPORTS cuda* __cuda* SOURCES ${sources})
gpuop_per_thread_names(gpuop_cudart ${machine}/cudart/per_thread_names.txt)
add_dependencies(gpu-operator gpuop_cudart)
