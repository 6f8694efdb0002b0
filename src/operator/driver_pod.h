#pragma once

#include "kube/types/meta.h"

namespace gpuop::op {

/// A driver Pod as far as the operator cares.
struct DriverPod {
  static inline const kube::Resource kResource{"", "v1", "pods", "Pod", true};
  kube::ObjectMeta meta;
  Interned node, phase;
  /// An image that its node tried to pull and could not; "" when there is none.
  Interned missing_image;
  bool missing_is_driver = false;  ///< and not one that must run before the driver's

  /// Its DaemonSet is gone and it runs on: left over when NVIDIADrivers took the nodes from the ClusterPolicy.
  bool IsOrphan() const { return meta.owners.empty() && phase == "Running" && !node.empty() && !meta.deleting(); }

  static Result<DriverPod> FromJson(const boost::json::object& in);
  bool operator==(const DriverPod&) const = default;
};

}  // namespace gpuop::op
