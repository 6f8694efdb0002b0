#pragma once
// Where a pod may run, as far as its own spec says: node selector, affinity, tolerations.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::kube {

/// By core/v1: an empty effect or key tolerates every effect or key; the operator is Equal unless Exists.
bool Tolerates(const Toleration& toleration, const Taint& taint);
/// Whether any of `tolerations` tolerates `taint`.
bool Tolerated(const Taint& taint, std::span<const Toleration> tolerations);
/// The first taint that keeps new pods away (NoSchedule, NoExecute) and that nothing tolerates; null: none does.
const Taint* FindRepelling(std::span<const Taint> taints, std::span<const Toleration> tolerations);

/// One alternative of a node affinity: all requirements hold. One with no requirement at all matches no node.
struct NodeTerm {
  std::vector<SelectorRequirement> labels;
  /// On metadata.name, the only field there is.
  std::vector<SelectorRequirement> fields;

  bool Matches(std::string_view node_name, const StringMap& node_labels) const;

  template <class V>
  void Visit(V& v) {
    v("matchExpressions", labels);
    v("matchFields", fields);
  }
  bool operator==(const NodeTerm&) const = default;
};

struct NodeTerms {
  std::vector<NodeTerm> terms;

  template <class V>
  void Visit(V& v) {
    v("nodeSelectorTerms", terms);
  }
  bool operator==(const NodeTerms&) const = default;
};

struct PreferredNodeTerm {
  std::int64_t weight = 1;
  NodeTerm term;

  template <class V>
  void Visit(V& v) {
    v("weight", weight);
    v("preference", term);
  }
  bool operator==(const PreferredNodeTerm&) const = default;
};

struct NodeAffinity {
  /// nullopt: anywhere. Otherwise at least one term must match.
  std::optional<NodeTerms> required;
  std::vector<PreferredNodeTerm> preferred;

  template <class V>
  void Visit(V& v) {
    v("requiredDuringSchedulingIgnoredDuringExecution", required);
    v("preferredDuringSchedulingIgnoredDuringExecution", preferred);
  }
  bool operator==(const NodeAffinity&) const = default;
};

/// Pods that `selector` selects, in the same `topology_key` domain.
struct PodTerm {
  Interned topology_key;
  /// A term without a selector selects no pod.
  std::optional<LabelSelector> selector;
  /// With neither namespaces nor a selector of them the pod's own namespace is meant. An empty selector means all;
  /// of a namespace's labels only kubernetes.io/metadata.name is known.
  std::vector<Interned> namespaces;
  std::optional<LabelSelector> namespace_selector;

  /// Whether it selects a pod in `ns` with `labels`; `own_ns` is the namespace of the pod that has the term.
  bool Selects(std::string_view own_ns, std::string_view ns, const StringMap& labels) const;

  template <class V>
  void Visit(V& v) {
    v("topologyKey", topology_key);
    v("labelSelector", selector);
    v("namespaces", namespaces);
    v("namespaceSelector", namespace_selector);
  }
  bool operator==(const PodTerm&) const = default;
};

struct WeightedPodTerm {
  std::int64_t weight = 1;
  PodTerm term;

  template <class V>
  void Visit(V& v) {
    v("weight", weight);
    v("podAffinityTerm", term);
  }
  bool operator==(const WeightedPodTerm&) const = default;
};

struct PodTerms {
  std::vector<PodTerm> required;
  std::vector<WeightedPodTerm> preferred;

  template <class V>
  void Visit(V& v) {
    v("requiredDuringSchedulingIgnoredDuringExecution", required);
    v("preferredDuringSchedulingIgnoredDuringExecution", preferred);
  }
  bool operator==(const PodTerms&) const = default;
};

struct Affinity {
  NodeAffinity node;
  PodTerms pods, anti;

  template <class V>
  void Visit(V& v) {
    v("nodeAffinity", node);
    v("podAffinity", pods);
    v("podAntiAffinity", anti);
  }
  bool operator==(const Affinity&) const = default;
};

/// Reads a pod's spec.affinity; an empty text is no affinity.
Result<Affinity> ParseAffinity(const RawJson& text);

/// nodeSelector and required node affinity together.
bool MatchesNode(const StringMap& node_selector, const NodeAffinity& affinity, std::string_view node_name,
                 const StringMap& node_labels);
/// The only nodes that the affinity can name, where every term fixes metadata.name (as DaemonSet pods do); nullopt when
/// it leaves the choice open.
std::optional<std::vector<std::string>> OnlyNodes(const NodeAffinity& affinity);

}  // namespace gpuop::kube
