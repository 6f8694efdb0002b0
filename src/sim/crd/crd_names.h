#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace gpuop::sim {

/// Computes status.acceptedNames and the conditions NamesAccepted and Established of `crd` against the names that the
/// `others` of its group have been given.
void AcceptNames(boost::json::object& crd, const std::vector<const boost::json::object*>& others, WallTime now);

/// Sets a condition of a status; lastTransitionTime moves only when its status changes.
void SetCondition(boost::json::object& object, std::string_view type, bool status, std::string_view reason,
                  std::string_view message, WallTime now);
/// Whether the object's condition has status True.
bool HasCondition(const boost::json::object& object, std::string_view type);

}  // namespace gpuop::sim
