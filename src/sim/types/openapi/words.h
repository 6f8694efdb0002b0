#pragma once
// What `kubectl explain` says of built-in types and fields: our own words, in words.txt beside this header.

#include <functional>
#include <string_view>

namespace gpuop::sim::types {

/// Of a type by its full name ("io.k8s.api.core.v1.Pod"); empty where nothing is said.
std::string_view WordsOf(std::string_view type);
/// Of one of its fields.
std::string_view WordsOf(std::string_view type, std::string_view field);

/// Calls `see` for everything that is said; `field` is empty for the type itself.
void ForEachWords(
    const std::function<void(std::string_view type, std::string_view field, std::string_view words)>& see);

}  // namespace gpuop::sim::types
