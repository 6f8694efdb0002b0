#pragma once
// What a hollow container does instead of running a program: a timeline, from annotations on the Pod or from rules.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

/// A Pod's life. The annotations are "hollow.gpu-operator.dev/" and the name given with each.
struct Timeline {
  Duration start_after{};  ///< start-after: from the binding to running containers (or init containers)
  std::optional<Duration> ready_after = Duration{};  ///< ready-after: from running to ready; "never"
  std::optional<Duration> run_for;                   ///< run-for: then the containers exit; "" or "forever": they stay
  int exit_code = 0;                                 ///< exit-code
  Duration init_for{};                               ///< init-for: each init container
  int init_exit_code = 0;                            ///< init-exit-code
  Duration stop_after{};  ///< stop-after: from the deletion to the end, at most the grace period
  std::string waiting;    ///< waiting: never starts, for this reason ("ErrImagePull")

  bool operator==(const Timeline&) const = default;
};

inline constexpr std::string_view kTimelinePrefix = "hollow.gpu-operator.dev/";

/// Applies one setting ("run-for", "5s"). kInvalid names what is wrong.
Result<> SetTimeline(Timeline& timeline, std::string_view name, std::string_view value);

/// Settings for the Pods that it matches.
struct TimelineRule {
  std::string ns;                ///< a glob; empty: all
  std::string name;              ///< a glob; empty: all
  kube::LabelSelector selector;  ///< empty: all
  std::vector<std::pair<std::string, std::string>> settings;
};

/// The rules of a file: a list of {namespace, name, selector, settings: {name: value}}.
Result<std::vector<TimelineRule>> ReadTimelineRules(const boost::json::value& rules);

/// The Pod's timeline: that of a Job's Pod ends after a second; then the rules, the first first; then annotations. What
/// cannot be read is left out and named in `problems`.
Timeline TimelineOf(const kube::Pod& pod, const std::vector<TimelineRule>& rules, std::vector<std::string>& problems);

}  // namespace gpuop::sim
