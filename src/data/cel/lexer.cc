#include "data/cel/lexer.h"

#include <charconv>

#include "base/ascii.h"
#include "base/text.h"
#include "data/utf8.h"

namespace gpuop::data::cel {
namespace {

bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }

}  // namespace

std::unexpected<Error> ErrorAt(std::string_view text, std::size_t at, std::string_view what) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(start), '\n') + 1;
  const std::string_view source = text.substr(start, std::min(text.find('\n', start), text.size()) - start);
  std::string out = "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(at - start + 1) + ": ";
  out.append(what).append("\n | ").append(source).append("\n | ").append(at - start, '.').append("^");
  return Fail(Code::kInvalid, std::move(out));
}

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    if (std::string_view(" \t\r\n\f").contains(text_[at_])) {
      ++at_;
    } else if (Rest().starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

Result<Token> Lexer::Next() {
  SkipBlanks();
  Token token;
  token.at = at_;
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  if (IsDigit(c) || (c == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]))) return Number();
  // r"…", b"…", rb"…" and plain quotes.
  std::size_t prefix = 0;
  while (prefix < 2 && at_ + prefix < text_.size() && std::string_view("rRbB").contains(text_[at_ + prefix])) ++prefix;
  if (at_ + prefix < text_.size() && (text_[at_ + prefix] == '"' || text_[at_ + prefix] == '\'')) {
    const std::string kind = ToLower(text_.substr(at_, prefix));
    at_ += prefix;
    return Text(kind.contains('r'), kind.contains('b'));
  }
  return IsNameStart(c) || c == '`' ? Name() : Symbol();
}

Result<Token> Lexer::Name() {
  Token token{Token::Kind::kName, {}, {}, at_};
  if (text_[at_] == '`') {
    const std::size_t end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) return ErrorAt(text_, at_, "Syntax error: unterminated quoted name");
    token.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return token;
  }
  std::size_t end = at_;
  while (end < text_.size() && (IsNameStart(text_[end]) || IsDigit(text_[end]))) ++end;
  token.text = text_.substr(at_, end - at_);
  at_ = end;
  return token;
}

Result<Token> Lexer::Symbol() {
  Token token{Token::Kind::kSymbol, {}, {}, at_};
  const char c = text_[at_];
  for (const std::string_view symbol : {"&&", "||", "==", "!=", "<=", ">=", ".?", "[?"})
    if (Rest().starts_with(symbol)) token.text = symbol;
  if (token.text.empty()) {
    if (!std::string_view("()[]{}.,:?!<>+-*/%").contains(c))
      return ErrorAt(text_, at_, "Syntax error: token recognition error at: '" + std::string(1, c) + "'");
    token.text = c;
  }
  at_ += token.text.size();
  return token;
}

Result<Token> Lexer::Number() {
  Token token{Token::Kind::kLiteral, {}, {}, at_};
  const std::string_view rest = Rest();
  const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
  const std::string_view digits = hex ? rest.substr(2) : rest;
  const char* end_of_text = digits.data() + digits.size();
  std::uint64_t whole = 0;
  auto [end, ec] = std::from_chars(digits.data(), end_of_text, whole, hex ? 16 : 10);
  const bool fraction = !hex && end != end_of_text && (*end == '.' || *end == 'e' || *end == 'E') &&
                        (*end != '.' || (end + 1 != end_of_text && IsDigit(end[1])));
  if (fraction) {
    double number = 0;
    const auto parsed = std::from_chars(digits.data(), end_of_text, number);
    if (parsed.ec != std::errc()) return ErrorAt(text_, at_, "invalid double literal");
    token.literal = Value::Rep(number);
    at_ += static_cast<std::size_t>(parsed.ptr - rest.data());
    return token;
  }
  if (end == digits.data()) return ErrorAt(text_, at_, "invalid int literal");
  const bool is_unsigned = end != end_of_text && (*end == 'u' || *end == 'U');
  // 2^63 is kept unsigned for now: behind a minus it is the least int.
  if (ec != std::errc() || (!is_unsigned && whole > std::uint64_t{1} << 63U))
    return ErrorAt(text_, at_, "invalid int literal");
  const bool fits = whole < std::uint64_t{1} << 63U;
  token.literal = is_unsigned || !fits ? Value::Rep(whole) : Value::Rep(static_cast<std::int64_t>(whole));
  if (!is_unsigned && !fits) token.text = "2^63";
  at_ += static_cast<std::size_t>(end - rest.data()) + (is_unsigned ? 1 : 0);
  return token;
}

Result<Token> Lexer::Text(bool raw, bool bytes) {
  Token token{Token::Kind::kLiteral, {}, {}, at_};
  std::string quote(1, text_[at_]);
  if (Rest().starts_with(std::string(3, quote[0]))) quote = std::string(3, quote[0]);
  at_ += quote.size();
  std::string out;
  while (!Rest().starts_with(quote)) {
    if (at_ == text_.size() || (quote.size() == 1 && text_[at_] == '\n'))
      return ErrorAt(text_, token.at, "Syntax error: unterminated string");
    if (text_[at_] == '\\' && !raw) {
      ++at_;
      TRY(Escape(out, bytes));
    } else {
      out += text_[at_++];
    }
  }
  at_ += quote.size();
  token.literal = bytes ? Value::Rep(Bytes{std::move(out)}) : Value::Rep(std::move(out));
  return token;
}

Result<> Lexer::Escape(std::string& out, bool bytes) {
  static constexpr std::string_view kLetters = "abfnrtv\\?\"'`";
  static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";
  if (at_ == text_.size()) return ErrorAt(text_, at_ - 1, "Syntax error: unterminated string");
  const char c = text_[at_];
  if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
    out += kMeanings[i];
    ++at_;
    return {};
  }
  const bool octal = c >= '0' && c <= '3';
  const std::size_t length = octal ? 3 : c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  const std::string_view digits = text_.substr(std::min(at_ + (octal ? 0 : 1), text_.size())).substr(0, length);
  std::uint32_t code = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), code, octal ? 8 : 16);
  const bool good = length != 0 && digits.size() == length && ec == std::errc() && end == digits.data() + length &&
                    code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!good) return ErrorAt(text_, at_ - 1, "Syntax error: invalid escape sequence");
  at_ += length + (octal ? 0 : 1);
  if (bytes && length < 4) {
    out += static_cast<char>(code);
  } else {
    AppendRune(out, code);
  }
  return {};
}

}  // namespace gpuop::data::cel
