#include "operands/nfd/rules/name_rules.h"

#include <algorithm>

#include "base/text.h"
#include "data/names.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::size_t kMaxAnnotation = 1024;

bool IsBelow(std::string_view ns, std::string_view parent) {
  return ns.size() > parent.size() && ns.ends_with(parent) && ns[ns.size() - parent.size() - 1] == '.';
}
bool IsOrBelow(std::string_view ns, std::string_view parent) { return ns == parent || IsBelow(ns, parent); }

/// Kubernetes' own, but for the parts that are meant for features.
bool IsKubernetes(std::string_view ns) { return IsOrBelow(ns, "kubernetes.io"); }

std::string_view NamespaceOf(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == name.npos ? std::string_view() : name.substr(0, slash);
}

std::unexpected<Error> Refused(std::string_view ns) {
  return Fail(Code::kInvalid, "namespace " + Quote(ns) + " is not allowed");
}

Result<> Checked(const data::Messages& messages) {
  if (messages.empty()) return {};
  return Fail(Code::kInvalid, messages.front());
}

}  // namespace

std::string_view NodeOf(const data::JsonObject& node_feature) {
  const auto* const labels = data::GetObject(node_feature, "metadata.labels");
  const data::Json* const node = labels == nullptr ? nullptr : labels->if_contains(api::kNodeNameLabel);
  return node == nullptr || !node->is_string() ? std::string_view() : data::AsView(node->get_string());
}

Result<std::string> NameRules::WithNamespace(std::string_view name) const {
  if (name.empty()) return Fail(Code::kInvalid, "the name is empty");
  std::string full(name);
  if (name.find('/') == name.npos) {
    if (!auto_prefix) return Fail(Code::kInvalid, "a name without a namespace");
    full = std::string(kFeatureNs) + "/" + full;
  }
  TRY(Checked(data::CheckQualifiedName(full)));
  return full;
}

Result<std::string> NameRules::LabelName(std::string_view name) const {
  ASSIGN(const std::string full, WithNamespace(name));
  const std::string_view ns = NamespaceOf(full);
  if (!extra_label_ns.contains(ns)) {
    if (IsKubernetes(ns) && !IsOrBelow(ns, kFeatureNs) && !IsOrBelow(ns, kProfileNs)) return Refused(ns);
    for (const std::string& denied : deny_label_ns)
      if (denied.starts_with("*.") ? IsBelow(ns, denied.substr(2)) : ns == denied) return Refused(ns);
  }
  if (label_whitelist && !label_whitelist->Search(full.substr(ns.size() + 1)))
    return Fail(Code::kInvalid, "the label whitelist does not have it");
  return full;
}

Result<std::string> NameRules::AnnotationName(std::string_view name) const {
  ASSIGN(const std::string full, WithNamespace(name));
  const std::string_view ns = NamespaceOf(full);
  if (IsKubernetes(ns) && !IsOrBelow(ns, kFeatureNs)) return Refused(ns);
  return full;
}

Result<std::string> NameRules::ResourceName(std::string_view name) const { return AnnotationName(name); }

Result<> CheckLabelText(std::string_view value) { return Checked(data::CheckLabelValue(value)); }

Result<> CheckAnnotationText(std::string_view value) {
  if (value.size() <= kMaxAnnotation) return {};
  return Fail(Code::kInvalid, "the value has " + std::to_string(value.size()) + " bytes, at most " +
                                  std::to_string(kMaxAnnotation) + " are allowed");
}

Result<> CheckTaint(const api::NfdTaint& taint) {
  TRY(Checked(data::CheckQualifiedName(taint.key)));
  const std::string_view ns = NamespaceOf(taint.key);
  if (ns.empty()) return Fail(Code::kInvalid, "the key has no namespace");
  if (IsKubernetes(ns) && !IsOrBelow(ns, kFeatureNs)) return Refused(ns);
  if (taint.effect != "NoSchedule" && taint.effect != "PreferNoSchedule" && taint.effect != "NoExecute")
    return Fail(Code::kInvalid, "effect " + Quote(taint.effect) + " is not NoSchedule, PreferNoSchedule or NoExecute");
  return CheckLabelText(taint.value);
}

std::string ShortList(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  const std::string prefix = std::string(kFeatureNs) + "/";
  for (const std::string& name : names) out.push_back(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
  std::ranges::sort(out);
  return Join(out, ",");
}

TextSet FullNames(std::string_view list) {
  TextSet out;
  for (std::string_view name : Split(list, ',')) {
    name = Trim(name);
    if (name.empty()) continue;
    out.insert(name.find('/') == name.npos ? std::string(kFeatureNs) + "/" + std::string(name) : std::string(name));
  }
  return out;
}

}  // namespace gpuop::operands::nfd
