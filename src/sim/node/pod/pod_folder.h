#pragma once

#include <vector>

#include "data/json.h"
#include "sim/node/pod/pod_volumes.h"

namespace gpuop::sim::node {

/// What a Pod has on its machine before a container starts.
struct PodFiles {
  /// Volumes with the files that PlanVolume made (none for those that hold nothing of the API).
  std::vector<std::pair<Volume, VolumeFiles>> volumes;
  std::string hostname, hosts, resolv_conf;
};

/// The texts of /etc/hosts and the like.
PodFiles PlanPodFiles(const PodWish& pod, const PodFacts& facts);

/// Makes all of it below `host` (the machine's root), again and again without harm. The error begins as the event does:
/// `MountVolume.SetUp failed for volume "x" : …`.
Result<> WritePodFiles(os::Fs& host, const PodWish& pod, const PodFiles& files, std::uint64_t version);
/// Makes the folders of a container's subPaths where nothing is yet; `oci` is its specification, which says what
/// subPathExpr came to.
Result<> MakeSubPaths(os::Fs& host, const ContainerWish& container, const data::Json& oci);
/// Removes what the Pod had on the machine, its logs included. `host` is the machine's root.
Result<> RemovePodFiles(os::Fs& host, const PodWish& pod);

}  // namespace gpuop::sim::node
