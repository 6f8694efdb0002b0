#pragma once
// What operands have put on nodes that outlives them (the validator's condition; the device plugin's, and what its
// readiness gate marks nodes by), and what of it must go again (docs/operator.md). Pure.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kube/types/node.h"

namespace gpuop::op {

/// Taints ("KEY:EFFECT") and types of conditions by which operands mark nodes. A node on which one may stand carries
/// them in an annotation, by commas, so that whoever takes them away knows them even after a restart.
using NodeMarks = std::set<std::string, std::less<>>;

/// The marks of a device plugin, as its environment asks for them. Variables of other names count for nothing.
class PluginMarks {
 public:
  void Add(std::string_view variable, std::string_view value);
  /// Of values that no gate can be made of, none is a mark: such a plugin does not start.
  NodeMarks Marks() const;

 private:
  std::string taint_, condition_;
  bool tells_news_ = false;
};
/// The marks of the validator.
NodeMarks ValidatorMarks();

NodeMarks ParseMarks(std::string_view text);
std::string TextOf(const NodeMarks& marks);

/// Requests that take marks off a node, and out of its annotation. Sent in this order.
struct MarkSweep {
  /// A strategic merge patch of the status; absent when there is no such condition.
  std::optional<boost::json::object> status;
  /// A JSON patch (RFC 6902) of the node, refused when what it touches is not as `node` has it. Empty: nothing to do.
  boost::json::array node;
};
/// `node` as the API server has it now.
MarkSweep PlanSweep(const kube::Node& node, const NodeMarks& gone);

}  // namespace gpuop::op
