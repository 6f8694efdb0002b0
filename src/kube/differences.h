#pragma once
// Whether an object is as it is wanted. Pure: no I/O, no clock.

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"

namespace gpuop::kube {

/// One field that is not as wanted. The values are JSON text, empty where the field is absent.
struct Difference {
  std::string path;  ///< "spec.template.spec.containers[name=main].image"
  std::string wanted, live;
  bool operator==(const Difference&) const = default;
};

/// Where `live` is not as `wanted` says, as far as `wanted` says anything: fields it does not name (defaults, other
/// writers') do not count, null means absent. Lists are compared as server-side apply merges them: by their keys or as
/// sets where `schema` says so (items beyond the wanted ones are others'), else item by item. Quantities are compared
/// by amount. apiVersion and kind are not compared: list items do not carry them. `schema` may be null.
std::vector<Difference> Differences(const boost::json::object& wanted, const boost::json::object& live,
                                    const data::Schema* schema);

/// What `manager` once wrote to `live` (its managedFields say so) and `wanted` no longer names: an apply would remove
/// it, at once or, where it was written by an update, after a TakenOver (kube/take_over.h).
std::vector<Difference> Leftovers(const boost::json::object& wanted, const boost::json::object& live,
                                  std::string_view manager, const data::Schema* schema);

}  // namespace gpuop::kube
