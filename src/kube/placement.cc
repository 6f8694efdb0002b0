#include "kube/placement.h"

#include <algorithm>
#include <set>

#include "kube/list_text.h"

namespace gpuop::kube {

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

bool Tolerated(const Taint& taint, std::span<const Toleration> tolerations) {
  return std::ranges::any_of(tolerations, [&](const Toleration& t) { return Tolerates(t, taint); });
}

const Taint* FindRepelling(std::span<const Taint> taints, std::span<const Toleration> tolerations) {
  for (const Taint& taint : taints)
    if ((taint.effect == "NoSchedule" || taint.effect == "NoExecute") && !Tolerated(taint, tolerations)) return &taint;
  return nullptr;
}

bool NodeTerm::Matches(std::string_view node_name, const StringMap& node_labels) const {
  if (labels.empty() && fields.empty()) return false;
  const auto label_holds = [&](const SelectorRequirement& r) { return kube::Matches(r, node_labels); };
  if (!std::ranges::all_of(labels, label_holds)) return false;
  if (fields.empty()) return true;
  const StringMap name{{"metadata.name", node_name}};
  return std::ranges::all_of(fields, [&](const SelectorRequirement& r) { return kube::Matches(r, name); });
}

bool PodTerm::Selects(std::string_view own_ns, std::string_view ns, const StringMap& labels) const {
  if (!selector) return false;
  const bool here =
      namespaces.empty() && !namespace_selector
          ? ns == own_ns
          : std::ranges::find(namespaces, Interned(ns)) != namespaces.end() ||
                (namespace_selector && Matches(*namespace_selector, {{"kubernetes.io/metadata.name", ns}}));
  return here && Matches(*selector, labels);
}

Result<Affinity> ParseAffinity(const RawJson& raw) {
  if (raw.text.empty()) return Affinity();
  ASSIGN(const boost::json::object object, ParseObject(raw.text));
  return Decode<Affinity>(object);
}

bool MatchesNode(const StringMap& node_selector, const NodeAffinity& affinity, std::string_view node_name,
                 const StringMap& node_labels) {
  const auto has = [&](const StringMap::Entry& want) {
    const Interned* value = node_labels.Find(want.first);
    return value != nullptr && *value == want.second;
  };
  if (!std::ranges::all_of(node_selector, has)) return false;
  return !affinity.required || std::ranges::any_of(affinity.required->terms, [&](const NodeTerm& t) {
    return t.Matches(node_name, node_labels);
  });
}

std::optional<std::vector<std::string>> OnlyNodes(const NodeAffinity& affinity) {
  if (!affinity.required || affinity.required->terms.empty()) return std::nullopt;
  std::set<std::string> all;
  for (const NodeTerm& term : affinity.required->terms) {
    const auto fixed = std::ranges::find_if(
        term.fields, [](const SelectorRequirement& r) { return r.key == "metadata.name" && r.op == "In"; });
    if (fixed == term.fields.end()) return std::nullopt;
    for (const Interned& name : fixed->values) all.emplace(name.view());
  }
  return std::vector<std::string>(all.begin(), all.end());
}

}  // namespace gpuop::kube
