#include "machine/cuda/ptx/body.h"

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/ptx/declaration.h"

namespace gpuop::machine::ptx {
namespace {

struct Scope {
  std::size_t parent = 0;
  std::map<std::string_view, RegisterNames> registers{};
  std::map<std::string_view, std::uint32_t> made{};  ///< registers in use, by name
  std::map<std::string_view, std::uint32_t> variables{};
  std::map<std::string_view, std::uint32_t> labels{};
  std::map<std::string_view, std::vector<std::string_view>> lists{};  ///< .branchtargets
};

/// A label that was used, to be found when all are known.
struct Use {
  std::uint32_t instruction = 0;
  std::size_t scope = 0;
  std::string_view label{};
  bool list = false;
};

class Body {
 public:
  Body(Cursor& in, Function& function) : in_(in), function_(function) { scopes_.emplace_back(); }
  Result<> Run();

 private:
  Result<> Statement();
  Result<> Directive();
  Result<> Declare(Space space);
  Result<> Label();
  Result<> LabelledDirective(std::string_view label);
  Result<> ParseInstruction();
  Result<Operand> ParseOperand();
  Result<Operand> Primary();
  Result<Operand> Named();
  Result<Operand> List(char end, Operand::Kind kind);
  Result<Operand> Address();
  Result<Operand> Number(bool negative);
  std::optional<std::uint32_t> FindRegister(std::string_view name);
  Result<> ResolveLabels();
  Scope& scope() { return scopes_[open_.back()]; }

