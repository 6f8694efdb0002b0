#include "data/cel/text_functions.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "data/regex.h"
#include "data/utf8.h"

namespace gpuop::data::cel {
namespace {

/// Texts that functions make stay within this.
constexpr std::size_t kMaxText = 16U << 20U;

/// The byte where character `at` begins; the text's size for its end; nullopt beyond.
std::optional<std::size_t> ByteOf(std::string_view text, std::int64_t at) {
  if (at < 0) return std::nullopt;
  std::string_view rest = text;
  for (; at > 0; --at) {
    if (rest.empty()) return std::nullopt;
    TakeRune(rest);
  }
  return text.size() - rest.size();
}

std::unexpected<Error> OutOfRange(std::int64_t at) {
  return Fail(Code::kInvalid, "index out of range: " + std::to_string(at));
}

Value CharacterIndex(std::string_view text, std::size_t byte) {
  if (byte == std::string_view::npos) return Value::OfInt(-1);
  return Value::OfInt(static_cast<std::int64_t>(CountRunes(text.substr(0, byte))));
}

/// One verb of a format and the value for it.
Result<std::string> FormatOne(char verb, int precision, const Value& value) {
  if (verb == 's') {
    const auto* text = value.As<std::string>();
    return text != nullptr ? *text : ToJson(value.ToJson());
  }
  if (verb == 'f' || verb == 'e') {
    if (!value.IsNumber()) return Fail(Code::kInvalid, "no such overload");
    const double number = value.ToJson().to_number<double>();
    return verb == 'f' ? fmt::format("{:.{}f}", number, precision) : fmt::format("{:.{}e}", number, precision);
  }
  const auto* number = value.As<std::int64_t>();
  if (number == nullptr) return Fail(Code::kInvalid, "no such overload");
  switch (verb) {
    case 'd': return std::to_string(*number);
    case 'x': return fmt::format("{:x}", *number);
    case 'X': return fmt::format("{:X}", *number);
    case 'b': return fmt::format("{:b}", *number);
    case 'o': return fmt::format("{:o}", *number);
    default: return Fail(Code::kInvalid, "unrecognized formatting clause \"" + std::string(1, verb) + "\"");
  }
}

}  // namespace

Result<Value> Matches(const std::string& text, const std::string& pattern) {
  ASSIGN(const Regex regex, Regex::Compile(pattern));
  return Value::OfBool(regex.Search(text));
}

Result<Value> FindMatch(const std::string& text, const std::string& pattern) {
  ASSIGN(const Regex regex, Regex::Compile(pattern));
  return Value::OfText(std::string(regex.Find(text).value_or("")));
}

Result<Value> Substring(const std::string& text, std::int64_t from, std::optional<std::int64_t> to) {
  const auto start = ByteOf(text, from);
  if (!start) return OutOfRange(from);
  if (!to) return Value::OfText(text.substr(*start));
  const auto end = ByteOf(text, *to);
  if (!end) return OutOfRange(*to);
  if (*end < *start)
    return Fail(Code::kInvalid,
                "invalid substring range. start: " + std::to_string(from) + ", end: " + std::to_string(*to));
  return Value::OfText(text.substr(*start, *end - *start));
}

Result<Value> CharAt(const std::string& text, std::int64_t at) {
  const auto start = ByteOf(text, at);
  if (!start) return OutOfRange(at);
  std::string_view rest = std::string_view(text).substr(*start);
  const std::size_t before = rest.size();
  if (!rest.empty()) TakeRune(rest);
  return Value::OfText(text.substr(*start, before - rest.size()));
}

Result<Value> IndexOf(const std::string& text, const std::string& part, std::int64_t from) {
  const auto start = ByteOf(text, from);
  if (!start) return OutOfRange(from);
  return CharacterIndex(text, text.find(part, *start));
}

Result<Value> LastIndexOf(const std::string& text, const std::string& part) {
  return CharacterIndex(text, text.rfind(part));
}

Result<Value> SplitText(const std::string& text, const std::string& separator, std::int64_t limit) {
  List out;
  std::string_view rest = text;
  if (limit == 0) return Value::OfList({});
  while (limit < 0 || static_cast<std::int64_t>(out.size()) + 1 < limit) {
    std::size_t at = rest.find(separator);
    std::size_t length = separator.size();
    if (separator.empty()) {
      std::string_view next = rest;
      if (!next.empty()) TakeRune(next);
      at = next.empty() ? std::string_view::npos : rest.size() - next.size();
      length = 0;
    }
    if (at == std::string_view::npos) break;
    out.push_back(Value::OfText(std::string(rest.substr(0, at))));
    rest.remove_prefix(at + length);
  }
  if (!rest.empty() || !separator.empty()) out.push_back(Value::OfText(std::string(rest)));
  return Value::OfList(std::move(out));
}

Result<Value> Replace(const std::string& text, const std::string& from, const std::string& to, std::int64_t limit) {
  std::string out;
  std::string_view rest = text;
  for (; limit != 0 && !rest.empty(); --limit) {
    const std::size_t at = from.empty() ? 0 : rest.find(from);
    if (at == std::string_view::npos) break;
    out.append(rest.substr(0, at)).append(to);
    rest.remove_prefix(at + from.size());
    if (from.empty()) {
      out += rest[0];
      rest.remove_prefix(1);
    }
    if (out.size() > kMaxText) return Fail(Code::kTooLarge, "operation cancelled: actual cost limit exceeded");
  }
  return Value::OfText(out.append(rest));
}

Result<Value> JoinTexts(const Value& list, const std::string& separator) {
  if (!list.IsList()) return NoOverload();
  std::string out;
  for (std::size_t i = 0; i < *list.Size(); ++i) {
    const Value item = list.Item(i);
    const auto* text = item.As<std::string>();
    if (text == nullptr) return NoOverload();
    if (i > 0) out += separator;
    out += *text;
    if (out.size() > kMaxText) return Fail(Code::kTooLarge, "operation cancelled: actual cost limit exceeded");
  }
  return Value::OfText(std::move(out));
}

Result<Value> FormatText(const std::string& format, const Value& args) {
  if (!args.IsList()) return NoOverload();
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    if (++i < format.size() && format[i] == '%') {
      out += '%';
      continue;
    }
    int precision = 6;
    if (i < format.size() && format[i] == '.') {
      precision = 0;
      while (++i < format.size() && format[i] >= '0' && format[i] <= '9')
        precision = std::min(precision * 10 + (format[i] - '0'), 100);
    }
    if (i >= format.size()) return Fail(Code::kInvalid, "unexpected end of string");
    if (next >= *args.Size()) return Fail(Code::kInvalid, "index " + std::to_string(next) + " out of range");
    ASSIGN(const std::string part, FormatOne(format[i], precision, args.Item(next++)));
    out += part;
  }
  return Value::OfText(std::move(out));
}

}  // namespace gpuop::data::cel
