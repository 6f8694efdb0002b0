#include "machine/cuda/ptx/declaration.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

namespace gpuop::machine::ptx {
namespace {

/// Nobody's variable is larger, and sums of a few stay far from overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

/// Attributes between the space and the type: ".align 8", ".v4", ".ptr .global .align 4", ".attribute(.managed)".
Result<> ParseAttributes(Cursor& in, Variable& variable, std::uint32_t& vector) {
  bool pointer = false;
  while (in.now().kind == Token::Kind::kDotWord) {
    const std::string_view word = in.now().text;
    if (word == ".align") {
      TRY(in.Advance());
      ASSIGN(const std::uint64_t align, in.Integer(1 << 20));
      if (!std::has_single_bit(align)) return std::unexpected(in.Syntax("alignment must be a power of two"));
      if (!pointer) variable.align = static_cast<std::uint32_t>(align);
      continue;
    }
    if (word == ".attribute") {
      TRY(in.Advance());
      TRY(in.Expect('('));
      while (!in.now().Is(')')) {
        if (in.now().kind == Token::Kind::kEnd) return std::unexpected(in.Syntax("expected ')'"));
        if (in.now().Is(".managed")) variable.managed = true;
        TRY(in.Advance());
      }
      TRY(in.Advance());
      continue;
    }
    if (word == ".v2") vector = 2;
    if (word == ".v4") vector = 4;
    if (word == ".ptr") pointer = true;
    const bool known = word == ".v2" || word == ".v4" || word == ".ptr" || (pointer && SpaceNamed(word));
    if (!known) break;
    TRY(in.Advance());
  }
  return {};
}

Result<std::uint64_t> ParseElement(Cursor& in, Type type, Initial& element) {
  const bool minus = in.now().Is('-');
  if (minus) TRY(in.Advance());
  const Token token = in.now();
  if (token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kFloat || token.kind == Token::Kind::kFloat32) {
    TRY(in.Advance());
    double real = std::bit_cast<double>(token.bits);
    if (token.kind == Token::Kind::kFloat32) real = std::bit_cast<float>(static_cast<std::uint32_t>(token.bits));
    if (token.kind == Token::Kind::kInteger) real = static_cast<double>(token.bits);
    if (minus) real = -real;
    if (type == Type::kF64) return std::bit_cast<std::uint64_t>(real);
    if (type == Type::kF32) return std::bit_cast<std::uint32_t>(static_cast<float>(real));
    return minus ? 0 - token.bits : token.bits;
  }
  ASSIGN(std::string_view name, in.Word());
  if (name == "generic" && in.now().Is('(')) {
    TRY(in.Advance());
    ASSIGN(name, in.Word());
    TRY(in.Expect(')'));
  }
  element.symbol = name;
  if (in.now().Is('+')) {
    TRY(in.Advance());
    return in.Integer(UINT64_MAX);
  }
  return 0;
}

/// Values may be nested in braces by dimension; they fill the variable in order.
Result<> ParseInitializer(Cursor& in, Variable& variable, std::uint64_t bytes) {
  const std::uint32_t size = SizeOf(variable.type);
  std::uint64_t offset = 0;
  int depth = 0;
  do {
    if (in.now().Is('{')) {
      if (++depth > 8) return std::unexpected(in.Syntax("initialiser is nested too deeply"));
      TRY(in.Advance());
      if (!in.now().Is('}')) continue;
    }
    if (!in.now().Is('}')) {
      Initial element{.offset = static_cast<std::uint32_t>(offset), .size = size};
      ASSIGN(element.bits, ParseElement(in, variable.type, element));
      if (!variable.unsized && offset + size > bytes) return std::unexpected(in.Syntax("too many initial values"));
      offset += size;
      if (element.bits != 0 || !element.symbol.empty()) variable.initial.push_back(element);
    }
    while (depth > 0 && in.now().Is('}')) {
      --depth;
      TRY(in.Advance());
    }
    if (depth == 0) break;
    TRY(in.Expect(','));
  } while (true);
  if (variable.unsized) {
    variable.unsized = false;
    variable.size = offset;
  }
  return {};
}

}  // namespace

Result<Variable> ParseVariable(Cursor& in, Space space, bool initial) {
  Variable variable{.space = space, .line = in.now().line};
  std::uint32_t vector = 1;
  TRY(ParseAttributes(in, variable, vector));
  const auto type = TypeNamed(in.now().text);
  const bool opaque = in.now().Is(".texref") || in.now().Is(".samplerref") || in.now().Is(".surfref");
  if (!type && !opaque) return std::unexpected(in.Syntax("expected a type"));
  variable.type = type.value_or(Type::kB64);
  TRY(in.Advance());
  TRY(ParseAttributes(in, variable, vector));
  const std::uint32_t natural = SizeOf(variable.type) * vector;
  variable.align = std::max(variable.align, natural);
  if (in.now().kind == Token::Kind::kWord) {
    ASSIGN(variable.name, in.Word());
  } else if (space != Space::kParam) {
    return std::unexpected(in.Syntax("expected a name"));
  }
  std::uint64_t bytes = natural;
  while (in.now().Is('[')) {
    TRY(in.Advance());
    if (in.now().Is(']')) {
      variable.unsized = true;
    } else {
      ASSIGN(const std::uint64_t count, in.Integer(kMostBytes));
      if (count != 0 && bytes > kMostBytes / count) return std::unexpected(in.Syntax("variable is too large"));
      bytes *= count;
    }
    TRY(in.Expect(']'));
  }
  variable.size = variable.unsized ? 0 : bytes;
  ASSIGN(const bool given, in.Accept('='));
  if (!given) return variable;
  if (!initial) return std::unexpected(in.Syntax("this variable can have no initial value"));
  TRY(ParseInitializer(in, variable, bytes));
  return variable;
}

Result<> ParseRegisters(Cursor& in, std::map<std::string_view, RegisterNames>& names) {
  const auto type = TypeNamed(in.now().text);
  if (!type) return std::unexpected(in.Syntax("expected a register type"));
  TRY(in.Advance());
  while (true) {
    ASSIGN(const std::string_view name, in.Word());
    RegisterNames& range = names[name];
    range = {.type = *type};
    if (in.now().Is('<')) {
      TRY(in.Advance());
      ASSIGN(range.count, in.Integer(UINT32_MAX));
      TRY(in.Expect('>'));
    }
    ASSIGN(const bool more, in.Accept(','));
    if (!more) return {};
  }
}

Result<std::vector<Variable>> ParseFormals(Cursor& in) {
  std::vector<Variable> formals;
  TRY(in.Expect('('));
  while (!in.now().Is(')')) {
    const auto space = SpaceNamed(in.now().text);
    if (space != Space::kParam && space != Space::kReg) return std::unexpected(in.Syntax("expected .param or .reg"));
    TRY(in.Advance());
    ASSIGN(Variable formal, ParseVariable(in, *space, false));
    formals.push_back(std::move(formal));
    ASSIGN(const bool more, in.Accept(','));
    if (!more) break;
  }
  TRY(in.Expect(')'));
  return formals;
}

}  // namespace gpuop::machine::ptx
