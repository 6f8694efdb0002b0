#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::data {

/// One condition on one label.
struct LabelRequirement {
  enum class Op : std::uint8_t {
    kIn,
    kNotIn,
    kEquals,
    kDoubleEquals,
    kNotEquals,
    kExists,
    kDoesNotExist,
    kGreater,
    kLess
  };

  std::string key;
  Op op = Op::kExists;
  /// Sorted, each once.
  std::vector<std::string> values;

  /// `value` is the label's, nullopt when the object does not carry it.
  bool Matches(std::optional<std::string_view> value) const;
  std::string ToString() const;
  bool operator==(const LabelRequirement&) const = default;
};

/// Which objects are meant, by their labels: all requirements must hold. A default one matches everything.
class LabelSelector {
 public:
  LabelSelector() = default;

  /// The query parameter's form: "a=b,c!=d,e in (f,g),h notin (i),j,!k,l>5". Errors (kInvalid) are the API server's.
  static Result<LabelSelector> Parse(std::string_view text);
  /// metav1.LabelSelector: {matchLabels, matchExpressions}. An empty object matches everything; null, or absent,
  /// matches nothing, as Kubernetes has it for workloads.
  static Result<LabelSelector> FromJson(const Json* selector);
  /// Labels that must all be equal.
  static LabelSelector Of(const std::map<std::string, std::string>& labels);
  static LabelSelector Nothing();

  /// `lookup(key)` gives the label's value as optional<string_view>.
  template <class Lookup>
  bool MatchesBy(const Lookup& lookup) const {
    return !nothing_ && std::ranges::all_of(requirements_, [&](const auto& r) { return r.Matches(lookup(r.key)); });
  }
  /// `labels` is an object's metadata.labels; null when it has none.
  bool Matches(const JsonObject* labels) const;
  bool Matches(const std::map<std::string, std::string>& labels) const;

  bool Everything() const { return !nothing_ && requirements_.empty(); }
  /// Sorted by key.
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }
  /// The canonical text: Parse of it gives an equal selector. Nothing() is "" too, and cannot be read back.
  std::string ToString() const;
  bool operator==(const LabelSelector&) const = default;

 private:
  explicit LabelSelector(std::vector<LabelRequirement> requirements);

  std::vector<LabelRequirement> requirements_;
  bool nothing_ = false;
};

}  // namespace gpuop::data
