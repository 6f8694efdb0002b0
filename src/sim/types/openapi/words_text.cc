#include "sim/types/openapi/words_text.h"

// GPUOP_KIND_WORDS is the file's path; CMake knows that this file depends on it.
asm(".section .rodata\n"
    ".global gpuop_kind_words_begin, gpuop_kind_words_end\n"
    "gpuop_kind_words_begin:\n"
    ".incbin \"" GPUOP_KIND_WORDS
    "\"\n"
    "gpuop_kind_words_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char gpuop_kind_words_begin[];
extern "C" const char gpuop_kind_words_end[];

namespace gpuop::sim::types {

std::string_view WordsText() { return {gpuop_kind_words_begin, gpuop_kind_words_end}; }

}  // namespace gpuop::sim::types
