#include <boost/json.hpp>
#include <map>
#include <optional>
#include <set>

#include "data/json.h"
#include "sim/types/apply/typed_value.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using Kind = Shape::Kind;

namespace {

using Maybe = std::optional<json::value>;

bool EmptyOrAbsent(const json::value* value) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_object()) return value->get_object().empty();
  return value->is_array() && value->get_array().empty();
}

Maybe Merged(Shape shape, const json::value* live, const json::value* config);

/// A list's elements by their names. A name that stands twice in the live list belongs to no single element: it is
/// not merged with, and goes when the configuration has one of that name.
class MergingLists {
 public:
  MergingLists(Shape shape, const json::array* live, const json::array* config) : shape_(shape) {
    Read(live, live_, live_names_);
    Read(config, config_, config_names_);
    for (const std::string& name : config_names_)
      if (live_.contains(name)) shared_.push_back(name);
  }

  json::array Merge() {
    std::size_t l = 0, c = 0;
    while (l < live_names_.size() || c < config_names_.size()) Step(l, c);
    return std::move(out_);
  }

 private:
  using ByName = std::map<std::string, std::vector<const json::value*>, std::less<>>;

  void Read(const json::array* list, ByName& by_name, std::vector<std::string>& names) {
    if (list == nullptr) return;
    for (const json::value& element : *list) {
      auto name = shape_.ElementName(element);
      if (!name) continue;
      by_name[*name].push_back(&element);
      names.push_back(*std::move(name));
    }
  }

  /// Takes one element, or passes over one: live ones stay where they are until the next element that both lists
  /// have; those follow the configuration's order.
  void Step(std::size_t& l, std::size_t& c) {
    const bool more_live = l < live_names_.size(), more_config = c < config_names_.size();
    if (more_live && more_config) {
      const std::string& name = live_names_[l];
      if (name == config_names_[c]) {
        TakeConfig(name);
        ++l, ++c;
        return NextShared();
      }
      if (config_.contains(name) && next_ < shared_.size() && shared_[next_] != name) {
        ++l;
        return;
      }
    }
    if (more_live) {
      const std::string& name = live_names_[l];
      if (!config_.contains(name)) return TakeLive(name, l++);
      if (taken_.contains(name)) ++l;
    }
    if (more_config) {
      const std::string& name = config_names_[c++];
      TakeConfig(name);
      if (next_ < shared_.size() && shared_[next_] == name) NextShared();
    }
  }

  void NextShared() { ++next_; }

  void TakeLive(const std::string& name, std::size_t position) {
    const auto& all = live_.find(name)->second;
    const auto before = static_cast<std::size_t>(
        std::count(live_names_.begin(), live_names_.begin() + static_cast<std::ptrdiff_t>(position), name));
    out_.push_back(*all[before]);
  }

  void TakeConfig(const std::string& name) {
    taken_.insert(name);
    const auto live = live_.find(name);
    const json::value* old = live == live_.end() || live->second.size() > 1 ? nullptr : live->second.front();
    if (auto merged = Merged(shape_.Items(), old, config_.find(name)->second.front()))
      out_.push_back(*std::move(merged));
  }

  Shape shape_;
  ByName live_, config_;
  std::vector<std::string> live_names_, config_names_, shared_;
  std::size_t next_ = 0;
  std::set<std::string> taken_;
  json::array out_;
};

Maybe MergedMaps(Shape shape, const json::object* live, const json::object* config) {
  json::object out;
  const auto member = [&](std::string_view key, const json::value* was, const json::value* is) {
    if (auto merged = Merged(shape.Field(key).shape, was, is)) out[key] = *std::move(merged);
  };
  if (live != nullptr)
    for (const auto& [key, value] : *live)
      member({key.data(), key.size()}, &value, config == nullptr ? nullptr : config->if_contains(key));
  if (config != nullptr)
    for (const auto& [key, value] : *config)
      if (live == nullptr || !live->contains(key)) member({key.data(), key.size()}, nullptr, &value);
  if (out.empty()) return std::nullopt;
  return json::value(std::move(out));
}

Maybe Merged(Shape shape, const json::value* live, const json::value* config) {
  const json::value* decides = config == nullptr || (config->is_null() && live != nullptr) ? live : config;
  const Kind kind = shape.KindOf(decides);
  const bool whole = kind == Kind::kScalar || shape.Atomic(kind) || (EmptyOrAbsent(live) && EmptyOrAbsent(config));
  if (whole) return config != nullptr ? *config : *live;
  if (kind == Kind::kMap)
    return MergedMaps(shape, live == nullptr ? nullptr : live->if_object(),
                      config == nullptr ? nullptr : config->if_object());
  json::array list = MergingLists(shape, live == nullptr ? nullptr : live->if_array(),
                                  config == nullptr ? nullptr : config->if_array())
                         .Merge();
  if (list.empty()) return std::nullopt;
  return json::value(std::move(list));
}

Maybe Rest(Shape shape, const json::value& value, const FieldSet& fields);

Maybe RestOfMap(Shape shape, const json::object& map, const FieldSet& fields) {
  json::object out;
  for (const auto& [key, element] : map) {
    const FieldSet* below = fields.Find("f:" + std::string(key));
    if (below == nullptr) {
      out.emplace(key, element);
    } else if (!below->member()) {
      Maybe rest = Rest(shape.Field({key.data(), key.size()}).shape, element, *below);
      out.emplace(key, rest ? *std::move(rest) : json::value(nullptr));
    }
  }
  if (out.empty()) return std::nullopt;
  return json::value(std::move(out));
}

Maybe RestOfList(Shape shape, const json::array& list, const FieldSet& fields) {
  json::array out;
  for (const json::value& element : list) {
    const auto name = shape.ElementName(element);
    const FieldSet* below = name ? fields.Find(*name) : nullptr;
    if (below == nullptr) {
      out.push_back(element);
    } else if (!below->member()) {
      Maybe rest = Rest(shape.Items(), element, *below);
      out.push_back(rest ? *std::move(rest) : json::value(nullptr));
    }
  }
  if (out.empty()) return std::nullopt;
  return json::value(std::move(out));
}

/// What is left of a value; nullopt when nothing is.
Maybe Rest(Shape shape, const json::value& value, const FieldSet& fields) {
  const Kind kind = shape.KindOf(&value);
  if (kind == Kind::kScalar) return value;
  if (EmptyOrAbsent(&value) || shape.Atomic(kind)) return std::nullopt;
  if (value.is_object()) return RestOfMap(shape, value.get_object(), fields);
  return value.is_array() ? RestOfList(shape, value.get_array(), fields) : Maybe(value);
}

}  // namespace

json::value MergeTyped(Shape shape, const json::value& live, const json::value& config) {
  return Merged(shape, &live, &config).value_or(json::object());
}

json::value RemoveFields(Shape shape, const json::value& value, const FieldSet& fields) {
  if (fields.Empty()) return value;
  return Rest(shape, value, fields).value_or(json::object());
}

}  // namespace gpuop::sim::types
