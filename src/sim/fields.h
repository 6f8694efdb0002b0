#pragma once
// Short ways to read and make members of an object.

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "data/json.h"

namespace gpuop::sim {

/// The text at a dotted path; empty when there is none.
inline std::string_view TextAt(const boost::json::object& o, std::string_view path) {
  const boost::json::value* v = data::Find(o, path);
  return v != nullptr && v->is_string() ? data::AsView(v->get_string()) : std::string_view();
}

/// The whole number at a dotted path.
inline std::optional<std::int64_t> IntAt(const boost::json::object& o, std::string_view path) {
  const boost::json::value* v = data::Find(o, path);
  return v != nullptr && v->is_int64() ? std::optional(v->get_int64()) : std::nullopt;
}

inline const boost::json::object* ObjectAt(const boost::json::object& o, std::string_view path) {
  const boost::json::value* v = data::Find(o, path);
  return v == nullptr ? nullptr : v->if_object();
}

inline const boost::json::array* ArrayAt(const boost::json::object& o, std::string_view path) {
  const boost::json::value* v = data::Find(o, path);
  return v == nullptr ? nullptr : v->if_array();
}

/// The member as an object, made one unless it is.
inline boost::json::object& Child(boost::json::object& o, std::string_view name) {
  boost::json::value& v = o[name];
  if (!v.is_object()) v.emplace_object();
  return v.get_object();
}

/// Makes `field` of `o` what it is in `from`: absent when it is absent there.
inline void CopyField(boost::json::object& o, const boost::json::object& from, std::string_view field) {
  if (const boost::json::value* v = from.if_contains(field))
    o[field] = *v;
  else
    o.erase(field);
}

/// Equality by meaning, where an absent array, object or value is equal to an absent one only.
inline bool SameField(const boost::json::object& a, const boost::json::object& b, std::string_view field) {
  const boost::json::value *x = a.if_contains(field), *y = b.if_contains(field);
  return x == nullptr || y == nullptr ? x == y : data::JsonEqual(*x, *y);
}

}  // namespace gpuop::sim
