#include "operands/nfd/master/records.h"

#include "data/reader.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::size_t kMaxPart = 1U << 20U;

kube::StringMap InternedMap(const data::JsonObject& object, std::string_view path) {
  kube::StringMap out;
  const auto* const map = data::GetObject(object, path);
  if (map == nullptr) return out;
  for (const auto& member : *map)
    if (const auto* text = member.value().if_string()) out.Set(member.key(), data::AsView(*text));
  return out;
}

TextMap Texts(const kube::StringMap& map) {
  TextMap out;
  for (const auto& [key, value] : map) out.emplace_hint(out.end(), key.view(), value.view());
  return out;
}

const data::Json& RulesOf(const data::JsonObject& object, std::string_view path) {
  static const data::Json kNone;
  const data::Json* const rules = data::Find(object, path);
  return rules == nullptr ? kNone : *rules;
}

}  // namespace

RecordMeta RecordMeta::FromJson(const data::JsonObject& object) {
  return {std::string(data::StringOr(object, "metadata.name")), data::StringOr(object, "metadata.namespace"),
          std::string(data::StringOr(object, "metadata.uid")),
          std::string(data::StringOr(object, "metadata.resourceVersion"))};
}

Result<NodeFeatureRecord> NodeFeatureRecord::FromJson(const data::JsonObject& object) {
  NodeFeatureRecord out;
  out.meta = RecordMeta::FromJson(object);
  out.node = NodeOf(object);
  out.labels = InternedMap(object, "spec.labels");
  const auto* const features = data::GetObject(object, "spec.features");
  if (features == nullptr) return out;
  for (const auto& kind : *features) {
    const auto* const by_name = kind.value().if_object();
    if (by_name == nullptr) continue;
    for (const auto& feature : *by_name) {
      const std::string text = data::ToJson(feature.value());
      if (text.size() > kMaxPart)
        return Fail(Code::kTooLarge, "spec.features." + std::string(kind.key()) + "." + std::string(feature.key()) +
                                         ": more than 1 MiB");
      out.parts_.push_back({std::string_view(kind.key()), std::string_view(feature.key()), text});
    }
  }
  // What is no feature is found now, so that a bad object is passed over as a whole and its last good state stays.
  TRY(out.ReadAll());
  return out;
}

Result<Features> NodeFeatureRecord::ReadAll() const {
  data::JsonObject all;
  for (const Part& part : parts_) {
    ASSIGN(data::Json elements, data::ParseJson(part.elements));
    data::Json& kind = all[part.kind.view()];
    if (!kind.is_object()) kind = data::JsonObject();
    kind.get_object()[part.name.view()] = std::move(elements);
  }
  return ReadFeatures(all);
}

Result<RuleRecord> RuleRecord::FromJson(const data::JsonObject& object) {
  RuleRecord out;
  out.meta = RecordMeta::FromJson(object);
  out.rules = ReadRules(out.meta.name, RulesOf(object, "spec.rules"));
  return out;
}

Result<GroupRecord> GroupRecord::FromJson(const data::JsonObject& object) {
  GroupRecord out;
  out.meta = RecordMeta::FromJson(object);
  out.rules = ReadRules(out.meta.name, RulesOf(object, "spec.featureGroupRules"));
  if (const auto* const nodes = data::GetArray(object, "status.nodes"))
    for (const data::Json& node : *nodes) out.nodes.emplace(data::StringOr(node, "name"));
  return out;
}

Result<NodeRecord> NodeRecord::FromJson(const data::JsonObject& object) {
  TRY(data::RequireString(object, "metadata.name"));
  NodeRecord out;
  out.meta = RecordMeta::FromJson(object);
  out.labels = InternedMap(object, "metadata.labels");
  out.annotations = InternedMap(object, "metadata.annotations");
  out.capacity = InternedMap(object, "status.capacity");
  out.taints = ReadTaints(object);
  return out;
}

NodeState NodeRecord::State() const {
  return {meta.name, meta.resource_version, Texts(labels), Texts(annotations), Texts(capacity), taints};
}

bool NodeRecord::SameAs(const NodeRecord& other) const {
  return labels == other.labels && annotations == other.annotations && capacity == other.capacity &&
         taints == other.taints;
}

Result<NamespaceRecord> NamespaceRecord::FromJson(const data::JsonObject& object) {
  NamespaceRecord out;
  out.meta = RecordMeta::FromJson(object);
  out.labels = InternedMap(object, "metadata.labels");
  return out;
}

}  // namespace gpuop::operands::nfd
