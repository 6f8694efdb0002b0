#pragma once
// JSON as the Kubernetes API speaks it: bounded reading, compact writing, and access by path.

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::data {

/// The document object model. Members keep the order in which they were written.
using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

/// What a text may cost. The defaults are for bodies that an API server accepts.
struct JsonLimits {
  std::size_t max_bytes = 64U << 20U;
  std::size_t max_depth = 512;
};

/// Reads one RFC 8259 text. Integers within int64 become int64, every other number a double (as Kubernetes'
/// own reader does); of duplicate members the last one counts. kTooLarge when `text` has too many bytes; kInvalid,
/// with line, column and the path of the value, when it is no JSON, is nested too deep, is not UTF-8, or holds a
/// number beyond a double's range.
Result<Json> ParseJson(std::string_view text, const JsonLimits& limits = {});

/// A document and the paths of members that were written twice ("spec.replicas").
struct JsonWithDuplicates {
  Json value;
  std::vector<std::string> duplicates;
};
/// Like ParseJson, and names duplicate members: each path once, in order of appearance.
Result<JsonWithDuplicates> ParseJsonFindingDuplicates(std::string_view text, const JsonLimits& limits = {});

/// Compact text: no blanks, members in their order, integers as integers, doubles as FormatDouble prints them.
std::string ToJson(const Json& value);
void AppendJson(std::string& out, const Json& value);
void AppendJson(std::string& out, const JsonObject& value);
/// The string as a JSON literal, quotes included.
void AppendJsonString(std::string& out, std::string_view text);
/// For people: one member a line, `indent` blanks a level, empty containers as {} and [].
std::string ToPrettyJson(const Json& value, int indent = 4);
/// The shortest text that reads back as `number`, in Go's choice of fixed ("0.5", "100") or exponent form ("1e+21").
std::string FormatDouble(double number);

/// The value as Go's %v prints what it decoded, which is how it stands in some of the API server's messages:
/// "map[image:x ports:[80 81]]", members sorted.
std::string GoText(const Json& value);

/// Equality by meaning: members in any order, 1 equal to 1.0.
bool JsonEqual(const Json& a, const Json& b);

/// The value at a dotted path with optional indexes ("spec.containers[0].image"); null when it, or anything on the
/// way to it, is absent or of another type. Member names holding dots cannot be named: use if_contains for those.
const Json* Find(const Json& root, std::string_view path);
const Json* Find(const JsonObject& root, std::string_view path);
Json* Find(Json& root, std::string_view path);
Json* Find(JsonObject& root, std::string_view path);

/// Where a path begins: a value, or an object as it stands. Lives no longer than what it was made of.
class JsonRoot {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for its argument
  JsonRoot(const Json& value) : value_(&value) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  JsonRoot(const JsonObject& object) : object_(&object) {}

  const Json* At(std::string_view path) const { return value_ != nullptr ? Find(*value_, path) : Find(*object_, path); }

 private:
  const Json* value_ = nullptr;
  const JsonObject* object_ = nullptr;
};

/// What stands at `path`; nullopt when it is absent or of another type.
std::optional<std::string_view> GetString(JsonRoot root, std::string_view path);
std::optional<std::int64_t> GetInt(JsonRoot root, std::string_view path);
std::optional<bool> GetBool(JsonRoot root, std::string_view path);
const JsonObject* GetObject(JsonRoot root, std::string_view path);
const JsonArray* GetArray(JsonRoot root, std::string_view path);
/// The same with a value for absent ones. `otherwise` must outlive the answer.
std::string_view StringOr(JsonRoot root, std::string_view path, std::string_view otherwise = {});
std::int64_t IntOr(JsonRoot root, std::string_view path, std::int64_t otherwise = 0);
bool BoolOr(JsonRoot root, std::string_view path, bool otherwise = false);

/// The same for what must be there; kInvalid names the path: "spec.nodeName: expected a string, got a number".
Result<std::string> RequireString(JsonRoot root, std::string_view path);
Result<std::int64_t> RequireInt(JsonRoot root, std::string_view path);
Result<bool> RequireBool(JsonRoot root, std::string_view path);

/// The value at a dotted path (no indexes), made on the way: what is absent or no object becomes an empty object,
/// the last one null.
Json& Ensure(Json& root, std::string_view path);
/// Ensure, then made an object unless it is one.
JsonObject& EnsureObject(Json& root, std::string_view path);
/// Removes the member at a dotted path; false when there was none.
bool Erase(Json& root, std::string_view path);

/// "a string", "a number", "an object", "null", …: a value's kind in an error message.
std::string_view KindName(const Json& value);

inline std::string_view AsView(const boost::json::string& s) { return {s.data(), s.size()}; }

}  // namespace gpuop::data
