#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "data/json.h"
#include "data/json_brief.h"

namespace gpuop::data {
namespace {

namespace bj = boost::json;
using bj::error_code;

/// Reads a number that is no int64. False when it is beyond a double's range.
bool ReadDouble(std::string_view text, double& out) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec == std::errc()) return true;
  // Too small is zero; only too large is an error.
  out = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(out);
}

/// What both passes share: unlimited sizes (the text itself is bounded) and strings that may come in parts.
struct HandlerLimits {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);
};

/// First pass: builds the document and counts members, so that duplicates show as a difference.
struct Builder : HandlerLimits {
  bj::value_stack stack;
  bj::storage_ptr memory;
  std::string number;
  std::size_t members = 0;

  bool on_document_begin(error_code&) {
    stack.reset(memory);
    return true;
  }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_object_end(std::size_t n, error_code&) {
    members += n;
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t n, error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(bj::string_view s, std::size_t, error_code&) {
    stack.push_chars(s);
    return true;
  }
  bool on_key(bj::string_view s, std::size_t, error_code&) {
    stack.push_key(s);
    return true;
  }
  bool on_string_part(bj::string_view s, std::size_t, error_code&) {
    stack.push_chars(s);
    return true;
  }
  bool on_string(bj::string_view s, std::size_t, error_code&) {
    stack.push_string(s);
    return true;
  }
  bool on_number_part(bj::string_view s, error_code&) {
    number.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, bj::string_view, error_code&) {
    number.clear();
    stack.push_int64(i);
    return true;
  }
  bool on_uint64(std::uint64_t u, bj::string_view s, error_code& ec) {
    if (u > static_cast<std::uint64_t>(INT64_MAX)) return on_double(0, s, ec);
    return on_int64(static_cast<std::int64_t>(u), s, ec);
  }
  bool on_double(double, bj::string_view s, error_code& ec) {
    number.append(s.data(), s.size());
    double d = 0;
    if (!ReadDouble(number, d)) {
      ec = bj::error::exponent_overflow;
      return false;
    }
    number.clear();
    stack.push_double(d);
    return true;
  }
  bool on_bool(bool b, error_code&) {
    stack.push_bool(b);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(bj::string_view, error_code&) { return true; }
  bool on_comment(bj::string_view, error_code&) { return true; }
};

/// Second pass, only when something is wrong: where are we, and which members come twice.
struct Locator : HandlerLimits {
  struct Level {
    bool is_object = false;
    std::size_t index = 0;
    std::string key;
    std::set<std::string, std::less<>> seen;
  };
  std::vector<Level> levels;
  std::string text;
  std::vector<std::string> duplicates;
  std::set<std::string, std::less<>> reported;

  std::string Where() const {
    std::string out;
    for (const Level& level : levels) {
      if (level.is_object) {
        if (!out.empty() && !level.key.empty()) out += '.';
        out += level.key;
      } else {
        out.append("[").append(std::to_string(level.index)).append("]");
      }
    }
    return out;
  }
  bool Done() {
    if (!levels.empty() && !levels.back().is_object) ++levels.back().index;
    return true;
  }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    levels.push_back({.is_object = true, .key = {}, .seen = {}});
    return true;
  }
  bool on_object_end(std::size_t, error_code&) {
    levels.pop_back();
    return Done();
  }
  bool on_array_begin(error_code&) {
    levels.push_back({.is_object = false, .key = {}, .seen = {}});
    return true;
  }
  bool on_array_end(std::size_t, error_code&) {
    levels.pop_back();
    return Done();
  }
  bool on_key_part(bj::string_view s, std::size_t, error_code&) {
    text.append(s.data(), s.size());
    return true;
  }
  bool on_key(bj::string_view s, std::size_t, error_code&) {
    text.append(s.data(), s.size());
    levels.back().key = text;
    if (!levels.back().seen.insert(text).second)
      if (std::string where = Where(); reported.insert(where).second) duplicates.push_back(std::move(where));
    text.clear();
    return true;
  }
  bool on_string_part(bj::string_view, std::size_t, error_code&) { return true; }
  bool on_string(bj::string_view, std::size_t, error_code&) { return Done(); }
  bool on_number_part(bj::string_view s, error_code&) {
    text.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t, bj::string_view, error_code&) {
    text.clear();
    return Done();
  }
  bool on_uint64(std::uint64_t, bj::string_view, error_code&) {
    text.clear();
    return Done();
  }
  bool on_double(double, bj::string_view s, error_code& ec) {
    text.append(s.data(), s.size());
    double d = 0;
    if (!ReadDouble(text, d)) {
      ec = bj::error::exponent_overflow;
      return false;
    }
    text.clear();
    return Done();
  }
  bool on_bool(bool, error_code&) { return Done(); }
  bool on_null(error_code&) { return Done(); }
  bool on_comment_part(bj::string_view, error_code&) { return true; }
  bool on_comment(bj::string_view, error_code&) { return true; }
};

/// Runs a parser over the whole text; `used` is how far it came.
template <class Handler>
error_code Run(bj::basic_parser<Handler>& parser, std::string_view text, std::size_t& used) {
  error_code ec;
  used = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) ec = bj::error::extra_data;
  return ec;
}

