#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gpuop::operands {

/// The nodes that one DaemonSet of an NVIDIADriver serves. The operator decides names and selectors.
struct DriverPool {
  /// Of the DaemonSet, and its label `app`: hashed, at most 63 characters.
  std::string name = {};
  /// Of ServiceAccount, roles and bindings.
  std::string rbac_name = {};
  std::string os_id = {}, os_version = {}, os_tag = {};
  /// `uname -r`, and its form in names; only with precompiled modules.
  std::string kernel = {}, kernel_sanitized = {};
  /// RHCOS' OSTREE_VERSION; only with OpenShift's Driver Toolkit.
  std::string rhcos_version = {};
  /// The whole nodeSelector but for the deploy label.
  std::map<std::string, std::string> selector = {};
  /// The host's root as the kubelet sees it.
  std::string host_root = "/";
  std::int32_t nodes = 0;

  bool operator==(const DriverPool&) const = default;
};

}  // namespace gpuop::operands
