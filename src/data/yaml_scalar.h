#pragma once

#include <optional>
#include <string_view>

#include "data/json.h"

namespace gpuop::data {

/// What a plain YAML scalar means to kubectl: null, a boolean or a number; nullopt when it is just text.
/// Infinities and not-a-number come as doubles.
std::optional<Json> ResolvePlain(std::string_view text);

/// Whether other readers of YAML may take a plain scalar for a date or a number in base 60.
bool IsAmbiguousPlain(std::string_view text);

}  // namespace gpuop::data
