#pragma once

#include <string_view>

#include "base/result.h"

namespace gpuop::data {

/// Whether `name` as a whole fits `pattern`, as Go's path.Match and NFD's and NVIDIA's file patterns have it: * and ?
/// stand for anything but a slash, [a-z] and [^a-z] for one character, a backslash takes the next one literally.
/// kInvalid ("syntax error in pattern") for a malformed pattern. Time is at most the product of both lengths.
Result<bool> MatchGlob(std::string_view pattern, std::string_view name);

/// Only * is special, and it stands for anything at all, slashes included ("nvidia.com/*").
bool MatchWildcard(std::string_view pattern, std::string_view text);

}  // namespace gpuop::data
