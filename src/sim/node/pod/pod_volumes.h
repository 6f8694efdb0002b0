#pragma once
// What a Pod's volumes hold. The plan is pure; writing it is VolumeWriter's.

#include <map>
#include <string>
#include <vector>

#include "os/fs.h"
#include "sim/node/pod/pod_env.h"

namespace gpuop::sim::node {

struct VolumeFile {
  std::string bytes;
  std::int32_t mode = 0644;
  bool operator==(const VolumeFile&) const = default;
};
/// By path inside the volume ("key", "folder/key").
using VolumeFiles = std::map<std::string, VolumeFile>;

/// The folder of a Pod on its node, and that of one of its volumes ("configmap", "secret", "projected", "downward-api",
/// "empty-dir").
std::string PodFolder(const std::string& uid);
std::string VolumeFolder(const std::string& uid, std::string_view plugin, const std::string& volume);

/// Where a volume's files are on the machine: the host's own path, or a folder of the Pod. Memory-backed ones are in
/// /dev/shm, which is memory.
Result<std::string> VolumePath(const PodWish& pod, const Volume& volume);

/// The files of a configMap, secret, downwardAPI or projected volume; nothing for the others. Errors are what stands
/// behind `MountVolume.SetUp failed for volume "x" : `.
Result<VolumeFiles> PlanVolume(const PodWish& pod, const Volume& volume, const PodFacts& facts, const Sources& sources);
/// Whether the plan can change while the Pod runs, because it shows this object ("ConfigMap" or "Secret").
bool Shows(const Volume& volume, std::string_view kind, std::string_view name);

/// Checks a hostPath volume, and makes it when its type asks for that. kInvalid in the kubelet's words: "hostPath type
/// check failed: /x is not a directory".
Result<> CheckHostPath(os::Fs& host, const HostPathVolume& volume);

/// Writes a volume's files so that whoever reads them sees the old ones or the new ones, never a mix: through the link
/// `..data`, as the kubelet does. Does nothing when they are there already. `version` is higher each time.
Result<> WriteVolume(os::Fs& host, const std::string& folder, const VolumeFiles& files, std::uint64_t version);

}  // namespace gpuop::sim::node
