#include "machine/cuda/ptx/cursor.h"

#include <string>

namespace gpuop::machine::ptx {

Result<Token> Cursor::Peek() {
  if (!next_) {
    ASSIGN(Token token, lexer_.Next());
    next_ = token;
  }
  return *next_;
}

Result<> Cursor::Advance() {
  if (next_) {
    now_ = *next_;
    next_.reset();
    return {};
  }
  ASSIGN(now_, lexer_.Next());
  return {};
}

Result<> Cursor::Expect(char mark) {
  if (!now_.Is(mark)) return std::unexpected(Syntax(std::string("expected '") + mark + "'"));
  return Advance();
}

Result<std::string_view> Cursor::Word() {
  if (now_.kind != Token::Kind::kWord) return std::unexpected(Syntax("expected a name"));
  const std::string_view word = now_.text;
  TRY(Advance());
  return word;
}

Result<std::uint64_t> Cursor::Integer(std::uint64_t most) {
  bool negative = false;
  if (most == UINT64_MAX) {
    ASSIGN(negative, Accept('-'));
  }
  if (now_.kind != Token::Kind::kInteger) return std::unexpected(Syntax("expected an integer"));
  const std::uint64_t value = now_.bits;
  if (value > most)
    return Fail(Code::kInvalid, Complaint(now_.line, "Value " + std::to_string(value) + " is out of range"));
  TRY(Advance());
  return negative ? 0 - value : value;
}

Error Cursor::Syntax(std::string_view wanted) const {
  const std::string near = now_.kind == Token::Kind::kEnd ? "end of input" : "'" + std::string(now_.text) + "'";
  return {Code::kInvalid, Complaint(now_.line, "Parsing error near " + near + ": " + std::string(wanted))};
}

}  // namespace gpuop::machine::ptx
