#include "sim/peek.h"

namespace gpuop::sim {

namespace json = boost::json;

const json::value* Peek(const json::object& from, PeekPath path) {
  const json::object* in = &from;
  const json::value* at = nullptr;
  for (std::string_view step : path) {
    if (in == nullptr) return nullptr;
    at = in->if_contains(step);
    if (at == nullptr || at->is_null()) return nullptr;
    in = at->if_object();
  }
  return at;
}

const json::value* Peek(const json::value& from, PeekPath path) {
  if (path.size() == 0) return from.is_null() ? nullptr : &from;
  return Peek(AsObject(&from), path);
}

const json::object& AsObject(const json::value* v) {
  static const json::object kEmpty;
  return v != nullptr && v->is_object() ? v->get_object() : kEmpty;
}

const json::array& AsArray(const json::value* v) {
  static const json::array kEmpty;
  return v != nullptr && v->is_array() ? v->get_array() : kEmpty;
}

std::string_view AsString(const json::value* v) {
  return v != nullptr && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

std::int64_t AsInt(const json::value* v, std::int64_t absent) {
  if (v == nullptr) return absent;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64()) return static_cast<std::int64_t>(v->get_uint64());
  if (v->is_double()) return static_cast<std::int64_t>(v->get_double());
  return absent;
}

bool AsBool(const json::value* v, bool absent) { return v != nullptr && v->is_bool() ? v->get_bool() : absent; }

json::object& Ensure(json::object& in, PeekPath path) {
  json::object* at = &in;
  for (std::string_view step : path) {
    json::value& next = (*at)[step];
    if (!next.is_object()) next.emplace_object();
    at = &next.get_object();
  }
  return *at;
}

}  // namespace gpuop::sim
