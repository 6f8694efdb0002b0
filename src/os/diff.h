#pragma once

#include <string>
#include <string_view>

namespace gpuop::os {

/// What changes from `before` to `after`, line by line, as `diff -u` shows it with three lines around; empty when
/// nothing does. The headers are `--- FROM` and `+++ TO`. Bytes that are no text are only said to differ. Texts with
/// more than 2,000 changed lines are shown as one whole replaced by another between what they share at both ends.
std::string UnifiedDiff(std::string_view from, std::string_view to, std::string_view before, std::string_view after);

}  // namespace gpuop::os
