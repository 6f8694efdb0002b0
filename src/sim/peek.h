#pragma once
// Reading JSON without ceremony: what is absent or of another type reads as empty.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace gpuop::sim {

using PeekPath = std::initializer_list<std::string_view>;

/// What stands at `path` below `from`, or null. A JSON null counts as absent.
const boost::json::value* Peek(const boost::json::object& from, PeekPath path);
const boost::json::value* Peek(const boost::json::value& from, PeekPath path);

/// The value itself, as far as it has the type; otherwise what is empty (it lives for ever).
const boost::json::object& AsObject(const boost::json::value* v);
const boost::json::array& AsArray(const boost::json::value* v);
std::string_view AsString(const boost::json::value* v);
std::int64_t AsInt(const boost::json::value* v, std::int64_t absent = 0);
bool AsBool(const boost::json::value* v, bool absent = false);

inline const boost::json::object& AsObject(const boost::json::value& v) { return AsObject(&v); }
inline std::string_view AsString(const boost::json::value& v) { return AsString(&v); }

template <class From>
const boost::json::object& PeekObject(const From& from, PeekPath path) {
  return AsObject(Peek(from, path));
}
template <class From>
const boost::json::array& PeekArray(const From& from, PeekPath path) {
  return AsArray(Peek(from, path));
}
template <class From>
std::string_view PeekString(const From& from, PeekPath path) {
  return AsString(Peek(from, path));
}
template <class From>
std::int64_t PeekInt(const From& from, PeekPath path, std::int64_t absent = 0) {
  return AsInt(Peek(from, path), absent);
}
template <class From>
bool PeekBool(const From& from, PeekPath path, bool absent = false) {
  return AsBool(Peek(from, path), absent);
}

/// The object at `path`, made with everything on the way to it; what is no object there is replaced.
boost::json::object& Ensure(boost::json::object& in, PeekPath path);

}  // namespace gpuop::sim
