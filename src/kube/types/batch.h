#pragma once

#include "kube/types/apps.h"

namespace gpuop::kube {

struct JobSpec {
  std::optional<std::int32_t> parallelism, completions, backoff_limit, ttl_seconds_after_finished;
  std::optional<std::int64_t> active_deadline_seconds;
  LabelSelector selector;
  PodTemplate pod_template;
  bool suspend = false;
  std::optional<bool> manual_selector;
  Interned completion_mode;

  template <class V>
  void Visit(V& v) {
    v("parallelism", parallelism);
    v("completions", completions);
    v("backoffLimit", backoff_limit);
    v("ttlSecondsAfterFinished", ttl_seconds_after_finished);
    v("activeDeadlineSeconds", active_deadline_seconds);
    v("selector", selector);
    v("template", pod_template);
    v("suspend", suspend);
    v("manualSelector", manual_selector);
    v("completionMode", completion_mode);
  }
  bool operator==(const JobSpec&) const = default;
};

struct UncountedPods {
  std::vector<std::string> succeeded, failed;  ///< UIDs

  template <class V>
  void Visit(V& v) {
    v("succeeded", succeeded);
    v("failed", failed);
  }
  bool operator==(const UncountedPods&) const = default;
};

struct JobStatus {
  std::int32_t active = 0, succeeded = 0, failed = 0;
  std::optional<std::int32_t> ready, terminating;
  std::optional<WallTime> started, completed;
  UncountedPods uncounted;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("active", active);
    v("succeeded", succeeded);
    v("failed", failed);
    v("ready", ready);
    v("terminating", terminating);
    v("startTime", started);
    v("completionTime", completed);
    v("uncountedTerminatedPods", uncounted);
    v("conditions", conditions);
  }
  bool operator==(const JobStatus&) const = default;
};

/// batch/v1 Job.
struct Job {
  static inline const Resource kResource{"batch", "v1", "jobs", "Job", true};
  ObjectMeta meta;
  JobSpec spec;
  JobStatus status;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const Job&) const = default;
};

}  // namespace gpuop::kube
