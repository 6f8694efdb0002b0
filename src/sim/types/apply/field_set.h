#pragma once
// Sets of field paths as metadata.managedFields writes them (FieldsV1):
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#managed-fields

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::sim::types {

/// A path's elements in FieldsV1's own spelling: `f:spec`, `k:{"name":"c"}`, `v:"x"`, `i:0`.
using FieldPath = std::vector<std::string>;

/// `.spec.containers[name="c"].image`, as messages print a path.
std::string PathText(const FieldPath& path);

/// A set of paths, as a tree: each node says whether its own path is in the set.
class FieldSet {
 public:
  using Children = std::map<std::string, FieldSet, std::less<>>;

  /// kInvalid when `fields` is no FieldsV1, or nested deeper than 256 levels.
  static Result<FieldSet> Parse(const boost::json::object& fields);
  boost::json::object ToJson() const;

  bool Empty() const { return !member_ && children_.empty(); }
  bool member() const { return member_; }
  const Children& children() const { return children_; }
  const FieldSet* Find(std::string_view element) const;
  bool Has(const FieldPath& path) const;

  void Insert(const FieldPath& path);
  /// The paths of both.
  void Merge(const FieldSet& other);
  /// Without the very paths of `other`; what stands below them stays.
  FieldSet Without(const FieldSet& other) const;
  /// Without the paths of `other` and everything below them.
  FieldSet WithoutTrees(const FieldSet& other) const;
  FieldSet Common(const FieldSet& other) const;
  /// The paths below the root: at each level first those that end there, then the deeper ones, by name.
  void ForEach(const std::function<void(const FieldPath&)>& see) const;
  bool operator==(const FieldSet& other) const = default;

  /// For those who build a set while walking: this node's own mark, and a child (made when absent).
  void Mark() { member_ = true; }
  FieldSet& Below(std::string_view element);
  /// Drops children that hold nothing.
  void Tidy();

 private:
  static Result<FieldSet> ParseNode(const boost::json::object& fields, int depth);
  void ForEach(FieldPath& at, const std::function<void(const FieldPath&)>& see) const;

  bool member_ = false;
  Children children_;
};

}  // namespace gpuop::sim::types
