#include "kube/decode.h"

#include <boost/json.hpp>

namespace gpuop::kube {
namespace {

namespace json = boost::json;

std::string_view KindOf(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return "a number";
    case json::kind::string: return "a string";
    case json::kind::array: return "a list";
    case json::kind::object: return "an object";
  }
  return "something else";
}

std::string_view View(const json::value& v) { return {v.get_string().data(), v.get_string().size()}; }

}  // namespace

std::unexpected<Error> WrongKind(std::string_view expected, const json::value& got) {
  return Fail(Code::kInvalid, "expected " + std::string(expected) + ", got " + std::string(KindOf(got)));
}

Result<> ReadField(const json::value& in, std::string& out) {
  if (!in.is_string()) return WrongKind("a string", in);
  out.assign(View(in));
  return {};
}

Result<> ReadField(const json::value& in, Interned& out) {
  if (!in.is_string()) return WrongKind("a string", in);
  out = Interned(View(in));
  return {};
}

Result<> ReadField(const json::value& in, bool& out) {
  if (!in.is_bool()) return WrongKind("a boolean", in);
  out = in.get_bool();
  return {};
}

Result<> ReadField(const json::value& in, std::int64_t& out) {
  boost::system::error_code failed;
  const std::int64_t number = in.to_number<std::int64_t>(failed);
  if (failed) return WrongKind("an integer", in);
  out = number;
  return {};
}

Result<> ReadField(const json::value& in, std::int32_t& out) {
  boost::system::error_code failed;
  const std::int32_t number = in.to_number<std::int32_t>(failed);
  if (failed) return WrongKind("an integer of 32 bits", in);
  out = number;
  return {};
}

Result<> ReadField(const json::value& in, WallTime& out) {
  if (!in.is_string()) return WrongKind("a time", in);
  const std::optional<WallTime> time = ParseTime(View(in));
  if (!time) return Fail(Code::kInvalid, "not a time: " + std::string(View(in).substr(0, 64)));
  out = *time;
  return {};
}

Result<> ReadField(const json::value& in, StringMap& out) {
  if (!in.is_object()) return WrongKind("an object", in);
  out.Reserve(in.get_object().size());
  for (const auto& [key, value] : in.get_object()) {
    if (!value.is_string()) {
      // Quantities may be written as bare numbers.
      if (!value.is_number()) return std::unexpected(WrongKind("a string", value).error().During(key));
      out.Set(key, json::serialize(value));
      continue;
    }
    out.Set(key, View(value));
  }
  return {};
}

Result<> ReadField(const json::value& in, std::vector<std::pair<std::string, std::string>>& out) {
  if (!in.is_object()) return WrongKind("an object", in);
  for (const auto& [key, value] : in.get_object()) {
    if (!value.is_string()) return std::unexpected(WrongKind("a string", value).error().During(key));
    out.emplace_back(key, View(value));
  }
  return {};
}

Result<> ReadField(const json::value& in, RawJson& out) {
  out.text = json::serialize(in);
  out.text.shrink_to_fit();
  return {};
}

Result<> ReadField(const json::value& in, IntOrString& out) {
  if (in.is_string()) {
    out.text = Interned(View(in));
    return {};
  }
  return ReadField(in, out.number);
}

}  // namespace gpuop::kube
