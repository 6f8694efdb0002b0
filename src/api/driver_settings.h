#pragma once
// Settings of the driver that ClusterPolicy and NVIDIADriver share.

#include <cstdint>
#include <optional>
#include <string>

#include "api/components.h"
#include "data/field.h"

namespace gpuop::api {

/// Times and counts of a probe of the driver container; what is left out keeps the operator's value.
struct ProbeTimes {
  std::optional<std::int32_t> initial_delay_s, timeout_s, period_s, success_threshold, failure_threshold;

  template <class V>
  void Visit(V& v) {
    v("initialDelaySeconds", initial_delay_s, {.description = "Seconds before the first probe."});
    v("timeoutSeconds", timeout_s, {.description = "Seconds that one probe may take.", .minimum = 1});
    v("periodSeconds", period_s, {.description = "Seconds between probes.", .minimum = 1});
    v("successThreshold", success_threshold,
      {.description = "Good answers in a row that count as success; 1 for startup and liveness.", .minimum = 1});
    v("failureThreshold", failure_threshold,
      {.description = "Bad answers in a row that count as failure.", .minimum = 1});
  }
  bool operator==(const ProbeTimes&) const = default;
};

struct Rdma {
  std::optional<bool> enabled, use_host_mofed;

  bool IsEnabled() const { return enabled.value_or(false); }
  bool UsesHostMofed() const { return use_host_mofed.value_or(false); }

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether the driver is built with GPUDirect RDMA (nvidia-peermem)."});
    v("useHostMofed", use_host_mofed, {.description = "Whether the nodes bring their own MOFED drivers."});
  }
  bool operator==(const Rdma&) const = default;
};

struct WaitForCompletion {
  std::string pod_selector;
  std::int64_t timeout_s = 0;

  template <class V>
  void Visit(V& v) {
    v("podSelector", pod_selector, {.description = "Label selector of the Pods whose end is waited for."});
    v("timeoutSeconds", timeout_s,
      {.description = "Seconds to wait; 0 waits without limit.", .defaulted = true, .minimum = 0});
  }
  bool operator==(const WaitForCompletion&) const = default;
};

struct PodDeletion {
  bool force = false, delete_empty_dir = false;
  std::int64_t timeout_s = 300;

  template <class V>
  void Visit(V& v) {
    v("force", force, {.description = "Whether Pods without a controller are deleted too.", .defaulted = true});
    v("timeoutSeconds", timeout_s,
      {.description = "Seconds to wait for the Pods to go; 0 waits without limit.", .defaulted = true, .minimum = 0});
    v("deleteEmptyDir", delete_empty_dir,
      {.description = "Whether Pods with emptyDir volumes are deleted, and their data with them.", .defaulted = true});
  }
  bool operator==(const PodDeletion&) const = default;
};

struct Drain {
  bool enable = false, force = false, delete_empty_dir = false;
  std::string pod_selector;
  std::int64_t timeout_s = 300;

  template <class V>
  void Visit(V& v) {
    v("enable", enable, {.description = "Whether the node is drained before its driver changes.", .defaulted = true});
    v("force", force, {.description = "Whether Pods without a controller are evicted too.", .defaulted = true});
    v("podSelector", pod_selector, {.description = "Label selector of the Pods that are evicted; all when empty."});
    v("timeoutSeconds", timeout_s,
      {.description = "Seconds that a drain may take; 0 means no limit.", .defaulted = true, .minimum = 0});
    v("deleteEmptyDir", delete_empty_dir,
      {.description = "Whether Pods with emptyDir volumes are evicted, and their data with them.", .defaulted = true});
  }
  bool operator==(const Drain&) const = default;
};

/// How drivers are replaced on running nodes. The two resources differ in what an absent `autoUpgrade` means.
template <bool kAutoUpgrade>
struct UpgradePolicyOf {
  bool auto_upgrade = kAutoUpgrade;
  std::int64_t max_parallel = 1;
  data::IntOrString max_unavailable{std::string("25%")};
  std::optional<PodDeletion> pod_deletion;
  std::optional<WaitForCompletion> wait_for_completion;
  std::optional<Drain> drain;

  template <class V>
  void Visit(V& v) {
    v("autoUpgrade", auto_upgrade,
      {.description = "Whether the operator itself replaces running drivers when their settings change.",
       .defaulted = true});
    v("maxParallelUpgrades", max_parallel,
      {.description = "How many nodes are upgraded at once; 0 means as many as maxUnavailable allows.",
       .defaulted = true,
       .minimum = 0});
    v("maxUnavailable", max_unavailable,
      {.description = "How many GPU nodes may be out of service during the upgrade: a number, or a percentage.",
       .defaulted = true});
    v("podDeletion", pod_deletion, {.description = "How Pods that use GPUs are removed from the node."});
    v("waitForCompletion", wait_for_completion, {.description = "Work that is waited for before anything is removed."});
    v("drain", drain, {.description = "Draining of the node when removing GPU Pods is not enough."});
  }
  bool operator==(const UpgradePolicyOf&) const = default;
};

}  // namespace gpuop::api
