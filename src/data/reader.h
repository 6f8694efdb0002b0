#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/field.h"
#include "data/path.h"

namespace gpuop::data {

/// Reads objects into types that describe themselves (data/field.h). The first error wins; unknown fields are gathered.
class Reader {
 public:
  Reader(const JsonObject& in, const Path& path, Result<>& status, std::vector<std::string>* unknown)
      : in_(in), path_(path), status_(status), unknown_(unknown) {}
  /// Gathers the fields that no call named.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Reads `field` if the object has it; an absent or null one keeps its value.
  template <class T>
  void operator()(std::string_view name, T& field, const FieldRules& rules = {}) {
    const Path here = path_.Child(name);
    if (const Json* value = Take(name, here, rules)) Read(*value, field, here);
  }

  /// Reads a value of any kind; see ReadAs.
  template <class T>
  static Result<T> Whole(const Json& in, std::vector<std::string>* unknown, std::string_view root) {
    const JsonObject nothing;
    Result<> status;
    const Path path(root);
    T out{};
    Reader(nothing, path, status, unknown).Read(in, out, path);
    if (!status) return std::unexpected(std::move(status).error());
    return out;
  }

 private:
  /// The member, checked against the rules; null when there is nothing to read.
  const Json* Take(std::string_view name, const Path& here, const FieldRules& rules);
  void Expected(const Path& here, std::string_view what, const Json& got);

  void Read(const Json& in, std::string& out, const Path& here);
  void Read(const Json& in, bool& out, const Path& here);
  void Read(const Json& in, double& out, const Path& here);
  void Read(const Json& in, Json& out, const Path& here);
  void Read(const Json& in, Quantity& out, const Path& here);
  void Read(const Json& in, IntOrString& out, const Path& here);
  void Read(const Json& in, Duration& out, const Path& here);
  std::int64_t ReadInteger(const Json& in, std::int64_t least, std::int64_t most, const Path& here);
  void UnknownName(const Path& here, std::string_view got, const std::vector<std::string>& names);

  template <class T>
  void Read(const Json& in, T& out, const Path& here) {
    if constexpr (std::integral<T>) {
      constexpr auto kMost = std::numeric_limits<T>::max();
      const std::int64_t most = std::cmp_less(kMost, INT64_MAX) ? static_cast<std::int64_t>(kMost) : INT64_MAX;
      out = static_cast<T>(ReadInteger(in, static_cast<std::int64_t>(std::numeric_limits<T>::min()), most, here));
    } else if constexpr (kIsOptional<T>) {
      Read(in, out.emplace(), here);
    } else if constexpr (kIsVector<T>) {
      const JsonArray* array = in.if_array();
      if (array == nullptr) return Expected(here, "an array", in);
      out.clear();
      for (std::size_t i = 0; i < array->size(); ++i) Read((*array)[i], out.emplace_back(), here.Index(i));
    } else if constexpr (kIsMap<T>) {
      const JsonObject* object = in.if_object();
      if (object == nullptr) return Expected(here, "an object", in);
      out.clear();
      for (const auto& member : *object) Read(member.value(), out[std::string(member.key())], here.Key(member.key()));
    } else if constexpr (NamedEnum<T>) {
      std::string name;
      Read(in, name, here);
      std::vector<std::string> names;
      for (const auto& candidate : NamesOf(T{})) {
        if (candidate.name == name) {
          out = candidate.value;
          return;
        }
        names.emplace_back(candidate.name);
      }
      UnknownName(here, name, names);
    } else {
      static_assert(Visited<T, Reader>, "the type needs a Visit");
      const JsonObject* object = in.if_object();
      if (object == nullptr) return Expected(here, "an object", in);
      Reader inner(*object, here, status_, unknown_);
      out.Visit(inner);
    }
  }

  const JsonObject& in_;
  const Path& path_;
  Result<>& status_;
  std::vector<std::string>* const unknown_;
  std::vector<std::string_view> names_;
};

/// Reads a whole value. kInvalid names the first field that is wrong by its path:
/// "spec.template.spec.containers[2].image: expected a string, got a number". Fields that T does not know are passed
/// over, and their paths appended to `unknown` if it is given. `root` stands before all paths.
template <class T>
Result<T> ReadAs(const Json& in, std::vector<std::string>* unknown = nullptr, std::string_view root = {}) {
  return Reader::Whole<T>(in, unknown, root);
}

}  // namespace gpuop::data
