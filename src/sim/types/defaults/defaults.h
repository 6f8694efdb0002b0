#pragma once
// What the API server fills in where a built-in object says nothing.

#include <boost/json/object.hpp>
#include <string_view>

namespace gpuop::sim::types {

/// Fills in the defaults of a built-in kind, wherever Kubernetes decides them by the type alone. The object has been
/// conformed to its type. Kinds without defaults are left as they are.
void SetDefaults(std::string_view group, std::string_view kind, boost::json::object& object);

/// The defaults of a Pod's spec; `in_pod`: of a Pod itself, not of a template.
void SetPodSpecDefaults(boost::json::object& spec, bool in_pod);

}  // namespace gpuop::sim::types
