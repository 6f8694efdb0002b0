#include "data/toml/scan.h"

#include <algorithm>

#include "base/ascii.h"

namespace gpuop::data {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsBare(char c) { return IsAlphanumeric(c) || c == '_' || c == '-'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<std::vector<TomlStatement>> Run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      SkipBlanks();
      if (AtLineEnd() || Peek() == '#') {
        SkipLine();
        continue;
      }
      TomlStatement statement{.begin = begin, .indent_end = at_};
      TRY(Peek() == '[' ? Header(statement) : Value(statement));
      SkipBlanks();
      if (!AtLineEnd() && Peek() != '#') return Bad("expected the end of the line");
      SkipLine();
      statement.end = at_;
      if (statement.kind != TomlStatement::Kind::kValue) section_ = out_.size();
      out_.push_back(std::move(statement));
    }
    return std::move(out_);
  }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool AtLineEnd() const { return at_ >= text_.size() || Peek() == '\n' || (Peek() == '\r' && Peek(1) == '\n'); }
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  void SkipLine() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }
  std::unexpected<Error> Bad(std::string_view why) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    return Fail(Code::kInvalid, "toml: line " + std::to_string(line) + ": " + std::string(why));
  }

  Result<> Header(TomlStatement& statement) {
    const bool array = Peek(1) == '[';
    at_ += array ? 2 : 1;
    TRY(Key(statement.path));
    if (Peek() != ']' || (array && Peek(1) != ']')) return Bad("expected ]");
    at_ += array ? 2 : 1;
    statement.kind = array ? TomlStatement::Kind::kArrayHeader : TomlStatement::Kind::kHeader;
    return {};
  }

  Result<> Value(TomlStatement& statement) {
    statement.section = section_;
    if (section_ != std::string_view::npos) statement.path = out_[section_].path;
    statement.section_size = statement.path.size();
    TRY(Key(statement.path));
    if (Peek() != '=') return Bad("expected =");
    ++at_;
    SkipBlanks();
    statement.value_begin = at_;
    TRY(SkipValue(0));
    statement.value_end = at_;
    return {};
  }

  /// Dotted names, up to the character behind them.
  Result<> Key(TomlPath& path) {
    for (;;) {
      SkipBlanks();
      if (path.size() >= kTomlDepth) return Fail(Code::kTooLarge, "toml: a key has too many parts");
      TRY(KeyPart(path.emplace_back()));
      SkipBlanks();
      if (Peek() != '.') return {};
      ++at_;
    }
  }

  Result<> KeyPart(std::string& part) {
    if (Peek() == '"' || Peek() == '\'') {
      const std::size_t begin = at_;
      TRY(SkipString());
      return Unquote(text_.substr(begin, at_ - begin), part);
    }
    while (at_ < text_.size() && IsBare(text_[at_])) part += text_[at_++];
    if (part.empty()) return Bad("expected a key");
    return {};
  }

  /// Keys with escapes that are more than \" and \\ are left to people.
  Result<> Unquote(std::string_view quoted, std::string& part) const {
    if (quoted.size() < 2) return Bad("expected a key");
    const bool literal = quoted[0] == '\'';
    quoted = quoted.substr(1, quoted.size() - 2);
    for (std::size_t i = 0; i < quoted.size(); ++i) {
      if (!literal && quoted[i] == '\\') {
        ++i;
        if (i >= quoted.size() || (quoted[i] != '"' && quoted[i] != '\\'))
          return Bad("an escape in a key is not supported");
      }
      part += quoted[i];
    }
    return {};
  }

  Result<> SkipString() {
    const char quote = Peek();
    const std::string three(3, quote);
    const bool multiline = text_.substr(at_, 3) == three;
    at_ += multiline ? 3 : 1;
    while (at_ < text_.size()) {
      if (multiline && text_.substr(at_, 3) == three) {
        at_ += 3;
        // Up to two more quotes may belong to the text before the end.
        for (int more = 0; more < 2 && Peek() == quote; ++more) ++at_;
        return {};
      }
      if (!multiline && Peek() == quote) {
        ++at_;
        return {};
      }
      if (!multiline && Peek() == '\n') return Bad("a text does not end on its line");
      if (quote == '"' && Peek() == '\\') ++at_;
      ++at_;
    }
    at_ = text_.size();
    return Bad("a text does not end");
  }

  /// Blanks, line breaks and comments inside an array.
  void SkipSpace() {
    while (at_ < text_.size()) {
      if (IsBlank(Peek()) || Peek() == '\n' || Peek() == '\r')
        ++at_;
      else if (Peek() == '#')
        SkipLine();
      else
        return;
    }
  }

  Result<> SkipValue(std::size_t depth) {
    if (depth > kTomlDepth) return Fail(Code::kTooLarge, "toml: values are nested too deep");
    switch (Peek()) {
      case '"':
      case '\'': return SkipString();
      case '[': return SkipList(']', depth);
      case '{': return SkipList('}', depth);
      default: break;
    }
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find_first_of(",]}#\r\n", at_), text_.size());
    at_ = end;
    while (at_ > begin && IsBlank(text_[at_ - 1])) --at_;
    if (at_ == begin) return Bad("expected a value");
    return {};
  }

  Result<> SkipList(char close, std::size_t depth) {
    ++at_;
    for (;;) {
      SkipSpace();
      if (Peek() == close) {
        ++at_;
        return {};
      }
      if (close == '}') {
        TomlPath ignored;
        TRY(Key(ignored));
        if (Peek() != '=') return Bad("expected =");
        ++at_;
        SkipBlanks();
      }
      TRY(SkipValue(depth + 1));
      SkipSpace();
      if (Peek() == ',')
        ++at_;
      else if (Peek() != close)
        return Bad(std::string("expected , or ") + close);
    }
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t section_ = std::string_view::npos;
  std::vector<TomlStatement> out_;
};

}  // namespace

Result<std::vector<TomlStatement>> ScanToml(std::string_view text) {
  if (text.size() > kTomlLimit) return Fail(Code::kTooLarge, "toml: longer than 4 MiB");
  return Scanner(text).Run();
}

}  // namespace gpuop::data
