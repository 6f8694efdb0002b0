#include "operator/own_object.h"

#include <algorithm>
#include <boost/json.hpp>

#include "operands/labels.h"

namespace gpuop::op {
namespace {

struct Head {
  kube::ObjectMeta meta;
  Rollout rollout;
  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
  }
};

bool IsOurs(const kube::ObjectMeta& meta) {
  if (meta.labels.contains(operands::kStateLabel)) return true;
  return std::ranges::any_of(meta.owners, [](const kube::OwnerReference& o) {
    return o.api_version.view().starts_with("nvidia.com/") && (o.kind == "ClusterPolicy" || o.kind == "NVIDIADriver");
  });
}

std::vector<std::string> KeysOf(const boost::json::object& in) {
  std::vector<std::string> out;
  for (const char* field : {"data", "binaryData"}) {
    const boost::json::value* data = in.if_contains(field);
    if (data == nullptr || !data->is_object()) continue;
    for (const auto& member : data->get_object()) out.emplace_back(member.key());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::string_view OwnObject::State() const { return meta.labels.Get(operands::kStateLabel); }

Result<OwnObject> OwnObject::FromJson(const boost::json::object& in) {
  ASSIGN(Head head, kube::Decode<Head>(in));
  OwnObject out;
  out.meta = std::move(head.meta);
  out.ours = IsOurs(out.meta);
  out.keys = KeysOf(in);
  if (out.ours) {
    out.whole.text = boost::json::serialize(in);
    out.whole.text.shrink_to_fit();
    const boost::json::value* status = in.if_contains("status");
    if (status != nullptr && status->is_object()) TRY(kube::ReadField(*status, out.rollout));
  } else {
    out.meta.annotations = {};
  }
  return out;
}

bool DiffersInWish(const OwnObject& a, const OwnObject& b) {
  if (a.meta.uid != b.meta.uid || a.ours != b.ours || a.keys != b.keys) return true;
  if (a.meta.deleting() != b.meta.deleting() || a.meta.owners != b.meta.owners) return true;
  if (a.meta.labels != b.meta.labels || a.meta.annotations != b.meta.annotations) return true;
  // Kinds without generations change only when somebody writes them.
  return a.meta.generation == 0 || a.meta.generation != b.meta.generation;
}

}  // namespace gpuop::op
