# Protobuf messages as C++: gpuop_proto(TARGET FILES <src/…/x.proto> …) makes a static library. The header of
# src/room/x.proto is included as "room/x.pb.h"; messages alone, because services are named by strings (net/grpc).

find_program(PROTOC protoc REQUIRED)

function(gpuop_proto target)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  set(generated "")
  foreach(file ${ARG_FILES})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${file})
    string(REGEX REPLACE "\\.proto$" ".pb" stem ${out}/${name})
    add_custom_command(OUTPUT ${stem}.cc ${stem}.h DEPENDS ${file}
      COMMAND ${PROTOC} --cpp_out=${out} -I ${CMAKE_SOURCE_DIR}/src ${file} COMMENT "Messages of ${name}" VERBATIM)
    list(APPEND generated ${stem}.cc ${stem}.h)
  endforeach()
  add_library(${target} STATIC ${generated})
  # Generated code is not held to our warnings, nor are those who include it.
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_link_libraries(${target} PUBLIC gpuop_dep_protobuf)
endfunction()
