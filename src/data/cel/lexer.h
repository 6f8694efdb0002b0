#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "data/cel/value.h"

namespace gpuop::data::cel {

/// A word of an expression.
struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kSymbol, kLiteral };
  Kind kind = Kind::kEnd;
  /// The name or symbol; a quoted name without its backticks.
  std::string text;
  Value literal;
  /// Where it begins, in bytes.
  std::size_t at = 0;
};

/// Takes an expression apart.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Result<Token> Next();

 private:
  void SkipBlanks();
  Result<Token> Name();
  Result<Token> Symbol();
  Result<Token> Number();
  Result<Token> Text(bool raw, bool bytes);
  Result<> Escape(std::string& out, bool bytes);
  std::string_view Rest() const { return text_.substr(at_); }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// "ERROR: <input>:1:5: what" with the line and a mark under the place.
std::unexpected<Error> ErrorAt(std::string_view text, std::size_t at, std::string_view what);

}  // namespace gpuop::data::cel
