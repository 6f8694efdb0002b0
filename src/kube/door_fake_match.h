#pragma once
// What FakeDoor's two halves share.

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "kube/door.h"
#include "kube/resource.h"

namespace gpuop::kube::fake {

/// The query's value, or "".
std::string Query(const ApiRequest& request, std::string_view name);
/// Whether `object` is in the namespace and meets the selectors of `request`.
bool Selected(const ApiRequest& request, const std::string& ns, const boost::json::object& object);
/// metadata.<field>, or "".
std::string MetaText(const boost::json::object& object, std::string_view field);
/// "group/plural".
std::string Shelf(std::string_view group, std::string_view plural);

}  // namespace gpuop::kube::fake
