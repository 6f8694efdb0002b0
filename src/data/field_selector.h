#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::data {

/// Which objects are meant, by a few of their fields ("spec.nodeName=n1,status.phase!=Failed"). A default one matches
/// everything.
class FieldSelector {
 public:
  struct Term {
    std::string field, value;
    bool equal = true;
    bool operator==(const Term&) const = default;
  };

  FieldSelector() = default;
  explicit FieldSelector(std::vector<Term> terms) : terms_(std::move(terms)) {}

  /// Operators =, == and !=; a backslash escapes , = and itself in values. Errors (kInvalid) are the API server's.
  static Result<FieldSelector> Parse(std::string_view text);

  /// `lookup(field)` gives the field's text; an absent field is the empty text.
  template <class Lookup>
  bool MatchesBy(const Lookup& lookup) const {
    return std::ranges::all_of(terms_, [&](const Term& t) { return (lookup(t.field) == t.value) == t.equal; });
  }
  bool Everything() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }
  /// The value that `field` must be equal to; null when the selector does not ask for one.
  const std::string* Exact(std::string_view field) const;
  std::string ToString() const;
  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<Term> terms_;
};

}  // namespace gpuop::data
