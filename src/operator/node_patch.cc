#include "operator/node_patch.h"

#include <boost/json.hpp>

#include "data/patch.h"
#include "operator/label_patch.h"

namespace gpuop::op {
namespace {

namespace json = boost::json;
using Changes = std::map<std::string, std::optional<std::string>>;

json::object Test(const std::string& path, const json::value& value) {
  return {{"op", "test"}, {"path", path}, {"value", value}};
}

json::object Add(const std::string& path, const json::value& value) {
  return {{"op", "add"}, {"path", path}, {"value", value}};
}

/// The first labels, or annotations, of a node bring their map with them.
void AddFirst(const std::string& path, const Changes& changes, json::array& out) {
  json::object values;
  for (const auto& [key, value] : changes)
    if (value) values[key] = *value;
  out.push_back(Test(path, nullptr));
  out.push_back(Add(path, values));
}

void AddChanges(const std::string& path, const Changes& changes, const kube::StringMap& now, json::array& out) {
  for (const auto& [key, value] : changes) {
    const std::string at = path + "/" + data::PointerToken(key);
    const Interned* old = now.Find(key);
    // What is absent passes for null (data/patch.h).
    out.push_back(Test(at, old == nullptr ? json::value(nullptr) : json::value(old->view())));
    if (value) {
      out.push_back(Add(at, json::value(*value)));
    } else if (old != nullptr) {
      out.push_back(json::object{{"op", "remove"}, {"path", at}});
    }
  }
}

}  // namespace

json::object MergePatchOf(const NodePatch& patch) {
  json::object metadata;
  if (!patch.labels.empty()) metadata["labels"] = ValuesOf(patch.labels);
  if (!patch.annotations.empty()) metadata["annotations"] = ValuesOf(patch.annotations);
  return {{"metadata", std::move(metadata)}};
}

json::array JsonPatchOf(const NodeState& node, const NodePatch& patch) {
  json::array out{Test("/metadata/uid", json::value(node.meta.uid))};
  const auto add = [&out](const std::string& path, const Changes& changes, const kube::StringMap& now, bool any) {
    if (changes.empty()) return;
    any ? AddChanges(path, changes, now, out) : AddFirst(path, changes, out);
  };
  add("/metadata/labels", patch.labels, node.meta.labels, !node.meta.labels.empty());
  add("/metadata/annotations", patch.annotations, node.meta.annotations, node.has_annotations);
  return out;
}

}  // namespace gpuop::op
