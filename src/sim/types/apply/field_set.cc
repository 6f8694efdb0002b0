#include "sim/types/apply/field_set.h"

#include <boost/json.hpp>

#include "data/json.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

std::string ElementText(std::string_view element) {
  const std::string_view rest = element.substr(2);
  switch (element[0]) {
    case 'f': return "." + std::string(rest);
    case 'v': return "[=" + std::string(rest) + "]";
    case 'i': return "[" + std::string(rest) + "]";
    default: break;
  }
  const auto keys = data::ParseJson(rest);
  if (!keys || !keys->is_object()) return "[" + std::string(rest) + "]";
  std::string out = "[";
  for (const auto& [name, value] : keys->get_object()) {
    if (out.size() > 1) out += ',';
    out.append(name).append("=").append(data::ToJson(value));
  }
  return out + "]";
}

}  // namespace

std::string PathText(const FieldPath& path) {
  std::string out;
  for (const std::string& element : path) out += ElementText(element);
  return out;
}

Result<FieldSet> FieldSet::Parse(const json::object& fields) { return ParseNode(fields, 0); }

Result<FieldSet> FieldSet::ParseNode(const json::object& fields, int depth) {
  if (depth > 256) return Fail(Code::kInvalid, "managed fields are nested too deep");
  FieldSet out;
  for (const auto& [key, value] : fields) {
    const std::string_view element(key.data(), key.size());
    if (element == ".") {
      out.member_ = true;
      continue;
    }
    const bool known = element.size() > 1 && element[1] == ':' && std::string_view("fkvi").contains(element[0]);
    if (!known || !value.is_object())
      return Fail(Code::kInvalid, "managed fields: bad element " + std::string(element));
    ASSIGN(FieldSet child, ParseNode(value.get_object(), depth + 1));
    if (child.children_.empty()) child.member_ = true;  // a leaf is written as {}
    out.children_.emplace(element, std::move(child));
  }
  return out;
}

json::object FieldSet::ToJson() const {
  json::object out;
  if (member_ && !children_.empty()) out.emplace(".", json::object());
  for (const auto& [element, child] : children_) out.emplace(element, child.ToJson());
  return out;
}

const FieldSet* FieldSet::Find(std::string_view element) const {
  const auto it = children_.find(element);
  return it == children_.end() ? nullptr : &it->second;
}

bool FieldSet::Has(const FieldPath& path) const {
  const FieldSet* at = this;
  for (const std::string& element : path)
    if (at = at->Find(element); at == nullptr) return false;
  return at->member_;
}

FieldSet& FieldSet::Below(std::string_view element) {
  const auto it = children_.find(element);
  return it != children_.end() ? it->second : children_.emplace(std::string(element), FieldSet()).first->second;
}

void FieldSet::Insert(const FieldPath& path) {
  FieldSet* at = this;
  for (const std::string& element : path) at = &at->Below(element);
  at->member_ = true;
}

void FieldSet::Merge(const FieldSet& other) {
  member_ = member_ || other.member_;
  for (const auto& [element, child] : other.children_) Below(element).Merge(child);
}

FieldSet FieldSet::Without(const FieldSet& other) const {
  FieldSet out;
  out.member_ = member_ && !other.member_;
  for (const auto& [element, child] : children_) {
    const FieldSet* theirs = other.Find(element);
    FieldSet rest = theirs == nullptr ? child : child.Without(*theirs);
    if (!rest.Empty()) out.children_.emplace(element, std::move(rest));
  }
  return out;
}

FieldSet FieldSet::WithoutTrees(const FieldSet& other) const {
  FieldSet out;
  out.member_ = member_ && !other.member_;
  for (const auto& [element, child] : children_) {
    const FieldSet* theirs = other.Find(element);
    if (theirs != nullptr && theirs->member_) continue;
    FieldSet rest = theirs == nullptr ? child : child.WithoutTrees(*theirs);
    if (!rest.Empty()) out.children_.emplace(element, std::move(rest));
  }
  return out;
}

FieldSet FieldSet::Common(const FieldSet& other) const {
  FieldSet out;
  out.member_ = member_ && other.member_;
  for (const auto& [element, child] : children_) {
    const FieldSet* theirs = other.Find(element);
    if (theirs == nullptr) continue;
    FieldSet both = child.Common(*theirs);
    if (!both.Empty()) out.children_.emplace(element, std::move(both));
  }
  return out;
}

void FieldSet::ForEach(const std::function<void(const FieldPath&)>& see) const {
  FieldPath at;
  ForEach(at, see);
}

void FieldSet::ForEach(FieldPath& at, const std::function<void(const FieldPath&)>& see) const {
  const auto with = [&](const std::string& element, const auto& then) {
    at.push_back(element);
    then();
    at.pop_back();
  };
  for (const auto& [element, child] : children_)
    if (child.member_) with(element, [&] { see(at); });
  for (const auto& [element, child] : children_) with(element, [&] { child.ForEach(at, see); });
}

void FieldSet::Tidy() {
  for (auto it = children_.begin(); it != children_.end();) {
    it->second.Tidy();
    it = it->second.Empty() ? children_.erase(it) : std::next(it);
  }
}

}  // namespace gpuop::sim::types
