#include "kube/builtin/index.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "kube/builtin/table_text.h"

namespace gpuop::kube::builtin {
namespace {

using Words = std::vector<std::string_view>;

std::vector<std::string> List(std::string_view word) {
  std::vector<std::string> out;
  if (word == "-") return out;
  for (std::string_view part : Split(word, ',')) out.emplace_back(part);
  return out;
}

/// "api/v1" or "apis/apps/v1".
std::pair<std::string_view, std::string_view> GroupVersion(std::string_view path) {
  const Words parts = Split(path, '/');
  GPUOP_CHECK(parts.size() == 2 || parts.size() == 3);
  return parts.size() == 2 ? std::pair(std::string_view(), parts[1]) : std::pair(parts[1], parts[2]);
}

class IndexReader {
 public:
  Index Read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      Line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    FinishNames();
    return std::move(index_);
  }

 private:
  void Line(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    if (line.front() != '@') return Field(line);
    const Words words = Split(line.substr(1), ' ');
    if (words[0] == "package")
      index_.packages[words.at(1)] = words.at(2);
    else if (words[0] == "in")
      package_ = index_.packages.at(words.at(1));
    else if (words[0] == "type")
      AddType(words.at(1)).atomic = words.size() > 2;
    else if (words[0] == "form")
      AddType(words.at(1)).form = words.at(2);
    else if (words[0] == "kind")
      AddKind(words);
    else if (words[0] == "resource")
      AddResource(words);
    else if (words[0] == "sub")
      AddSubresource(words);
    else
      GPUOP_CHECK(words[0] == "version");
  }

  /// Fields of a type stand together, so their text grows by one line.
  void Field(std::string_view line) {
    std::string_view& fields = index_.types.back().fields;
    fields = fields.empty() ? line : std::string_view(fields.data(), line.data() + line.size());
  }

  TypeText& AddType(std::string_view name) {
    TypeText& type = index_.types.emplace_back();
    type.name = std::string(package_).append(".").append(name);
    type.package = package_;
    return type;
  }

  void AddKind(const Words& words) {
    const std::string_view group = words.at(1) == "-" ? "" : words.at(1);
    index_.types.back().kinds.push_back({std::string(group), std::string(words.at(2)), std::string(words.at(3))});
    kinds_.emplace_back(std::tuple(group, words.at(2), words.at(3)), index_.types.size() - 1);
  }

  void AddResource(const Words& words) {
    const auto [group, version] = GroupVersion(words.at(1));
    index_.resources.push_back({.group = std::string(group),
                                .version = std::string(version),
                                .plural = std::string(words.at(2)),
                                .singular = std::string(words.at(3)),
                                .kind = std::string(words.at(4)),
                                .namespaced = words.at(5) == "namespaced",
                                .verbs = List(words.at(6)),
                                .short_names = List(words.at(7)),
                                .categories = List(words.at(8)),
                                .subresources = {}});
  }

  void AddSubresource(const Words& words) {
    BuiltinResource& parent = index_.resources.back();
    const std::string_view group = words.at(3);
    parent.subresources.push_back({.name = std::string(words.at(1)),
                                   .kind = std::string(words.at(2)),
                                   .group = group == "=" ? parent.group : std::string(group == "-" ? "" : group),
                                   .version = group == "=" ? parent.version : std::string(words.at(4)),
                                   .verbs = List(words.at(5))});
  }

  /// Names are looked at only when `types` has stopped growing.
  void FinishNames() {
    for (std::size_t i = 0; i < index_.types.size(); ++i) index_.by_name[index_.types[i].name] = i;
    for (const auto& [kind, type] : kinds_) index_.kinds[kind] = index_.types[type].name;
    std::ranges::sort(index_.resources, {},
                      [](const BuiltinResource& r) { return std::tie(r.group, r.version, r.plural); });
  }

  Index index_;
  std::string_view package_;
  std::vector<std::pair<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t>> kinds_;
};

}  // namespace

const TypeText* Index::Find(std::string_view name) const {
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : &types[it->second];
}

Index ReadIndex() { return IndexReader().Read(TableText()); }

}  // namespace gpuop::kube::builtin
