#pragma once
// Node Feature Discovery's resources (nfd.k8s-sigs.io/v1alpha1): what was found on a node, rules that make labels of
// it, and groups of nodes.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/field.h"
#include "data/schema.h"
#include "kube/resource.h"

namespace gpuop::api {

/// That something is there.
struct NfdFlag {
  template <class V>
  void Visit(V&) {}
  bool operator==(const NfdFlag&) const = default;
};

/// What is there, of one feature.
struct NfdFlags {
  std::map<std::string, NfdFlag> elements;

  template <class V>
  void Visit(V& v) {
    v("elements", elements, {.description = "Names of what is there.", .required = true});
  }
  bool operator==(const NfdFlags&) const = default;
};

/// What has a value, of one feature.
struct NfdAttributes {
  std::map<std::string, std::string> elements;

  template <class V>
  void Visit(V& v) {
    v("elements", elements, {.description = "Values by name.", .required = true});
  }
  bool operator==(const NfdAttributes&) const = default;
};

/// One of several things.
struct NfdInstance {
  std::map<std::string, std::string> attributes;

  template <class V>
  void Visit(V& v) {
    v("attributes", attributes, {.description = "Values by name.", .required = true});
  }
  bool operator==(const NfdInstance&) const = default;
};

/// Things of one feature.
struct NfdInstances {
  std::vector<NfdInstance> elements;

  template <class V>
  void Visit(V& v) {
    v("elements", elements, {.description = "The instances.", .required = true});
  }
  bool operator==(const NfdInstances&) const = default;
};

/// All that is known of a node, each kind by "domain.name".
struct NfdFeatures {
  std::map<std::string, NfdFlags> flags;
  std::map<std::string, NfdAttributes> attributes;
  std::map<std::string, NfdInstances> instances;

  template <class V>
  void Visit(V& v) {
    v("flags", flags, {.description = "Features that are there or not, by domain."});
    v("attributes", attributes, {.description = "Features with a value, by domain."});
    v("instances", instances, {.description = "Features that exist several times, by domain."});
  }
  bool operator==(const NfdFeatures&) const = default;
};

/// NodeFeature: what was found on a node, and the labels that it shall have for it.
struct NodeFeatureSpec {
  NfdFeatures features;
  std::map<std::string, std::string> labels;

  template <class V>
  void Visit(V& v) {
    v("features", features, {.description = "What was found on the node."});
    v("labels", labels, {.description = "Labels that the node shall get."});
  }
  bool operator==(const NodeFeatureSpec&) const = default;
};

/// One comparison with an element of a feature.
struct NfdExpression {
  std::string op, type;
  std::vector<std::string> value;

  template <class V>
  void Visit(V& v) {
    v("op", op,
      {.description = "How the feature is compared.",
       .required = true,
       .enumeration = {"In", "NotIn", "InRegexp", "Exists", "DoesNotExist", "Gt", "Ge", "Lt", "Le", "GtLt", "GeLe",
                       "IsTrue", "IsFalse"}});
    v("type", type, {.description = "How values are read, such as version."});
    v("value", value, {.description = "What it is compared with."});
  }
  bool operator==(const NfdExpression&) const = default;
};

/// What a rule asks of one feature.
struct NfdMatch {
  std::string feature;
  std::map<std::string, NfdExpression> expressions;
  std::optional<NfdExpression> name;

  template <class V>
  void Visit(V& v) {
    v("feature", feature, {.description = "Domain and name of the feature.", .required = true});
    v("matchExpressions", expressions, {.description = "Expressions on its elements, by name; all must hold."});
    v("matchName", name, {.description = "Expression on the names of its elements."});
  }
  bool operator==(const NfdMatch&) const = default;
};

/// One of the ways in which a rule matches.
struct NfdMatchAny {
  std::vector<NfdMatch> features;

  template <class V>
  void Visit(V& v) {
    v("matchFeatures", features, {.description = "Matches of which all must hold.", .required = true});
  }
  bool operator==(const NfdMatchAny&) const = default;
};

/// A taint that a rule gives.
struct NfdTaint {
  std::string key, value, effect, time_added;

