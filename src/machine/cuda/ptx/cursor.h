#pragma once
// The tokens of a PTX text with one token of look-ahead, and the questions every parser asks.

#include <optional>

#include "machine/cuda/ptx/lexer.h"

namespace gpuop::machine::ptx {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : lexer_(text) {}

  /// Reads the first token. Called once, first.
  Result<> Begin() { return Advance(); }
  const Token& now() const { return now_; }
  /// The token after now().
  Result<Token> Peek();
  Result<> Advance();

  /// Whether now() is the mark or word; then it is passed.
  template <class What>
  Result<bool> Accept(What what) {
    if (!now_.Is(what)) return false;
    TRY(Advance());
    return true;
  }
  Result<> Expect(char mark);
  /// An identifier.
  Result<std::string_view> Word();
  /// A decimal or other integer of at most `most`, with an optional minus where `most` is all ones.
  Result<std::uint64_t> Integer(std::uint64_t most);
  /// "… error   : Parsing error near 'x': syntax error" at now().
  Error Syntax(std::string_view wanted) const;

 private:
  Lexer lexer_;
  Token now_;
  std::optional<Token> next_;
};

}  // namespace gpuop::machine::ptx
