#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

namespace gpuop::kube {

/// The managedFields of `live` in which all that `manager` has written by creating and updating counts as applied by
/// it; nullopt when it has written nothing so. An object whose writer goes over to server-side apply gets these first:
/// then the next apply removes what it names no longer, instead of leaving it to a writer that will never come back.
/// Pure.
std::optional<boost::json::array> TakenOver(const boost::json::object& live, std::string_view manager);

/// Whether an entry of managedFields tells what `manager` wrote to the object itself, by whatever verb: its
/// subresources have entries of their own.
bool IsWrittenBy(const boost::json::value& entry, std::string_view manager);

}  // namespace gpuop::kube
