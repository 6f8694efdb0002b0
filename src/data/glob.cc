#include "data/glob.h"

#include "data/utf8.h"

namespace gpuop::data {
namespace {

/// A bound inside brackets; false when the pattern is malformed.
bool TakeBound(std::string_view& pattern, char32_t& out) {
  if (pattern.empty() || pattern[0] == '-' || pattern[0] == ']') return false;
  if (pattern[0] == '\\') {
    pattern.remove_prefix(1);
    if (pattern.empty()) return false;
  }
  out = TakeRune(pattern);
  return !pattern.empty();
}

/// Takes "[…]" off the pattern; `rune` is what it is to match (pass anything to check the syntax only).
bool TakeClass(std::string_view& pattern, char32_t rune, bool& matches) {
  pattern.remove_prefix(1);
  const bool negated = pattern.starts_with('^');
  if (negated) pattern.remove_prefix(1);
  bool found = false;
  for (bool first = true; first || !pattern.starts_with(']'); first = false) {
    char32_t low = 0;
    if (!TakeBound(pattern, low)) return false;
    char32_t high = low;
    if (pattern.starts_with('-')) {
      pattern.remove_prefix(1);
      if (!TakeBound(pattern, high)) return false;
    }
    found = found || (low <= rune && rune <= high);
  }
  pattern.remove_prefix(1);
  matches = found != negated;
  return true;
}

bool IsWellFormed(std::string_view pattern) {
  while (!pattern.empty()) {
    bool ignored = false;
    if (pattern[0] == '[') {
      if (!TakeClass(pattern, 0, ignored)) return false;
      continue;
    }
    const std::size_t n = pattern[0] == '\\' ? 2 : 1;
    if (pattern.size() < n) return false;
    pattern.remove_prefix(n);
  }
  return true;
}

/// Matches one element that is no star at the front of both; advances them.
bool MatchOne(std::string_view& pattern, std::string_view& name) {
  if (pattern[0] == '?' || pattern[0] == '[') {
    if (pattern[0] == '?' && name[0] == '/') return false;
    const char32_t rune = TakeRune(name);
    if (pattern[0] == '?') {
      pattern.remove_prefix(1);
      return true;
    }
    bool matches = false;
    return TakeClass(pattern, rune, matches) && matches;
  }
  if (pattern[0] == '\\') pattern.remove_prefix(1);
  if (pattern[0] != name[0]) return false;
  pattern.remove_prefix(1);
  name.remove_prefix(1);
  return true;
}

}  // namespace

Result<bool> MatchGlob(std::string_view pattern, std::string_view name) {
  if (!IsWellFormed(pattern)) return Fail(Code::kInvalid, "syntax error in pattern");
  // Only the last star needs another try: an earlier one that takes more cannot help.
  bool starred = false;
  std::string_view star_pattern;
  std::string_view star_name;
  while (!pattern.empty() || !name.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      starred = true;
      star_pattern = pattern;
      star_name = name;
      continue;
    }
    if (!pattern.empty() && !name.empty() && MatchOne(pattern, name)) continue;
    if (!starred || star_name.empty() || star_name[0] == '/') return false;
    star_name.remove_prefix(1);
    pattern = star_pattern;
    name = star_name;
  }
  return true;
}

bool MatchWildcard(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace gpuop::data
