#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"

namespace gpuop::kube {

/// Labels, annotations, quantities by resource name: a sorted list of interned pairs, 16 bytes each.
class StringMap {
 public:
  using Entry = std::pair<Interned, Interned>;

  StringMap() = default;
  StringMap(std::initializer_list<std::pair<std::string_view, std::string_view>> entries) {
    for (const auto& [key, value] : entries) Set(key, value);
  }

  /// The value, or null.
  const Interned* Find(std::string_view key) const {
    const auto it = std::ranges::lower_bound(entries_, key, {}, [](const Entry& e) { return e.first.view(); });
    return it == entries_.end() || it->first != key ? nullptr : &it->second;
  }
  /// The value, or "" when there is none.
  std::string_view Get(std::string_view key) const {
    const Interned* value = Find(key);
    return value == nullptr ? std::string_view() : value->view();
  }
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  void Set(std::string_view key, std::string_view value) {
    const auto it = std::ranges::lower_bound(entries_, key, {}, [](const Entry& e) { return e.first.view(); });
    if (it != entries_.end() && it->first == key) {
      it->second = value;
    } else {
      entries_.emplace(it, Interned(key), Interned(value));
    }
  }
  void Reserve(std::size_t count) { entries_.reserve(count); }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const StringMap&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace gpuop::kube
