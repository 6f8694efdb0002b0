#pragma once

#include <cstddef>
#include <string_view>

namespace gpuop::data {

/// The line, from 1, on which the field at `path` ("gpus[0].numa[3]", "labels[a.b/c]": as a Reader's errors name it)
/// stands in the first document of a YAML text; when it is not there, the line of the nearest thing that holds it.
/// 1 for a text that is no YAML.
std::size_t LineOf(std::string_view yaml, std::string_view path);

}  // namespace gpuop::data
