#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kube/types/any_object.h"

namespace gpuop::op {

/// How far a DaemonSet's change has come: numbers of its status.
struct Rollout {
  std::int64_t observed_generation = 0;
  std::int32_t desired = 0, updated = 0, available = 0, misscheduled = 0, current = 0, ready = 0;

  template <class V>
  void Visit(V& v) {
    v("observedGeneration", observed_generation);
    v("desiredNumberScheduled", desired);
    v("updatedNumberScheduled", updated);
    v("numberAvailable", available);
    v("numberMisscheduled", misscheduled);
    v("currentNumberScheduled", current);
    v("numberReady", ready);
  }
  bool operator==(const Rollout&) const = default;
};

/// An object of a kind that we write. Ours are kept whole; of others only what names them and, of ConfigMaps and
/// Secrets, the keys. Values of Secrets are never kept.
struct OwnObject : kube::AnyObject {
  bool ours = false;
  std::vector<std::string> keys;
  Rollout rollout;

  /// The value of the state label; "" when it has none.
  std::string_view State() const;

  static Result<OwnObject> FromJson(const boost::json::object& in);
  bool operator==(const OwnObject&) const = default;
};

/// Whether two states differ in more than status and resourceVersion, as far as generations tell.
bool DiffersInWish(const OwnObject& a, const OwnObject& b);

}  // namespace gpuop::op
