#pragma once
// Parts that many kinds share (apimachinery meta/v1 and core/v1). Compact in memory: what repeats is interned.

#include <string>
#include <string_view>
#include <vector>

#include "kube/decode.h"
#include "kube/resource.h"

namespace gpuop::kube {

struct OwnerReference {
  Interned api_version, kind;
  std::string name, uid;
  bool controller = false;
  bool block_owner_deletion = false;

  template <class V>
  void Visit(V& v) {
    v("apiVersion", api_version);
    v("kind", kind);
    v("name", name);
    v("uid", uid);
    v("controller", controller);
    v("blockOwnerDeletion", block_owner_deletion);
  }
  bool operator==(const OwnerReference&) const = default;
};

/// managedFields are left out: they cost more than all the rest.
struct ObjectMeta {
  std::string name;
  Interned ns;
  std::string uid;
  std::string resource_version;
  Interned generate_name;
  std::int64_t generation = 0;
  WallTime created{};
  std::optional<WallTime> deleted;  ///< deletionTimestamp: it is being deleted
  std::optional<std::int64_t> deletion_grace_seconds;
  StringMap labels, annotations;
  std::vector<OwnerReference> owners;
  std::vector<Interned> finalizers;

  /// "namespace/name", or "name".
  std::string Key() const { return KeyOf(ns, name); }
  bool deleting() const { return deleted.has_value(); }
  /// The owner that is marked as controller, or null.
  const OwnerReference* Controller() const {
    for (const OwnerReference& o : owners)
      if (o.controller) return &o;
    return nullptr;
  }

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("namespace", ns);
    v("uid", uid);
    v("resourceVersion", resource_version);
    v("generateName", generate_name);
    v("generation", generation);
    v("creationTimestamp", created);
    v("deletionTimestamp", deleted);
    v("deletionGracePeriodSeconds", deletion_grace_seconds);
    v("labels", labels);
    v("annotations", annotations);
    v("ownerReferences", owners);
    v("finalizers", finalizers);
  }
  bool operator==(const ObjectMeta&) const = default;
};

/// The key of an untyped object; "" where it has no name. Asks for nothing but two texts, so it works on bad objects
/// too.
std::string KeyIn(const boost::json::object& object);

/// A condition of any kind of object; fields a kind does not use stay empty.
struct Condition {
  Interned type, status, reason, message;
  std::int64_t observed_generation = 0;
  WallTime last_transition{}, last_heartbeat{}, last_update{}, last_probe{};

  bool is_true() const { return status == "True"; }

  template <class V>
  void Visit(V& v) {
    v("type", type);
    v("status", status);
    v("reason", reason);
    v("message", message);
    v("observedGeneration", observed_generation);
    v("lastTransitionTime", last_transition);
    v("lastHeartbeatTime", last_heartbeat);
    v("lastUpdateTime", last_update);
    v("lastProbeTime", last_probe);
  }
  bool operator==(const Condition&) const = default;
};

/// The condition of that type, or null.
inline const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  for (const Condition& c : conditions)
    if (c.type == type) return &c;
  return nullptr;
}

struct SelectorRequirement {
  Interned key, op;  ///< op: In, NotIn, Exists, DoesNotExist; for nodes also Gt, Lt
  std::vector<Interned> values;

  template <class V>
  void Visit(V& v) {
    v("key", key);
    v("operator", op);
    v("values", values);
  }
  bool operator==(const SelectorRequirement&) const = default;
};

struct LabelSelector {
  StringMap match_labels;
  std::vector<SelectorRequirement> match_expressions;

  /// Whether no requirement is written: an empty selector matches everything.
  bool empty() const { return match_labels.empty() && match_expressions.empty(); }

  template <class V>
  void Visit(V& v) {
    v("matchLabels", match_labels);
    v("matchExpressions", match_expressions);
  }
  bool operator==(const LabelSelector&) const = default;
};

/// Whether `labels` meet one requirement; an unknown operator is never met.
bool Matches(const SelectorRequirement& requirement, const StringMap& labels);
/// Whether `labels` meet all requirements.
bool Matches(const LabelSelector& selector, const StringMap& labels);

/// A reference to an object by kind, as events carry it.
struct ObjectReference {
  Interned api_version, kind, ns;
  std::string name, uid, resource_version, field_path;

  template <class V>
  void Visit(V& v) {
    v("apiVersion", api_version);
    v("kind", kind);
    v("namespace", ns);
    v("name", name);
    v("uid", uid);
    v("resourceVersion", resource_version);
    v("fieldPath", field_path);
  }
  bool operator==(const ObjectReference&) const = default;
};

}  // namespace gpuop::kube
