#include "sim/metadata_rules.h"

#include <fmt/core.h>

#include <array>

#include "base/text.h"
#include "data/json.h"
#include "sim/fields.h"

namespace gpuop::sim {
namespace {

using boost::json::object;
using boost::json::value;
using Kind = FieldError::Kind;

constexpr std::string_view kSubdomainWords =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelWords =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNameWords =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueWords =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::size_t kMaxAnnotationBytes = 256U << 10U;

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

bool IsDnsLabel(std::string_view s) {
  if (s.empty() || !IsLowerAlnum(s.front()) || !IsLowerAlnum(s.back())) return false;
  return std::ranges::all_of(s, [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsSubdomain(std::string_view s) {
  for (std::string_view label : Split(s, '.'))
    if (!IsDnsLabel(label)) return false;
  return true;
}

bool IsName(std::string_view s) {
  if (s.empty() || !IsAlnum(s.front()) || !IsAlnum(s.back())) return false;
  return std::ranges::all_of(s, [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::vector<std::string> CheckSubdomain(std::string_view s) {
  std::vector<std::string> wrong;
  if (s.size() > 253) wrong.emplace_back("must be no more than 253 characters");
  if (!IsSubdomain(s)) wrong.emplace_back(kSubdomainWords);
  return wrong;
}

void CheckMap(const object& metadata, std::string_view field, std::vector<FieldError>& wrong) {
  const object* map = ObjectAt(metadata, field);
  if (map == nullptr) return;
  const std::string path = fmt::format("metadata.{}", field);
  const bool labels = field == "labels";
  std::size_t bytes = 0;
  for (const auto& [key, v] : *map) {
    for (std::string& why : CheckQualifiedName(labels ? std::string(key) : ToLower(key)))
      wrong.push_back({Kind::kInvalid, path, Quote(key), std::move(why)});
    const std::string_view text = v.is_string() ? data::AsView(v.get_string()) : std::string_view();
    bytes += key.size() + text.size();
    if (!labels) continue;
    if (text.size() > 63) wrong.push_back({Kind::kInvalid, path, Quote(text), "must be no more than 63 bytes"});
    if (!text.empty() && !IsName(text)) wrong.push_back({Kind::kInvalid, path, Quote(text), std::string(kValueWords)});
  }
  if (!labels && bytes > kMaxAnnotationBytes)
    wrong.push_back({Kind::kTooLong, path, "", fmt::format("may not be more than {} bytes", kMaxAnnotationBytes)});
}

void CheckOwners(const object& metadata, std::vector<FieldError>& wrong) {
  const value* list = metadata.if_contains("ownerReferences");
  if (list == nullptr || !list->is_array()) return;
  const std::string path = "metadata.ownerReferences";
  std::string controller;
  for (const value& item : list->get_array()) {
    const object* owner = item.if_object();
    if (owner == nullptr) continue;
    const std::string_view version = TextAt(*owner, "apiVersion");
    if (version.empty()) wrong.push_back({Kind::kInvalid, path + ".apiVersion", "\"\"", "version must not be empty"});
    for (std::string_view field : {"kind", "name", "uid"})
      if (TextAt(*owner, field).empty())
        wrong.push_back({Kind::kInvalid, fmt::format("{}.{}", path, field), "\"\"", "must not be empty"});
    if (version == "v1" && TextAt(*owner, "kind") == "Event")
      wrong.push_back({Kind::kInvalid, path, data::ToJson(item), "/v1, Kind=Event is disallowed from being an owner"});
    const value* controls = owner->if_contains("controller");
    if (controls == nullptr || !controls->is_bool() || !controls->get_bool()) continue;
    std::string name = fmt::format("{}/{}", TextAt(*owner, "kind"), TextAt(*owner, "name"));
    if (!controller.empty())
      wrong.push_back({Kind::kInvalid, path, data::ToJson(*list),
                       fmt::format("Only one reference can have Controller set to true. Found \"true\" in references "
                                   "for {} and {}",
                                   controller, name)});
    controller = std::move(name);
  }
}

void CheckFinalizers(const object& metadata, std::vector<FieldError>& wrong) {
  const value* list = metadata.if_contains("finalizers");
  if (list == nullptr || !list->is_array()) return;
  bool orphan = false, foreground = false;
  std::size_t index = 0;
  for (const value& item : list->get_array()) {
    const std::string_view name = item.is_string() ? data::AsView(item.get_string()) : std::string_view();
    orphan |= name == "orphan";
    foreground |= name == "foregroundDeletion";
    for (std::string& why : CheckQualifiedName(name))
      wrong.push_back({Kind::kInvalid, "metadata.finalizers", Quote(name), std::move(why)});
    if (!name.contains('/') && name != "orphan" && name != "foregroundDeletion" && name != "kubernetes" &&
        name != "customresourcecleanup.apiextensions.k8s.io")
      wrong.push_back({Kind::kInvalid, fmt::format("metadata.finalizers[{}]", index), Quote(name),
                       "name is neither a standard finalizer name nor is it fully qualified"});
    ++index;
  }
  if (orphan && foreground)
    wrong.push_back({Kind::kInvalid, "metadata.finalizers", data::ToJson(*list),
                     "finalizer orphan and foregroundDeletion cannot be both set"});
}

bool Has(const object& metadata, std::string_view list, std::string_view name) {
  const value* v = metadata.if_contains(list);
  if (v == nullptr || !v->is_array()) return false;
  return std::ranges::any_of(v->get_array(), [&](const value& x) { return x.is_string() && x.get_string() == name; });
}

}  // namespace

std::vector<std::string> CheckQualifiedName(std::string_view s) {
  std::vector<std::string> wrong;
  std::string_view name = s;
  if (const auto parts = Cut(s, '/')) {
    name = parts->second;
    if (name.contains('/')) {
      wrong.push_back(
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      kNameWords));
      return wrong;
    }
    if (parts->first.empty()) {
      wrong.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& why : CheckSubdomain(parts->first)) wrong.push_back("prefix part " + why);
    }
  }
  if (name.empty())
    wrong.emplace_back("name part must be non-empty");
  else if (name.size() > 63)
    wrong.emplace_back("name part must be no more than 63 bytes");
  if (!IsName(name)) wrong.push_back(fmt::format("name part {}", kNameWords));
  return wrong;
}

std::vector<std::string> CheckName(NameRule rule, std::string_view name, bool prefix) {
  std::string masked(name);
  if (prefix && masked.size() > 1 && masked.ends_with('-')) masked.back() = 'a';  // the suffix will follow
  std::vector<std::string> wrong;
  switch (rule) {
    case NameRule::kDnsSubdomain: return CheckSubdomain(masked);
    case NameRule::kDnsLabel:
      if (masked.size() > 63) wrong.emplace_back("must be no more than 63 characters");
      if (masked.contains('.') && IsSubdomain(masked))
        wrong.emplace_back("must not contain dots");
      else if (!IsDnsLabel(masked))
        wrong.emplace_back(kLabelWords);
      return wrong;
    case NameRule::kPathSegment:
      if (masked == "." || masked == "..") return {fmt::format("may not be '{}'", masked)};
      for (char c : {'/', '%'})
        if (masked.contains(c)) wrong.push_back(fmt::format("may not contain '{}'", c));
      return wrong;
    case NameRule::kFree: return {};
  }
  return {};
}

std::vector<FieldError> CheckMetadata(const ResourceInfo& info, const object& metadata) {
  std::vector<FieldError> wrong;
  const std::string_view name = TextAt(metadata, "name"), generate = TextAt(metadata, "generateName");
  for (std::string& why : generate.empty() ? std::vector<std::string>{} : CheckName(info.name_rule, generate, true))
    wrong.push_back({Kind::kInvalid, "metadata.generateName", Quote(generate), std::move(why)});
  if (name.empty())
    wrong.push_back({Kind::kRequired, "metadata.name", "", "name or generateName is required"});
  else
    for (std::string& why : CheckName(info.name_rule, name))
      wrong.push_back({Kind::kInvalid, "metadata.name", Quote(name), std::move(why)});
  CheckMap(metadata, "labels", wrong);
  CheckMap(metadata, "annotations", wrong);
  CheckOwners(metadata, wrong);
  CheckFinalizers(metadata, wrong);
  return wrong;
}

std::vector<FieldError> CheckMetadataUpdate(const object& now, const object& old) {
  std::vector<FieldError> wrong;
  for (std::string_view field : {"name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const value* a = now.if_contains(field);
    if (!SameField(now, old, field))
      wrong.push_back({Kind::kInvalid, fmt::format("metadata.{}", field), a == nullptr ? "null" : data::ToJson(*a),
                       "field is immutable"});
  }
  if (!old.contains("deletionTimestamp")) return wrong;
  std::string added;
  if (const value* list = now.if_contains("finalizers"); list != nullptr && list->is_array())
    for (const value& item : list->get_array())
      if (item.is_string() && !Has(old, "finalizers", data::AsView(item.get_string())))
        added.append(added.empty() ? "" : ", ").append(Quote(data::AsView(item.get_string())));
  if (!added.empty())
    wrong.push_back({Kind::kForbidden, "metadata.finalizers", "",
                     fmt::format("no new finalizers can be added if the object is being deleted, found new finalizers "
                                 "[]string{{{}}}",
                                 added)});
  return wrong;
}

}  // namespace gpuop::sim
