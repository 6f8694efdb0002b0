#pragma once
// The Job controller's policy. Pure.

#include <vector>

#include "kube/types/batch.h"
#include "sim/controllers/workload.h"

namespace gpuop::sim {

/// On each of a Job's pods until its end has been counted.
inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";

struct JobEvent {
  std::string type, reason, message;
};

struct JobPlan {
  std::int32_t create = 0;
  std::vector<PodPtr> remove;
  /// Their end stands in the stored status: the finalizer may go.
  std::vector<PodPtr> release;
  kube::JobStatus status;
  std::vector<JobEvent> events;  ///< once the status is written
  std::optional<WallTime> again;
  bool delete_job = false;  ///< ttlSecondsAfterFinished is over
};

/// Whether the Job has the condition Complete or Failed.
bool IsFinished(const kube::Job& job);

/// One turn. A pod's end is counted in three steps, each safe to repeat: its UID enters uncountedTerminatedPods, its
/// finalizer goes, its UID becomes a number.
JobPlan PlanJob(const kube::Job& job, const std::vector<PodPtr>& pods, WallTime now);

}  // namespace gpuop::sim