  template <class V>
  void Visit(V& v) {
    v("key", key, {.description = "Key of the taint.", .required = true});
    v("value", value, {.description = "Value of the taint."});
    v("effect", effect, {.description = "NoSchedule, PreferNoSchedule or NoExecute.", .required = true});
    v("timeAdded", time_added, {.description = "When the taint was added.", .format = "date-time"});
  }
  bool operator==(const NfdTaint&) const = default;
};

/// What rules of both kinds have.
struct NfdRuleBase {
  std::string name, vars_template;
  std::map<std::string, std::string> vars;
  std::vector<NfdMatch> match_features;
  std::vector<NfdMatchAny> match_any;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of the rule.", .required = true});
    v("vars", vars, {.description = "Values that later rules can match."});
    v("varsTemplate", vars_template, {.description = "Template that makes such values."});
    v("matchFeatures", match_features, {.description = "Matches of which all must hold."});
    v("matchAny", match_any, {.description = "Groups of matches of which one must hold."});
  }
  bool operator==(const NfdRuleBase&) const = default;
};

/// A rule of a NodeFeatureRule: what a node gets on which it matches.
struct NfdRule : NfdRuleBase {
  std::map<std::string, std::string> labels, annotations, extended_resources;
  std::string labels_template;
  std::vector<NfdTaint> taints;

  template <class V>
  void Visit(V& v) {
    NfdRuleBase::Visit(v);
    v("labels", labels, {.description = "Labels of the nodes that match."});
    v("labelsTemplate", labels_template, {.description = "Template that makes such labels."});
    v("annotations", annotations, {.description = "Annotations of the nodes that match."});
    v("extendedResources", extended_resources, {.description = "Extended resources of the nodes that match."});
    v("taints", taints, {.description = "Taints of the nodes that match."});
  }
  bool operator==(const NfdRule&) const = default;
};

/// NodeFeatureRule: rules, in their order.
struct NodeFeatureRuleSpec {
  std::vector<NfdRule> rules;

  template <class V>
  void Visit(V& v) {
    v("rules", rules, {.description = "The rules, in order.", .required = true});
  }
  bool operator==(const NodeFeatureRuleSpec&) const = default;
};

/// NodeFeatureGroup: rules of which each takes nodes into the group.
struct NodeFeatureGroupSpec {
  std::vector<NfdRuleBase> rules;

  template <class V>
  void Visit(V& v) {
    v("featureGroupRules", rules, {.description = "Rules of which one must hold for a node.", .required = true});
  }
  bool operator==(const NodeFeatureGroupSpec&) const = default;
};

/// A node of a group.
struct NodeFeatureGroupNode {
  std::string name;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of the node.", .required = true});
  }
  bool operator==(const NodeFeatureGroupNode&) const = default;
};

/// The nodes on which a rule of the group matches.
struct NodeFeatureGroupStatus {
  std::vector<NodeFeatureGroupNode> nodes;

  template <class V>
  void Visit(V& v) {
    v("nodes", nodes, {.description = "Nodes of the group.", .list_type = data::ListType::kMap, .list_keys = {"name"}});
  }
  bool operator==(const NodeFeatureGroupStatus&) const = default;
};

/// Label of a NodeFeature object: the node it is about.
inline constexpr std::string_view kNodeNameLabel = "nfd.node.kubernetes.io/node-name";

inline const kube::Resource kNodeFeature{"nfd.k8s-sigs.io", "v1alpha1", "nodefeatures", "NodeFeature", true};
inline const kube::Resource kNodeFeatureRule{"nfd.k8s-sigs.io", "v1alpha1", "nodefeaturerules", "NodeFeatureRule",
                                             false};
inline const kube::Resource kNodeFeatureGroup{"nfd.k8s-sigs.io", "v1alpha1", "nodefeaturegroups", "NodeFeatureGroup",
                                              true};

/// The schemas of the three definitions.
data::SchemaPtr NodeFeatureSchema();
data::SchemaPtr NodeFeatureRuleSchema();
data::SchemaPtr NodeFeatureGroupSchema();

}  // namespace gpuop::api
