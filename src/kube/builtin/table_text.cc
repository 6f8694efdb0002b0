#include "kube/builtin/table_text.h"

// GPUOP_BUILTIN_TABLE is the file's path; CMake knows that this file depends on it.
asm(".section .rodata\n"
    ".global gpuop_builtin_table_begin, gpuop_builtin_table_end\n"
    "gpuop_builtin_table_begin:\n"
    ".incbin \"" GPUOP_BUILTIN_TABLE
    "\"\n"
    "gpuop_builtin_table_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char gpuop_builtin_table_begin[];
extern "C" const char gpuop_builtin_table_end[];

namespace gpuop::kube::builtin {

std::string_view TableText() { return {gpuop_builtin_table_begin, gpuop_builtin_table_end}; }

}  // namespace gpuop::kube::builtin
