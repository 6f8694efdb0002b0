#pragma once
// How people read spans of time and counts in tables.

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace gpuop::sim {

/// A span in at most two units, the coarser the longer it is: "45s", "5m30s", "12m", "3h20m", "47h", "3d4h", "200d",
/// "2y100d"; "<invalid>" for one that lies more than two seconds in the future.
std::string HumanDuration(Duration span);
/// How long ago an RFC 3339 text was; "<unknown>" when there is none.
std::string Since(std::string_view time, WallTime now);
/// How long ago metadata.creationTimestamp was.
std::string Age(const boost::json::object& object, WallTime now);
/// "a=b,c=d" in the order of keys; "<none>" for none.
std::string FormatLabels(const boost::json::object& labels);
/// A metav1.LabelSelector as text: "a=b,c in (d,e),f,!g"; "<none>" for an empty one.
std::string FormatSelector(const boost::json::object& selector);
/// The first three, and how many more: "a,b,c + 2 more...".
std::string FirstThree(const std::vector<std::string>& all);

}  // namespace gpuop::sim
