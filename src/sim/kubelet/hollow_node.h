#pragma once
// What hollow nodes are: read from a file, turned into Node objects.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/types/node.h"

namespace gpuop::sim {

/// A pool of equal nodes. As JSON (or YAML): {count, name, labels, annotations, taints, capacity, allocatable, info,
/// images}. In `name` and in the values of labels "{i}" is the node's number, from 0.
struct HollowPool {
  std::int64_t count = 1;
  std::string name = "hollow-{i}";
  std::vector<std::pair<std::string, std::string>> labels, annotations;
  std::vector<kube::Taint> taints;
  /// Quantities; cpu, memory, ephemeral-storage and pods have defaults.
  std::vector<std::pair<std::string, std::string>> capacity;
  /// What of it pods can have; what is not named here is all of it.
  std::vector<std::pair<std::string, std::string>> allocatable;
  kube::NodeInfo info;
  /// Names of container images to list in the status: 60 of them make a Node of about 15 kB.
  std::int64_t images = 0;

  template <class V>
  void Visit(V& v) {
    v("count", count);
    v("name", name);
    v("labels", labels);
    v("annotations", annotations);
    v("taints", taints);
    v("capacity", capacity);
    v("allocatable", allocatable);
    v("info", info);
    v("images", images);
  }
};

/// Reads {pools: [...]}. kInvalid names the field.
Result<std::vector<HollowPool>> ReadHollowPools(const boost::json::value& file);
/// `count` plain nodes.
HollowPool PlainPool(std::int64_t count);

/// One node of a pool.
struct HollowNode {
  std::string name, host_ip, boot_id, machine_id;
  std::size_t number = 0;  ///< over all pools: addresses follow from it
  const HollowPool* pool = nullptr;
};

/// "10.0.1.7" for the node, "10.64.…" for its pods. Distinct for 65,000 nodes of 250 pods each.
std::string HostAddress(std::size_t node);
std::string PodAddress(std::size_t node, std::size_t pod);

/// The object that the kubelet registers (without status).
boost::json::object NodeObject(const HollowNode& node, std::size_t index_in_pool);
/// The status it reports. `ready_since` stands as transition time of the conditions.
boost::json::object NodeStatusObject(const HollowNode& node, WallTime now, WallTime ready_since);
/// Its conditions alone: the heartbeat.
boost::json::array NodeConditions(WallTime now, WallTime ready_since);

}  // namespace gpuop::sim
