#pragma once
// PTX text as tokens (PTX ISA §4).

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::machine::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kWord,     ///< an identifier: "add", "%r1", "$L__BB0_2"
    kDotWord,  ///< with its dot: ".reg", ".shared::cta"
    kInteger,  ///< `bits`, two's complement
    kFloat,    ///< `bits` of a binary64
    kFloat32,  ///< 0f…: `bits` of a binary32
    kString,   ///< without its quotes
    kMark,     ///< one character of punctuation
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::uint64_t bits = 0;
  int line = 0;

  bool Is(char mark) const { return kind == Kind::kMark && text[0] == mark; }
  bool Is(std::string_view word) const { return (kind == Kind::kWord || kind == Kind::kDotWord) && text == word; }
};

/// How every complaint about PTX begins: "ptxas application ptx input, line 12; error   : …", as programs that read
/// the driver's log expect it.
std::string Complaint(int line, std::string_view text);

/// Cuts `text`, which outlives the lexer and its tokens, into tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The next token; kEnd at the end, again and again.
  Result<Token> Next();

 private:
  Result<> SkipBlanks();
  Result<Token> Number();
  Result<Token> HexFloat(std::size_t digits);
  Result<Token> String();
  Token Make(Token::Kind kind, std::size_t length);
  char At(std::size_t i) const { return pos_ + i < text_.size() ? text_[pos_ + i] : '\0'; }

  std::string_view text_;
  std::size_t pos_ = 0;
  int line_ = 1;
};

}  // namespace gpuop::machine::ptx
