#pragma once
// The status that ClusterPolicy, NVIDIADriver and GPUCluster share.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/field.h"

namespace gpuop::api {

/// metav1.Condition.
struct Condition {
  std::string type, status, reason, message, last_transition_time;
  std::optional<std::int64_t> observed_generation;

  template <class V>
  void Visit(V& v) {
    v("type", type,
      {.description = "What the condition is about.",
       .required = true,
       .pattern =
           R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$)",
       .max_length = 316});
    v("status", status,
      {.description = "Whether it holds.", .required = true, .enumeration = {"True", "False", "Unknown"}});
    v("observedGeneration", observed_generation,
      {.description = "Generation of the object that the condition speaks of.", .minimum = 0});
    v("lastTransitionTime", last_transition_time,
      {.description = "When the status last changed.", .required = true, .format = "date-time"});
    v("reason", reason,
      {.description = "One word for programs: why.",
       .required = true,
       .pattern = R"(^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$)",
       .min_length = 1,
       .max_length = 1024});
    v("message", message, {.description = "A sentence for people.", .required = true, .max_length = 32768});
  }
  bool operator==(const Condition&) const = default;
};

/// Which words `state` may hold; the resources differ in them.
inline std::vector<std::string> StatesWithIgnored() { return {"ignored", "ready", "notReady"}; }

/// The status of a resource whose states are those that `States` returns.
template <std::vector<std::string> (*States)()>
struct StatusOf {
  std::string state, ns;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("state", state, {.description = "The whole in one word.", .required = true, .enumeration = States()});
    v("namespace", ns, {.description = "Namespace that the operands run in."});
    v("conditions", conditions, {.description = "Ready and Error for the whole, and one condition for each operand."});
  }
  bool operator==(const StatusOf&) const = default;
};

}  // namespace gpuop::api
