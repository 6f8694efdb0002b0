#pragma once
// From a Pod's container to an OCI runtime specification, and from that to what the machine starts. Pure.

#include <map>
#include <string>
#include <vector>

#include "data/json.h"
#include "sim/node/engine/messages.h"
#include "sim/node/image/registry.h"
#include "sim/node/pod/pod_volumes.h"

namespace gpuop::sim::node {

/// What the device manager adds to a container (kubelet's DeviceRunContainerOptions).
struct DeviceOptions {
  struct Mount {
    std::string container_path, host_path;
    bool read_only = false;
  };
  struct Node {
    std::string container_path, host_path;
  };
  std::map<std::string, std::string> env, annotations;
  std::vector<Mount> mounts;
  std::vector<Node> nodes;
  std::vector<std::string> cdi;  ///< qualified names
};

/// What a container is made of, besides the Pod's own words.
struct ContainerParts {
  const PodWish& pod;
  const ContainerWish& wish;
  const Image& image;
  PodFacts facts;
  DeviceOptions devices;
};

/// Where a container's file for its last words is on the machine, and its log of one attempt.
std::string TerminationFile(const std::string& uid, std::string_view container, int attempt);
std::string LogPath(const PodWish& pod, std::string_view container, int attempt);

/// The OCI specification: process, user, capabilities, mounts, nodes, namespaces. Errors are those of
/// CreateContainerConfigError and CreateContainerError.
Result<data::Json> PlanOci(const ContainerParts& parts, const Sources& sources, int attempt);

/// Where a container sees it.
std::string MountTarget(const VolumeMount& mount);
/// The mounts of a container's volumes, in the Pod's order, with subPath taken into account.
Result<std::vector<MountSpec>> PlanMounts(const PodWish& pod, const ContainerWish& wish,
                                          const std::map<std::string, std::string>& env);

/// What the machine needs of an OCI specification (which a CDI injection may have changed). `nodes` says which of the
/// machine's files stands behind a device number.
using NodeSources = std::map<std::pair<std::int64_t, std::int64_t>, std::string>;
Result<ContainerSpec> ReadOci(const data::Json& oci, const NodeSources& nodes);

}  // namespace gpuop::sim::node
