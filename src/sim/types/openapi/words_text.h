#pragma once

#include <string_view>

namespace gpuop::sim::types {

/// The file words.txt beside this header, as it was at build time: `@TYPE`, a line about the type, then `FIELD WORDS…`.
std::string_view WordsText();

}  // namespace gpuop::sim::types
