#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::data {
namespace {

/// The first step of a path: a member's name or "[3]" without its brackets. Advances `path` past it.
struct Step {
  std::string_view name;
  std::optional<std::size_t> index;
};

std::optional<Step> NextStep(std::string_view& path) {
  if (path.starts_with('[')) {
    const std::size_t end = path.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto index = ParseInt(path.substr(1, end - 1));
    if (!index || *index < 0) return std::nullopt;
    path.remove_prefix(end + 1);
    if (path.starts_with('.')) path.remove_prefix(1);
    return Step{{}, static_cast<std::size_t>(*index)};
  }
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  const Step step{path.substr(0, end), std::nullopt};
  path.remove_prefix(end);
  if (path.starts_with('.')) path.remove_prefix(1);
  return step;
}

const Json* FindIn(const JsonObject& root, std::string_view path) {
  const auto step = NextStep(path);
  if (!step || step->index) return nullptr;
  const Json* at = root.if_contains(step->name);
  return at == nullptr || path.empty() ? at : Find(*at, path);
}

Error Expected(std::string_view path, std::string_view what, const Json* got) {
  std::string text(path);
  text.append(": expected ").append(what).append(", got ").append(got == nullptr ? "nothing" : KindName(*got));
  return {Code::kInvalid, std::move(text)};
}

}  // namespace

const Json* Find(const Json& root, std::string_view path) {
  const Json* at = &root;
  while (at != nullptr && !path.empty()) {
    const auto step = NextStep(path);
    if (!step) return nullptr;
    if (step->index) {
      const JsonArray* array = at->if_array();
      at = array == nullptr || *step->index >= array->size() ? nullptr : &(*array)[*step->index];
    } else {
      const JsonObject* object = at->if_object();
      at = object == nullptr ? nullptr : object->if_contains(step->name);
    }
  }
  return at;
}

const Json* Find(const JsonObject& root, std::string_view path) { return FindIn(root, path); }
Json* Find(Json& root, std::string_view path) { return const_cast<Json*>(Find(std::as_const(root), path)); }
Json* Find(JsonObject& root, std::string_view path) { return const_cast<Json*>(FindIn(root, path)); }

std::optional<std::string_view> GetString(JsonRoot root, std::string_view path) {
  const Json* at = root.At(path);
  if (at == nullptr || !at->is_string()) return std::nullopt;
  return AsView(at->get_string());
}

std::optional<std::int64_t> GetInt(JsonRoot root, std::string_view path) {
  const Json* at = root.At(path);
  if (at == nullptr || !at->is_int64()) return std::nullopt;
  return at->get_int64();
}

std::optional<bool> GetBool(JsonRoot root, std::string_view path) {
  const Json* at = root.At(path);
  if (at == nullptr || !at->is_bool()) return std::nullopt;
  return at->get_bool();
}

const JsonObject* GetObject(JsonRoot root, std::string_view path) {
  const Json* at = root.At(path);
  return at == nullptr ? nullptr : at->if_object();
}

const JsonArray* GetArray(JsonRoot root, std::string_view path) {
  const Json* at = root.At(path);
  return at == nullptr ? nullptr : at->if_array();
}

std::string_view StringOr(JsonRoot root, std::string_view path, std::string_view otherwise) {
  return GetString(root, path).value_or(otherwise);
}
std::int64_t IntOr(JsonRoot root, std::string_view path, std::int64_t otherwise) {
  return GetInt(root, path).value_or(otherwise);
}
bool BoolOr(JsonRoot root, std::string_view path, bool otherwise) { return GetBool(root, path).value_or(otherwise); }

Result<std::string> RequireString(JsonRoot root, std::string_view path) {
  if (const auto s = GetString(root, path)) return std::string(*s);
  return std::unexpected(Expected(path, "a string", root.At(path)));
}
Result<std::int64_t> RequireInt(JsonRoot root, std::string_view path) {
  if (const auto i = GetInt(root, path)) return *i;
  return std::unexpected(Expected(path, "an integer", root.At(path)));
}
Result<bool> RequireBool(JsonRoot root, std::string_view path) {
  if (const auto b = GetBool(root, path)) return *b;
  return std::unexpected(Expected(path, "a boolean", root.At(path)));
}

Json& Ensure(Json& root, std::string_view path) {
  Json* at = &root;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    if (!at->is_object()) at->emplace_object();
    at = &at->get_object()[path.substr(0, end)];
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return *at;
}

JsonObject& EnsureObject(Json& root, std::string_view path) {
  Json& at = Ensure(root, path);
  return at.is_object() ? at.get_object() : at.emplace_object();
}

bool Erase(Json& root, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  Json* parent = dot == std::string_view::npos ? &root : Find(root, path.substr(0, dot));
  if (parent == nullptr || !parent->is_object()) return false;
  return parent->get_object().erase(path.substr(dot + 1)) != 0;  // no dot: npos + 1 is 0
}

std::string_view KindName(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: return "a number";
    case boost::json::kind::string: return "a string";
    case boost::json::kind::array: return "an array";
    case boost::json::kind::object: return "an object";
  }
  return "nothing";
}

bool JsonEqual(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int64() && b.is_int64()) return a.get_int64() == b.get_int64();
    return a.to_number<double>() == b.to_number<double>();
  }
  if (a.kind() != b.kind()) return false;
  if (const JsonArray* x = a.if_array()) return std::ranges::equal(*x, b.get_array(), JsonEqual);
  const JsonObject* x = a.if_object();
  if (x == nullptr) return a == b;
  const JsonObject& y = b.get_object();
  return x->size() == y.size() && std::ranges::all_of(*x, [&](const auto& member) {
           const Json* other = y.if_contains(member.key());
           return other != nullptr && JsonEqual(member.value(), *other);
         });
}

}  // namespace gpuop::data
