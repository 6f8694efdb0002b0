#pragma once
// From a JSON tree to a compact type. A type lists its fields in `Visit`; what it does not list is passed over, what is
// absent or null keeps its default, and what is ill-typed is an error that names the field's path.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interned.h"
#include "base/result.h"
#include "kube/string_map.h"

namespace gpuop::kube {

/// A part that is carried and not looked into (a pod template, an affinity), as compact JSON text. Empty: absent.
struct RawJson {
  std::string text;
  bool operator==(const RawJson&) const = default;
};

/// A number or a percentage ("25%"), as maxUnavailable is.
struct IntOrString {
  std::int64_t number = 0;
  Interned text;  ///< empty when it is a number
  bool operator==(const IntOrString&) const = default;
};

Result<> ReadField(const boost::json::value& in, std::string& out);
Result<> ReadField(const boost::json::value& in, Interned& out);
Result<> ReadField(const boost::json::value& in, bool& out);
Result<> ReadField(const boost::json::value& in, std::int64_t& out);
Result<> ReadField(const boost::json::value& in, std::int32_t& out);
Result<> ReadField(const boost::json::value& in, WallTime& out);
Result<> ReadField(const boost::json::value& in, StringMap& out);
/// A map whose values are long or unique, in the order they came.
Result<> ReadField(const boost::json::value& in, std::vector<std::pair<std::string, std::string>>& out);
Result<> ReadField(const boost::json::value& in, RawJson& out);
Result<> ReadField(const boost::json::value& in, IntOrString& out);

/// "expected a string, got a number".
std::unexpected<Error> WrongKind(std::string_view expected, const boost::json::value& got);

/// The visitor that reads.
class FieldReader {
 public:
  explicit FieldReader(const boost::json::object& in) : in_(in) {}

  template <class T>
  void operator()(std::string_view name, T& field);

  Result<> status() && { return std::move(status_); }

 private:
  const boost::json::object& in_;
  Result<> status_;
};

template <class T>
concept Visitable = requires(T& t, FieldReader& r) { t.Visit(r); };

template <class T>
Result<> ReadField(const boost::json::value& in, std::optional<T>& out);
template <class T>
Result<> ReadField(const boost::json::value& in, std::vector<T>& out);

template <Visitable T>
Result<> ReadField(const boost::json::value& in, T& out) {
  if (!in.is_object()) return WrongKind("an object", in);
  FieldReader reader(in.get_object());
  out.Visit(reader);
  return std::move(reader).status();
}

template <class T>
Result<> ReadField(const boost::json::value& in, std::optional<T>& out) {
  return ReadField(in, out.emplace());
}

template <class T>
Result<> ReadField(const boost::json::value& in, std::vector<T>& out) {
  if (!in.is_array()) return WrongKind("a list", in);
  out.reserve(in.get_array().size());
  for (const boost::json::value& item : in.get_array()) {
    if (auto r = ReadField(item, out.emplace_back()); !r)
      return std::unexpected(std::move(r).error().During("[" + std::to_string(out.size() - 1) + "]"));
  }
  return {};
}

template <class T>
void FieldReader::operator()(std::string_view name, T& field) {
  if (!status_) return;
  const boost::json::value* v = in_.if_contains(name);
  if (v == nullptr || v->is_null()) return;
  if (auto r = ReadField(*v, field); !r) status_ = std::unexpected(std::move(r).error().During(name));
}

/// Reads a whole object: by the type's `Visit`, or its own `FromJson`. kInvalid names the field: "spec: taints: [0]:
/// key: expected a string, got a number".
template <class T>
Result<T> Decode(const boost::json::object& in) {
  if constexpr (requires { T::FromJson(in); }) {
    return T::FromJson(in);
  } else {
    T out;
    FieldReader reader(in);
    out.Visit(reader);
    TRY(std::move(reader).status());
    return out;
  }
}

}  // namespace gpuop::kube
