#pragma once
// Small words for defaulting: look at a member, set it when it is missing.

#include <boost/json.hpp>
#include <string_view>

namespace gpuop::sim::types {

using Object = boost::json::object;

/// Absent, null, or an empty text: what Go's zero value looks like after Conform.
inline bool Missing(const Object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  return value == nullptr || value->is_null() || (value->is_string() && value->get_string().empty());
}

inline void SetIfMissing(Object& object, std::string_view name, boost::json::value value) {
  if (Missing(object, name)) object[name] = std::move(value);
}

/// The member as an object; null when it is absent or something else.
inline Object* ObjectAt(Object& object, std::string_view name) {
  boost::json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}
inline const Object* ObjectAt(const Object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

/// The member, made an empty object when it is missing.
inline Object& ObjectMade(Object& object, std::string_view name) {
  boost::json::value& value = object[name];
  if (!value.is_object()) value = Object();
  return value.get_object();
}

inline std::string_view TextAt(const Object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

inline bool TrueAt(const Object& object, std::string_view name) {
  const boost::json::value* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

/// Calls `visit` with each object of the list `name`.
template <class Visit>
void EachAt(Object& object, std::string_view name, Visit visit) {
  boost::json::value* list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return;
  for (boost::json::value& element : list->get_array())
    if (element.is_object()) visit(element.get_object());
}
template <class Visit>
void EachAt(const Object& object, std::string_view name, Visit visit) {
  const boost::json::value* list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return;
  for (const boost::json::value& element : list->get_array())
    if (element.is_object()) visit(element.get_object());
}

}  // namespace gpuop::sim::types
