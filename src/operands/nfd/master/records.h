#pragma once
// What the master keeps of the cluster's objects: as little as can be, and what repeats once.

#include <memory>
#include <string>
#include <vector>

#include "api/nfd.h"
#include "base/interned.h"
#include "kube/resource.h"
#include "kube/string_map.h"
#include "kube/types/core.h"
#include "kube/types/node.h"
#include "operands/nfd/features.h"
#include "operands/nfd/master/node_plan.h"
#include "operands/nfd/rules/rule.h"

namespace gpuop::operands::nfd {

/// The part of metadata that caches need.
struct RecordMeta {
  std::string name;
  Interned ns;
  std::string uid, resource_version;

  static RecordMeta FromJson(const data::JsonObject& object);
  std::string Key() const { return kube::KeyOf(ns, name); }
};

/// A NodeFeature. Each feature is kept as text that equal nodes share: 5,000 nodes with one kernel hold its
/// configuration once.
struct NodeFeatureRecord {
  static inline const kube::Resource& kResource = api::kNodeFeature;
  RecordMeta meta;
  /// The node it is about; empty when it does not say.
  Interned node;
  kube::StringMap labels;

  /// kInvalid for features that are none, kTooLarge for one of more than 1 MiB.
  static Result<NodeFeatureRecord> FromJson(const data::JsonObject& object);
  /// Reads the features anew.
  Result<Features> ReadAll() const;

 private:
  struct Part {
    Interned kind, name, elements;
  };
  std::vector<Part> parts_;
};

/// A NodeFeatureRule, ready to be asked.
struct RuleRecord {
  static inline const kube::Resource& kResource = api::kNodeFeatureRule;
  RecordMeta meta;
  RuleList rules;

  static Result<RuleRecord> FromJson(const data::JsonObject& object);
};

/// A NodeFeatureGroup with the nodes that its status names.
struct GroupRecord {
  static inline const kube::Resource& kResource = api::kNodeFeatureGroup;
  RecordMeta meta;
  RuleList rules;
  TextSet nodes;

  static Result<GroupRecord> FromJson(const data::JsonObject& object);
};

/// A Node, without what the kubelet writes all the time.
struct NodeRecord {
  static inline const kube::Resource& kResource = kube::Node::kResource;
  RecordMeta meta;
  kube::StringMap labels, annotations, capacity;
  std::vector<api::NfdTaint> taints;

  /// kInvalid for what has no name.
  static Result<NodeRecord> FromJson(const data::JsonObject& object);
  NodeState State() const;
  /// Whether both have the same, whatever their versions.
  bool SameAs(const NodeRecord& other) const;
};

/// A Namespace, for the choice of NodeFeature objects.
struct NamespaceRecord {
  static inline const kube::Resource& kResource = kube::Namespace::kResource;
  RecordMeta meta;
  kube::StringMap labels;

  static Result<NamespaceRecord> FromJson(const data::JsonObject& object);
};

}  // namespace gpuop::operands::nfd
