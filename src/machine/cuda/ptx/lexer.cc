#include "machine/cuda/ptx/lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "base/ascii.h"
#include "base/text.h"

namespace gpuop::machine::ptx {
namespace {

bool BeginsWord(char c) { return IsLetter(c) || c == '_' || c == '$' || c == '%'; }
bool InWord(char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '$'; }
bool IsHex(char c) { return HexDigit(c) >= 0; }

}  // namespace

std::string Complaint(int line, std::string_view text) {
  return "ptxas application ptx input, line " + std::to_string(line) + "; error   : " + std::string(text);
}

Result<> Lexer::SkipBlanks() {
  while (pos_ < text_.size()) {
    const char c = At(0);
    if (c == '\n') ++line_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
      ++pos_;
    } else if (c == '/' && At(1) == '/') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else if (c == '/' && At(1) == '*') {
      const std::size_t end = text_.find("*/", pos_ + 2);
      if (end == std::string_view::npos) return Fail(Code::kInvalid, Complaint(line_, "Comment has no end"));
      for (; pos_ < end + 2; ++pos_) line_ += At(0) == '\n' ? 1 : 0;
    } else if (c == '\0') {
      pos_ = text_.size();  // images are often passed with their terminating zero
    } else {
      break;
    }
  }
  return {};
}

Token Lexer::Make(Token::Kind kind, std::size_t length) {
  Token token{kind, text_.substr(pos_, length), 0, line_};
  pos_ += token.text.size();
  return token;
}

Result<Token> Lexer::Next() {
  TRY(SkipBlanks());
  if (pos_ >= text_.size()) return Make(Token::Kind::kEnd, 0);
  const char c = At(0);
  if (IsDigit(c)) return Number();
  if (c == '"') return String();
  if (c == '.' && InWord(At(1))) {
    std::size_t n = 2;
    while (InWord(At(n)) || (At(n) == ':' && At(n + 1) == ':' && InWord(At(n + 2)))) n += At(n) == ':' ? 2 : 1;
    return Make(Token::Kind::kDotWord, n);
  }
  if (BeginsWord(c)) {
    std::size_t n = 1;
    while (InWord(At(n))) ++n;
    return Make(n == 1 && c == '%' ? Token::Kind::kMark : Token::Kind::kWord, n);
  }
  if (std::string_view(",;{}[]()<>=+-*/@!|:&^~?").find(c) != std::string_view::npos) return Make(Token::Kind::kMark, 1);
  return Fail(Code::kInvalid, Complaint(line_, "Unexpected character " + Quote(std::string_view(&text_[pos_], 1))));
}

Result<Token> Lexer::HexFloat(std::size_t digits) {
  for (std::size_t i = 0; i < digits; ++i)
    if (!IsHex(At(2 + i))) return Fail(Code::kInvalid, Complaint(line_, "Malformed floating point constant"));
  std::uint64_t bits = 0;
  std::from_chars(text_.data() + pos_ + 2, text_.data() + pos_ + 2 + digits, bits, 16);
  Token token = Make(digits == 8 ? Token::Kind::kFloat32 : Token::Kind::kFloat, digits + 2);
  token.bits = bits;
  return token;
}

Result<Token> Lexer::Number() {
  const char mark = At(0) == '0' ? At(1) : '\0';
  if (mark == 'f' || mark == 'F') return HexFloat(8);
  if (mark == 'd' || mark == 'D') return HexFloat(16);
  int base = 10;
  std::size_t start = 0;
  if (mark == 'x' || mark == 'X') base = 16, start = 2;
  if (mark == 'b' || mark == 'B') base = 2, start = 2;
  if (IsDigit(mark)) base = 8, start = 1;
  std::size_t n = start;
  while (base == 16 ? IsHex(At(n)) : IsDigit(At(n))) ++n;
  if (base != 16 && base != 2 && ((At(n) == '.' && IsDigit(At(n + 1))) || At(n) == 'e' || At(n) == 'E')) {
    double value = 0;
    const char* begin = text_.data() + pos_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return Fail(Code::kInvalid, Complaint(line_, "Malformed floating point constant"));
    Token token = Make(Token::Kind::kFloat, static_cast<std::size_t>(end - begin));
    token.bits = std::bit_cast<std::uint64_t>(value);
    return token;
  }
  std::uint64_t value = 0;
  const char* begin = text_.data() + pos_ + start;
  const char* stop = text_.data() + pos_ + n;
  const auto [end, error] = std::from_chars(begin, stop, value, base);
  if (error != std::errc() || end != stop) return Fail(Code::kInvalid, Complaint(line_, "Malformed integer constant"));
  if (At(n) == 'U' || At(n) == 'u') ++n;
  Token token = Make(Token::Kind::kInteger, n);
  token.bits = value;
  return token;
}

Result<Token> Lexer::String() {
  const std::size_t end = text_.find_first_of("\"\n", pos_ + 1);
  if (end == std::string_view::npos || text_[end] == '\n')
    return Fail(Code::kInvalid, Complaint(line_, "String has no end"));
  Token token = Make(Token::Kind::kString, end + 1 - pos_);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

}  // namespace gpuop::machine::ptx
