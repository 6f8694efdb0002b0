#pragma once
// What the scheduler keeps of a pod and of a node: only what placing asks for.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/amounts.h"
#include "kube/placement.h"

namespace gpuop::sim {

using kube::AddTo;
using kube::Affinity;
using kube::AmountOf;
using kube::Amounts;
using kube::AmountsOf;
using kube::ContainerRequest;
using kube::NodeTerm;
using kube::NodeTerms;
using kube::PodRequests;
using kube::PodTerm;
using kube::PreferredNodeTerm;
using kube::WeightedPodTerm;

/// A port of the host that a container asks for.
struct HostPort {
  std::string ip;  ///< "" and "0.0.0.0" take the port on every address
  std::string protocol;
  int port = 0;
  bool Conflicts(const HostPort& other) const;
  auto operator<=>(const HostPort&) const = default;
};

struct SpreadConstraint {
  Interned topology_key, when_unsatisfiable, node_affinity_policy, node_taints_policy;
  std::int64_t max_skew = 1, min_domains = 1;
  std::optional<kube::LabelSelector> selector;

  bool required() const { return when_unsatisfiable == "DoNotSchedule"; }
  bool Counts(const kube::StringMap& labels) const { return selector && kube::Matches(*selector, labels); }

  template <class V>
  void Visit(V& v) {
    v("topologyKey", topology_key);
    v("whenUnsatisfiable", when_unsatisfiable);
    v("nodeAffinityPolicy", node_affinity_policy);
    v("nodeTaintsPolicy", node_taints_policy);
    v("maxSkew", max_skew);
    v("minDomains", min_domains);
    v("labelSelector", selector);
  }
};

/// Immutable once made: nodes, queue and cache share it.
struct PodInfo {
  std::string name, uid;
  Interned ns;
  Interned node;  ///< "" while it waits
  Interned scheduler_name;
  kube::StringMap labels;
  Interned controller_uid;  ///< of the owner that is its controller, or ""
  std::int32_t priority = 0;
  bool never_preempts = false;
  bool terminal = false;  ///< Succeeded or Failed: it takes nothing any more
  bool deleting = false;
  bool gated = false;
  /// The condition PodScheduled as it stands, to write it only when it changes.
  kube::Condition scheduled;
  std::int64_t generation = 0;
  kube::StringMap node_selector;
  Affinity affinity;
  std::vector<kube::Toleration> tolerations;
  Amounts requests;  ///< with overhead and init containers
  std::vector<HostPort> ports;
  std::vector<SpreadConstraint> spread;

  std::string Key() const { return kube::KeyOf(ns, name); }
  bool HasPodTerms() const { return !affinity.pods.required.empty() || !affinity.anti.required.empty(); }
  bool MatchesNode(std::string_view node_name, const kube::StringMap& node_labels) const {
    return kube::MatchesNode(node_selector, affinity.node, node_name, node_labels);
  }
};
using PodInfoPtr = std::shared_ptr<const PodInfo>;

/// Whether `term` of `pod` selects `other`.
inline bool Selects(const PodInfo& pod, const PodTerm& term, const PodInfo& other) {
  return term.Selects(pod.ns, other.ns, other.labels);
}

struct NodeInfo {
  std::string name;
  kube::StringMap labels;
  std::vector<kube::Taint> taints;
  bool unschedulable = false;
  Amounts allocatable;
  /// False while only pods of it are known: it takes no more.
  bool known = false;

  Amounts requested;
  std::int64_t non_zero_cpu = 0, non_zero_memory = 0;   ///< requests with the defaults that scoring uses
  std::map<std::string, PodInfoPtr, std::less<>> pods;  ///< by key
  std::multiset<HostPort> ports;
  std::size_t with_pod_terms = 0;  ///< pods among them with required (anti-)affinity

  void Add(const PodInfoPtr& pod);
  /// Takes away what was added under `key`; nothing happens when there is none.
  void Remove(const std::string& key);
};

}  // namespace gpuop::sim
