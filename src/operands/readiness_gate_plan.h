#pragma once
// What the readiness gate says of a node, and what must be written for that. Pure: no clock, no request.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/types/node.h"

namespace gpuop::operands {

/// What marks a node whose GPUs are not to be used yet. Both are off unless asked for.
struct GateSettings {
  static constexpr const char* kTaintVariable = "READINESS_TAINT";
  static constexpr const char* kConditionVariable = "READINESS_CONDITION";
  static constexpr const char* kTaint = "gpu-operator.dev/not-ready:NoSchedule";
  static constexpr const char* kCondition = "gpu-operator.dev/GPUAdvertised";

  /// Stands on the node while the gate is closed.
  std::optional<kube::Taint> taint;
  /// The node condition's type; empty: no condition.
  std::string condition;

  bool enabled() const { return taint.has_value() || !condition.empty(); }
};

/// Reads "KEY:EFFECT" or "KEY=VALUE:EFFECT" (empty: no taint) and a condition's type (empty: none); "true" stands for
/// the usual one. The effect is NoSchedule or PreferNoSchedule: what runs is not driven away. kInvalid says what is
/// wrong.
Result<GateSettings> ParseGateSettings(std::string_view taint, std::string_view condition);

/// Devices that a plugin offers.
struct Advertised {
  /// Every resource has a stream (ListAndWatch) on which the kubelet listens.
  bool live = false;
  /// Healthy devices by resource: "nvidia.com/gpu" → 8.
  std::map<std::string, std::int64_t> healthy;
  bool operator==(const Advertised&) const = default;
};

/// What the gate knows besides the node.
struct GateFacts {
  Advertised advertised;
  /// Since when the streams are live, without a break.
  WallTime live_since{};
  /// The plugin is ending.
  bool ending = false;
};

struct GateVerdict {
  bool open = false;
  /// "DevicesAllocatable"; closed: "PluginEnding", "KubeletNotConnected", "NoHealthyDevice", "KubeletNotHeardSince",
  /// "AllocatableDiffers". An interface: people and programs ask for them.
  std::string reason;
  std::string message;
};

/// The gate is open when the kubelet listens, has told of its node since it began to, and the node's Allocatable is
/// what the plugin offers, at least one device. Anything else, the kubelet's silence included, is closed.
GateVerdict Judge(const kube::Node& node, const GateFacts& facts);

/// Requests that make the node say the verdict; absent where it says so already. Each changes one field and is refused
/// when that field is not as it was seen, so that nobody else's write is undone.
struct GateWrites {
  /// A JSON patch (RFC 6902) of the Node.
  std::optional<boost::json::array> taint;
  /// A strategic merge patch of the Node's status.
  std::optional<boost::json::object> condition;
  bool empty() const { return !taint && !condition; }
};
GateWrites PlanGate(const kube::Node& node, const GateVerdict& verdict, const GateSettings& settings, WallTime now);

}  // namespace gpuop::operands
