#pragma once
// core/v1 NodeAffinity, taken over as it is.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/field.h"

namespace gpuop::api {

struct NodeRequirement {
  std::string key, op;
  std::vector<std::string> values;

  template <class V>
  void Visit(V& v) {
    v("key", key, {.description = "Label, or field, of the node.", .required = true});
    v("operator", op, {.description = "In, NotIn, Exists, DoesNotExist, Gt or Lt.", .required = true});
    v("values", values, {.description = "Values that the operator compares with."});
  }
  bool operator==(const NodeRequirement&) const = default;
};

struct NodeSelectorTerm {
  static constexpr bool kAtomicMap = true;
  std::vector<NodeRequirement> match_expressions, match_fields;

  template <class V>
  void Visit(V& v) {
    v("matchExpressions", match_expressions, {.description = "Requirements on the node's labels; all must hold."});
    v("matchFields", match_fields, {.description = "Requirements on the node's fields; all must hold."});
  }
  bool operator==(const NodeSelectorTerm&) const = default;
};

struct RequiredNodes {
  static constexpr bool kAtomicMap = true;
  std::vector<NodeSelectorTerm> terms;

  template <class V>
  void Visit(V& v) {
    v("nodeSelectorTerms", terms, {.description = "Terms of which one must hold.", .required = true});
  }
  bool operator==(const RequiredNodes&) const = default;
};

struct PreferredNodes {
  NodeSelectorTerm preference;
  std::int32_t weight = 0;

  template <class V>
  void Visit(V& v) {
    v("preference", preference, {.description = "What is preferred.", .required = true});
    v("weight", weight, {.description = "How much, from 1 to 100.", .required = true});
  }
  bool operator==(const PreferredNodes&) const = default;
};

struct NodeAffinity {
  std::optional<RequiredNodes> required;
  std::vector<PreferredNodes> preferred;

  template <class V>
  void Visit(V& v) {
    v("requiredDuringSchedulingIgnoredDuringExecution", required, {.description = "What a node must have."});
    v("preferredDuringSchedulingIgnoredDuringExecution", preferred, {.description = "What a node should have."});
  }
  bool operator==(const NodeAffinity&) const = default;
};

}  // namespace gpuop::api