bj::parse_options Options(const JsonLimits& limits) {
  bj::parse_options options;
  options.max_depth = limits.max_depth;
  return options;
}

/// Boost's words are about its parser's grammar; these are about the text.
std::string_view Words(const error_code& ec) {
  static constexpr std::pair<bj::error, std::string_view> kWords[] = {
      {bj::error::incomplete, "the text ends too early"},
      {bj::error::extra_data, "something follows the document"},
      {bj::error::too_deep, "nested too deep"},
      {bj::error::exponent_overflow, "the number is out of range"},
      {bj::error::expected_hex_digit, "expected a hexadecimal digit"},
      {bj::error::illegal_leading_surrogate, "an unpaired surrogate"},
      {bj::error::illegal_trailing_surrogate, "an unpaired surrogate"},
      {bj::error::syntax, "unexpected character"},
  };
  for (const auto& [error, words] : kWords)
    if (ec == error) return words;
  return "unexpected character";
}

Error Describe(std::string_view text, const JsonLimits& limits) {
  bj::basic_parser<Locator> locator(Options(limits));
  std::size_t used = 0;
  const error_code ec = Run(locator, text, used);
  std::size_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < used; ++i) {
    if (text[i] != '\n') continue;
    ++line;
    line_start = i + 1;
  }
  std::string out = "line " + std::to_string(line) + ", column " + std::to_string(used - line_start + 1);
  if (const std::string where = locator.handler().Where(); !where.empty()) out += " (in " + where + ")";
  return {Code::kInvalid, out.append(": ").append(Words(ec))};
}

std::size_t CountMembers(const Json& value) {
  std::size_t n = 0;
  if (const JsonObject* object = value.if_object()) {
    n = object->size();
    for (const auto& member : *object) n += CountMembers(member.value());
  } else if (const JsonArray* array = value.if_array()) {
    for (const Json& item : *array) n += CountMembers(item);
  }
  return n;
}

Result<Json> Parse(std::string_view text, const JsonLimits& limits, std::size_t& members, bj::storage_ptr memory = {}) {
  if (text.size() > limits.max_bytes)
    return Fail(Code::kTooLarge,
                "document of " + std::to_string(text.size()) + " bytes exceeds " + std::to_string(limits.max_bytes));
  bj::basic_parser<Builder> parser(Options(limits));
  parser.handler().memory = std::move(memory);
  std::size_t used = 0;
  if (Run(parser, text, used)) return std::unexpected(Describe(text, limits));
  members = parser.handler().members;
  return parser.handler().stack.release();
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const JsonLimits& limits) {
  std::size_t members = 0;
  return Parse(text, limits, members);
}

Result<Json> ParseJsonBriefly(std::string_view text, const JsonLimits& limits) {
  std::size_t members = 0;
  return Parse(text, limits, members, bj::make_shared_resource<bj::monotonic_resource>());
}

Result<JsonWithDuplicates> ParseJsonFindingDuplicates(std::string_view text, const JsonLimits& limits) {
  std::size_t members = 0;
  ASSIGN(Json value, Parse(text, limits, members));
  JsonWithDuplicates out{std::move(value), {}};
  if (CountMembers(out.value) == members) return out;
  bj::basic_parser<Locator> locator(Options(limits));
  std::size_t used = 0;
  Run(locator, text, used);
  out.duplicates = std::move(locator.handler().duplicates);
  return out;
}

}  // namespace gpuop::data
