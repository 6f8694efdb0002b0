#pragma once
// Changes of a JSON text that people keep by hand: what is not named keeps its bytes, blanks and order included.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::data {

/// `text` with the member at `path` (names, at least one) made `value`, its parents made if need be; `text` itself when
/// that is what it says. kInvalid when `text` is no JSON object, kUnsupported when a parent is no object.
Result<std::string> WithJsonMember(const std::string& text, const std::vector<std::string>& path, const Json& value);
/// `text` without the member at `path`; `text` itself when it has none.
Result<std::string> WithoutJsonMember(const std::string& text, const std::vector<std::string>& path);

}  // namespace gpuop::data
