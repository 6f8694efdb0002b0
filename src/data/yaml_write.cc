#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "data/utf8.h"
#include "data/yaml.h"
#include "data/yaml_scalar.h"

namespace gpuop::data {
namespace {

using std::string_view_literals::operator""sv;

/// Longer keys are written as "? key", since a reader looks no further than 1024 characters for a colon.
constexpr std::size_t kLongKey = 128;

enum class Style : std::uint8_t { kPlain, kSingle, kDouble, kLiteral };

/// Whether a character is written as it is: no controls but line feed, no line separators, no surrogates' room, nothing
/// beyond the basic plane.
bool IsPrintable(char32_t c) {
  return c == '\n' || (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0x2028) || (c > 0x2029 && c < 0xfeff) ||
         (c > 0xfeff && c < 0xfffe);
}

bool IsPrintable(std::string_view text) {
  while (!text.empty())
    if (!IsPrintable(TakeRune(text))) return false;
  return true;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Whether `text` would be taken for something else than one scalar in a block.
bool HasIndicators(std::string_view text) {
  if (text.starts_with("---") || text.starts_with("...")) return true;
  if (std::string_view("#,[]{}&*!|>'\"%@`").contains(text[0])) return true;
  if (std::string_view("?:-").contains(text[0]) && (text.size() == 1 || IsBlank(text[1]))) return true;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ':' && (i + 1 == text.size() || IsBlank(text[i + 1]))) return true;
    if (text[i] == '#' && IsBlank(text[i - 1])) return true;
  }
  return false;
}

Style StyleOf(std::string_view text, bool is_key) {
  if (text.empty() || ResolvePlain(text) || IsAmbiguousPlain(text)) return Style::kDouble;
  if (!IsPrintable(text)) return Style::kDouble;
  if (text.contains('\n')) {
    const bool block = !is_key && text.back() != ' ' && !text.contains(" \n");
    return block ? Style::kLiteral : Style::kDouble;
  }
  if (is_key && text == "<<") return Style::kDouble;
  if (text.front() == ' ' || text.back() == ' ' || HasIndicators(text)) return Style::kSingle;
  return Style::kPlain;
}

class Writer {
 public:
  std::string Take() && { return std::move(out_); }

  /// Writes `value` behind "key:" or "-" (`inline_first` when a map's first key may follow on the same line).
  void Value(const Json& value, int depth, bool in_list) {
    if (const JsonObject* object = value.if_object(); object != nullptr && !object->empty()) {
      Object(*object, depth, in_list);
    } else if (const JsonArray* array = value.if_array(); array != nullptr && !array->empty()) {
      Array(*array, depth, in_list);
    } else {
      out_ += ' ';
      Scalar(value, depth);
      out_ += '\n';
    }
  }

  void Document(const Json& value) {
    if (const JsonObject* object = value.if_object(); object != nullptr && !object->empty())
      return Members(*object, 0, false);
    if (const JsonArray* array = value.if_array(); array != nullptr && !array->empty()) return Items(*array, 0, false);
    Scalar(value, 0);
    out_ += '\n';
  }

 private:
  void Indent(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

  void Object(const JsonObject& object, int depth, bool in_list) {
    if (in_list) {
      out_ += ' ';
      Members(object, depth, true);
    } else {
      out_ += '\n';
      Members(object, depth, false);
    }
  }

  void Array(const JsonArray& array, int depth, bool in_list) {
    if (in_list) {
      out_ += ' ';
      Items(array, depth, true);
    } else {
      out_ += '\n';
      Items(array, depth - 1, false);  // a list stands at its key's level
    }
  }

  void Members(const JsonObject& object, int depth, bool first_inline) {
    for (const auto& member : object) {
      if (!std::exchange(first_inline, false)) Indent(depth);
      const bool is_long = member.key().size() > kLongKey;
      if (is_long) out_ += "? ";
      Text(member.key(), depth, true);
      if (is_long) {
        out_ += '\n';
        Indent(depth);
      }
      out_ += ':';
      Value(member.value(), depth + 1, false);
    }
  }

  void Items(const JsonArray& array, int depth, bool first_inline) {
    for (const Json& item : array) {
      if (!std::exchange(first_inline, false)) Indent(depth);
      out_ += '-';
      Value(item, depth + 1, true);
    }
  }

  void Scalar(const Json& value, int depth) {
    if (const auto* text = value.if_string()) {
      Text(AsView(*text), depth, false);
    } else {
      out_ += ToJson(value);
    }
  }

  void Text(std::string_view text, int depth, bool is_key) {
    switch (StyleOf(text, is_key)) {
      case Style::kPlain: out_ += text; return;
      case Style::kSingle: return Single(text);
      case Style::kDouble: return Double(text);
      case Style::kLiteral: return Literal(text, depth);
    }
  }

  void Single(std::string_view text) {
    out_ += '\'';
    for (const char c : text) out_.append(c == '\'' ? 2 : 1, c);
    out_ += '\'';
  }

  void Double(std::string_view text) {
    static constexpr std::string_view kShort = "\0\a\b\t\n\v\f\r\x1b\"\\"sv;
    static constexpr std::string_view kLetters = "0abtnvfre\"\\";
    out_ += '"';
    while (!text.empty()) {
      const char32_t c = TakeRune(text);
      const std::size_t at = c < 0x80 ? kShort.find(static_cast<char>(c)) : std::string_view::npos;
      if (at != std::string_view::npos) {
        out_.append({'\\', kLetters[at]});
      } else if (c == 0x2028 || c == 0x2029) {
        out_.append({'\\', c == 0x2028 ? 'L' : 'P'});
      } else if (IsPrintable(c)) {
        AppendRune(out_, c);
      } else {
        out_ += fmt::format(fmt::runtime(c < 0x100     ? "\\x{:02X}"
                                         : c < 0x10000 ? "\\u{:04X}"
                                                       : "\\U{:08X}"),
                            static_cast<std::uint32_t>(c));
      }
    }
    out_ += '"';
  }

  /// A block of lines; how it ends says how many line breaks the text ends with.
  void Literal(std::string_view text, int depth) {
    out_ += '|';
    if (text.front() == ' ' || text.front() == '\n') out_ += '2';  // the indentation cannot be seen from the first line
    if (text.back() != '\n') {
      out_ += '-';
    } else {
      text.remove_suffix(1);
      if (text.empty() || text.back() == '\n') out_ += '+';
    }
    for (const std::string_view line : Split(text, '\n')) {
      out_ += '\n';
      if (!line.empty()) Indent(std::max(depth, 1));
      out_ += line;
    }
  }

  std::string out_;
};

}  // namespace

std::string ToYaml(const Json& value) {
  Writer writer;
  writer.Document(value);
  return std::move(writer).Take();
}

}  // namespace gpuop::data