  Cursor& in_;
  Function& function_;
  std::vector<Scope> scopes_{};
  std::vector<std::size_t> open_ = {0};
  std::vector<Use> uses_{};
  int nesting_ = 0;
};

Result<> Body::Run() {
  for (const auto* formals : {&function_.params, &function_.returns})
    for (const Function::Formal& formal : *formals) {
      if (formal.in_register)
        scope().made[function_.registers[formal.index].name] = formal.index;
      else
        scope().variables[function_.variables[formal.index].name] = formal.index;
    }
  TRY(in_.Expect('{'));
  while (!(open_.size() == 1 && in_.now().Is('}'))) TRY(Statement());
  TRY(in_.Advance());
  return ResolveLabels();
}

Result<> Body::Statement() {
  const Token& now = in_.now();
  if (now.kind == Token::Kind::kEnd) return std::unexpected(in_.Syntax("expected '}'"));
  if (now.Is('{')) {
    if (open_.size() > 200) return std::unexpected(in_.Syntax("blocks are nested too deeply"));
    scopes_.push_back({.parent = open_.back()});
    open_.push_back(scopes_.size() - 1);
    return in_.Advance();
  }
  if (now.Is('}')) {
    open_.pop_back();
    return in_.Advance();
  }
  if (now.Is(';')) return in_.Advance();
  if (now.kind == Token::Kind::kDotWord) return Directive();
  if (now.kind == Token::Kind::kWord) {
    ASSIGN(const Token next, in_.Peek());
    if (next.Is(':')) return Label();
  }
  return ParseInstruction();
}

Result<> Body::Directive() {
  const std::string_view word = in_.now().text;
  const int line = in_.now().line;
  if (word == ".loc") {  // to the end of its line, as it has no other
    while (in_.now().line == line && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
    return {};
  }
  if (word == ".pragma") {
    while (!in_.now().Is(';') && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
    return in_.Expect(';');
  }
  const auto space = SpaceNamed(word);
  if (!space) return std::unexpected(in_.Syntax("unknown directive"));
  TRY(in_.Advance());
  return Declare(*space);
}

Result<> Body::Declare(Space space) {
  if (space == Space::kReg) {
    TRY(ParseRegisters(in_, scope().registers));
    return in_.Expect(';');
  }
  ASSIGN(Variable variable, ParseVariable(in_, space, space == Space::kGlobal || space == Space::kConst));
  scope().variables[variable.name] = static_cast<std::uint32_t>(function_.variables.size());
  function_.variables.push_back(std::move(variable));
  return in_.Expect(';');
}

Result<> Body::Label() {
  ASSIGN(const std::string_view name, in_.Word());
  TRY(in_.Expect(':'));
  if (in_.now().Is(".branchtargets") || in_.now().Is(".calltargets") || in_.now().Is(".callprototype"))
    return LabelledDirective(name);
  if (!scope().labels.emplace(name, function_.instructions.size()).second)
    return Fail(Code::kInvalid, Complaint(in_.now().line, "Duplicate definition of label '" + std::string(name) + "'"));
  return {};
}

Result<> Body::LabelledDirective(std::string_view label) {
  const bool targets = in_.now().Is(".branchtargets");
  TRY(in_.Advance());
  std::vector<std::string_view>& list = scope().lists[label];
  while (!in_.now().Is(';')) {
    if (in_.now().kind == Token::Kind::kEnd) return std::unexpected(in_.Syntax("expected ';'"));
    if (targets && in_.now().kind == Token::Kind::kWord) list.push_back(in_.now().text);
    TRY(in_.Advance());
  }
  return in_.Advance();
}

Result<> Body::ParseInstruction() {
  Instruction made{.line = in_.now().line};
  if (in_.now().Is('@')) {
    TRY(in_.Advance());
    ASSIGN(made.guard_negated, in_.Accept('!'));
    ASSIGN(const std::string_view name, in_.Word());
    const auto found = FindRegister(name);
    if (!found || function_.registers[*found].type != Type::kPred)
      return Fail(Code::kInvalid,
                  Complaint(made.line, "'" + std::string(name) + "' is no predicate register to guard with"));
    made.guard = *found;
  }
  const char* begin = in_.now().text.data();
  ASSIGN(made.base, in_.Word());
  const char* end = made.base.data() + made.base.size();
  while (in_.now().kind == Token::Kind::kDotWord) {
    made.modifiers.push_back(in_.now().text);
    end = in_.now().text.data() + in_.now().text.size();
    TRY(in_.Advance());
  }
  made.opcode = {begin, static_cast<std::size_t>(end - begin)};
  while (!in_.now().Is(';')) {
    ASSIGN(Operand operand, ParseOperand());
    made.operands.push_back(std::move(operand));
    ASSIGN(const bool more, in_.Accept(','));
    if (!more) break;
  }
  TRY(in_.Expect(';'));
  const bool jumps = made.base == "bra" || made.base == "brx";
  if (jumps && !made.operands.empty() && made.operands.back().kind == Operand::Kind::kSymbol) {
    const auto index = static_cast<std::uint32_t>(function_.instructions.size());
    uses_.push_back({index, open_.back(), made.operands.back().name, made.base == "brx"});
  }
  function_.instructions.push_back(std::move(made));
  return {};
}

Result<Operand> Body::ParseOperand() {
  ASSIGN(Operand operand, Primary());
  if (!in_.now().Is('|')) return operand;
  TRY(in_.Advance());
  ASSIGN(Operand second, Primary());
  operand.second.push_back(std::move(second));
  return operand;
}

Result<Operand> Body::Primary() {
  const Token& now = in_.now();
  if (now.Is('{')) return List('}', Operand::Kind::kVector);
  if (now.Is('(')) return List(')', Operand::Kind::kTuple);
  if (now.Is('[')) return Address();
  if (now.Is('!')) {
    TRY(in_.Advance());
    ASSIGN(Operand operand, Named());
    operand.negated = true;
    return operand;
  }
  if (now.Is('-')) {
    TRY(in_.Advance());
    return Number(true);
  }
  if (now.kind == Token::Kind::kWord) return Named();
  return Number(false);
}

Result<Operand> Body::Number(bool negative) {
  const Token token = in_.now();
  Operand operand{.bits = token.bits};
  switch (token.kind) {
    case Token::Kind::kInteger:
      operand.kind = Operand::Kind::kInteger;
      if (negative) operand.bits = 0 - operand.bits;
      break;
    case Token::Kind::kFloat:
      operand.kind = Operand::Kind::kFloat;
      if (negative) operand.bits ^= std::uint64_t{1} << 63;
      break;
    case Token::Kind::kFloat32:
      operand.kind = Operand::Kind::kFloat32;
      if (negative) operand.bits ^= std::uint64_t{1} << 31;
      break;
    default: return std::unexpected(in_.Syntax("expected an operand"));
  }
  TRY(in_.Advance());
  return operand;
}

Result<Operand> Body::Named() {
  const int line = in_.now().line;
  ASSIGN(const std::string_view name, in_.Word());
  Operand operand{.name = name};
  if (name == "_") {
    operand.kind = Operand::Kind::kSink;
    return operand;
  }
  if (const auto found = FindRegister(name)) {
    operand.kind = Operand::Kind::kRegister;
    operand.index = *found;
    return operand;
  }
  if (name[0] == '%') {
    operand.kind = Operand::Kind::kSpecial;
    if (in_.now().kind == Token::Kind::kDotWord) {
      operand.name = {name.data(),
                      static_cast<std::size_t>(in_.now().text.data() + in_.now().text.size() - name.data())};
      TRY(in_.Advance());
    }
    return operand;
  }
  if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::kInteger;
    operand.bits = 32;
    return operand;
  }
  operand.kind = Operand::Kind::kSymbol;
  for (std::size_t at = open_.back();; at = scopes_[at].parent) {
    if (const auto it = scopes_[at].variables.find(name); it != scopes_[at].variables.end()) {
      operand.kind = Operand::Kind::kVariable;
      operand.index = it->second;
      break;
    }
    if (at == 0) break;
  }
  if (in_.now().kind == Token::Kind::kDotWord)
    return Fail(Code::kInvalid, Complaint(line, "Unknown symbol '" + std::string(name) + "'"));
  while (in_.now().Is('+') || in_.now().Is('-')) {
    const bool minus = in_.now().Is('-');
    TRY(in_.Advance());
    ASSIGN(const std::uint64_t more, in_.Integer(UINT64_MAX));
    operand.bits += minus ? 0 - more : more;
  }
  return operand;
}

Result<Operand> Body::List(char end, Operand::Kind kind) {
  TRY(in_.Advance());
  Operand list{.kind = kind};
  if (++nesting_ > 4) return std::unexpected(in_.Syntax("operands are nested too deeply"));
  while (!in_.now().Is(end)) {
    ASSIGN(Operand part, Primary());
    list.parts.push_back(std::move(part));
    ASSIGN(const bool more, in_.Accept(','));
    if (!more) break;
  }
  --nesting_;
  TRY(in_.Expect(end));
  return list;
}

Result<Operand> Body::Address() {
  TRY(in_.Advance());
  Operand address{.kind = Operand::Kind::kAddress};
  if (++nesting_ > 4) return std::unexpected(in_.Syntax("operands are nested too deeply"));
  ASSIGN(Operand base, Primary());
  --nesting_;
  address.bits = std::exchange(base.bits, 0);
  if (base.kind == Operand::Kind::kInteger) std::swap(base.bits, address.bits);
  address.parts.push_back(std::move(base));
  while (in_.now().Is('+') || in_.now().Is('-')) {
    const bool minus = in_.now().Is('-');
    TRY(in_.Advance());
    ASSIGN(const std::uint64_t offset, in_.Integer(UINT64_MAX));
    address.bits += minus ? 0 - offset : offset;
  }
  while (in_.now().Is(',')) {  // [tensor, {coordinates}]
    TRY(in_.Advance());
    ASSIGN(Operand part, Primary());
    address.parts.push_back(std::move(part));
  }
  TRY(in_.Expect(']'));
  return address;
}

std::optional<std::uint32_t> Body::FindRegister(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 1 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (std::size_t at = open_.back();; at = scopes_[at].parent) {
    Scope& scope = scopes_[at];
    if (const auto it = scope.made.find(name); it != scope.made.end()) return it->second;
    const RegisterNames* names = nullptr;
    if (const auto it = scope.registers.find(name); it != scope.registers.end() && it->second.count == 0)
      names = &it->second;
    // "%r12" may be the thirteenth of "%r<…>" or the third of "%r1<…>".
    for (std::size_t cut = digits; names == nullptr && cut < name.size(); ++cut) {
      const auto it = scope.registers.find(name.substr(0, cut));
      if (it == scope.registers.end() || it->second.count == 0) continue;
      std::uint64_t number = 0;
      const std::string_view tail = name.substr(cut);
      const bool canonical = tail.size() == 1 || tail[0] != '0';
      const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), number);
      if (error == std::errc() && canonical && number < it->second.count) names = &it->second;
    }
    if (names != nullptr) {
      const auto index = static_cast<std::uint32_t>(function_.registers.size());
      function_.registers.push_back({name, names->type});
      return scope.made[name] = index;
    }
    if (at == 0) return std::nullopt;
  }
}

Result<> Body::ResolveLabels() {
  for (const Use& use : uses_) {
    Instruction& instruction = function_.instructions[use.instruction];
    const auto find = [&](std::string_view name) -> const std::uint32_t* {
      for (std::size_t at = use.scope;; at = scopes_[at].parent) {
        if (const auto it = scopes_[at].labels.find(name); it != scopes_[at].labels.end()) return &it->second;
        if (at == 0) return nullptr;
      }
    };
    std::vector<std::string_view> names = {use.label};
    if (use.list) {
      for (std::size_t at = use.scope;; at = scopes_[at].parent) {
        if (const auto it = scopes_[at].lists.find(use.label); it != scopes_[at].lists.end()) {
          names = it->second;
          break;
        }
        if (at == 0) break;
      }
    }
    for (const std::string_view name : names) {
      const std::uint32_t* target = find(name);
      if (target == nullptr)
        return Fail(Code::kInvalid, Complaint(instruction.line, "Unknown label '" + std::string(name) + "'"));
      instruction.targets.push_back(*target);
    }
  }
  return {};
}

}  // namespace

Result<> ParseBody(Cursor& in, Function& function) { return Body(in, function).Run(); }

}  // namespace gpuop::machine::ptx
