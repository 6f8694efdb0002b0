#include "sim/resource.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::sim {
namespace {

/// "v11beta2" → {stage 1, 11, 2}; stage 2 is GA, 1 beta, 0 alpha; nullopt for anything else.
struct VersionParts {
  int stage;
  std::int64_t major, minor;
};

std::optional<VersionParts> ParseVersion(std::string_view v) {
  if (!v.starts_with('v')) return std::nullopt;
  v.remove_prefix(1);
  const std::size_t digits = v.find_first_not_of("0123456789");
  const auto major = ParseInt(v.substr(0, digits));
  if (!major || *major <= 0) return std::nullopt;
  if (digits == std::string_view::npos) return VersionParts{2, *major, 0};
  v.remove_prefix(digits);
  const int stage = v.starts_with("beta") ? 1 : v.starts_with("alpha") ? 0 : -1;
  if (stage < 0) return std::nullopt;
  const auto minor = ParseInt(v.substr(stage == 1 ? 4 : 5));
  if (!minor || *minor <= 0) return std::nullopt;
  return VersionParts{stage, *major, *minor};
}

}  // namespace

bool VersionBefore(std::string_view a, std::string_view b) {
  const auto pa = ParseVersion(a), pb = ParseVersion(b);
  if (pa && pb) return std::tuple(pb->stage, pb->major, pb->minor) < std::tuple(pa->stage, pa->major, pa->minor);
  if (pa || pb) return pa.has_value();
  return a < b;
}

const Subresource* ResourceInfo::FindSubresource(std::string_view wanted) const {
  for (const Subresource& s : subresources)
    if (s.name == wanted) return &s;
  return nullptr;
}

bool ResourceInfo::Allows(std::string_view verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

void Registry::Add(ResourceInfo info) {
  auto key = std::tuple(info.group, info.version, info.plural);
  by_name_[std::move(key)] = std::make_shared<const ResourceInfo>(std::move(info));
  Changed();
}

void Registry::Remove(std::string_view group, std::string_view version, std::string_view plural) {
  if (by_name_.erase(std::tuple(std::string(group), std::string(version), std::string(plural))) > 0) Changed();
}

ResourcePtr Registry::Find(std::string_view group, std::string_view version, std::string_view plural) const {
  auto it = by_name_.find(std::tuple(group, version, plural));
  return it == by_name_.end() ? nullptr : it->second;
}

ResourcePtr Registry::FindAnyVersion(std::string_view group, std::string_view plural) const {
  ResourcePtr best;
  for (auto it = by_name_.lower_bound(std::tuple(group, std::string_view(), std::string_view()));
       it != by_name_.end() && it->second->group == group; ++it)
    if (it->second->plural == plural && (!best || VersionBefore(it->second->version, best->version))) best = it->second;
  return best;
}

ResourcePtr Registry::FindKind(std::string_view group, std::string_view version, std::string_view kind) const {
  for (auto it = by_name_.lower_bound(std::tuple(group, version, std::string_view()));
       it != by_name_.end() && it->second->group == group && it->second->version == version; ++it)
    if (it->second->kind == kind) return it->second;
  return nullptr;
}

bool Registry::HasBuiltInGroup(std::string_view group) const {
  auto it = by_name_.lower_bound(std::tuple(group, std::string_view(), std::string_view()));
  return it != by_name_.end() && it->second->group == group && !it->second->custom;
}

std::vector<ResourcePtr> Registry::All() const {
  std::vector<ResourcePtr> all;
  all.reserve(by_name_.size());
  for (const auto& [name, info] : by_name_) all.push_back(info);
  return all;
}

void Registry::Changed() {
  ++generation_;
  for (const auto& then : observers_) then();
}

}  // namespace gpuop::sim
