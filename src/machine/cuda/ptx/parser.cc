#include "machine/cuda/ptx/parser.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/ptx/body.h"
#include "machine/cuda/ptx/declaration.h"

namespace gpuop::machine::ptx {
namespace {

std::optional<Linkage> LinkageNamed(std::string_view word) {
  if (word == ".extern") return Linkage::kExtern;
  if (word == ".visible") return Linkage::kVisible;
  if (word == ".weak") return Linkage::kWeak;
  if (word == ".common") return Linkage::kCommon;
  return std::nullopt;
}

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : in_(text) {}
  Result<Module> Run();

 private:
  Result<> Header();
  Result<> Target();
  Result<> Directive();
  Result<> SkipStatement();
  Result<> SkipSection();
  Result<> VariableList(Space space, Linkage linkage);
  Result<> ParseFunction(bool entry, Linkage linkage);
  Result<> Formals(Function& function, bool returns);
  Result<> Performance(Function& function);
  Result<> Keep(Function function);

  Cursor in_;
  Module module_;
};

Result<Module> ModuleParser::Run() {
  TRY(in_.Begin());
  TRY(Header());
  while (in_.now().kind != Token::Kind::kEnd) TRY(Directive());
  return std::move(module_);
}

Result<> ModuleParser::Header() {
  if (!in_.now().Is(".version"))
    return Fail(Code::kInvalid, Complaint(in_.now().line, "Missing .version directive at start of file"));
  TRY(in_.Advance());
  // "9.5" is read as a floating constant; its text is what counts.
  const std::string_view text = in_.now().text;
  const std::size_t dot = text.find('.');
  int major = 0, minor = 0;
  if (in_.now().kind != Token::Kind::kFloat || dot == std::string_view::npos)
    return std::unexpected(in_.Syntax("expected a PTX version"));
  std::from_chars(text.data(), text.data() + dot, major);
  std::from_chars(text.data() + dot + 1, text.data() + text.size(), minor);
  module_.version = major * 10 + minor;
  TRY(in_.Advance());
  if (!in_.now().Is(".target")) return Fail(Code::kInvalid, Complaint(in_.now().line, "Missing .target directive"));
  return Target();
}

Result<> ModuleParser::Target() {
  TRY(in_.Advance());
  do {
    ASSIGN(const std::string_view word, in_.Word());
    if (!word.starts_with("sm_")) continue;  // texmode_…, debug, map_f64_to_f32
    module_.target = word;
    const auto [end, error] = std::from_chars(word.data() + 3, word.data() + word.size(), module_.compute);
    if (error != std::errc() || word.data() + word.size() - end > 1)
      return Fail(Code::kInvalid, Complaint(in_.now().line, "Unknown target '" + std::string(word) + "'"));
    module_.arch_specific = end != word.data() + word.size() && *end == 'a';
  } while (in_.Accept(',').value_or(false));
  return {};
}

Result<> ModuleParser::Directive() {
  Linkage linkage = Linkage::kInternal;
  if (in_.now().Is(';')) return in_.Advance();
  if (const auto given = LinkageNamed(in_.now().text)) {
    linkage = *given;
    TRY(in_.Advance());
  }
  const std::string_view word = in_.now().text;
  if (in_.now().kind != Token::Kind::kDotWord) {
    if (in_.now().Is('@')) return SkipStatement();  // @@DWARF
    return std::unexpected(in_.Syntax("expected a directive"));
  }
  if (word == ".address_size") {
    TRY(in_.Advance());
    ASSIGN(const std::uint64_t bits, in_.Integer(64));
    if (bits != 64) return Fail(Code::kInvalid, Complaint(in_.now().line, "Only 64-bit addresses are supported"));
    return {};
  }
  if (word == ".target") return Target();
  if (word == ".file" || word == ".loc") return SkipStatement();
  if (word == ".section") return SkipSection();
  if (word == ".pragma" || word == ".alias") {
    while (!in_.now().Is(';') && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
    return in_.Expect(';');
  }
  if (word == ".func" || word == ".entry") {
    TRY(in_.Advance());
    return ParseFunction(word == ".entry", linkage);
  }
  const auto space = SpaceNamed(word);
  if (!space || *space == Space::kReg || *space == Space::kParam || *space == Space::kLocal)
    return std::unexpected(in_.Syntax("unknown directive"));
  TRY(in_.Advance());
  return VariableList(*space, linkage);
}

/// .file and .loc end with their line.
Result<> ModuleParser::SkipStatement() {
  const int line = in_.now().line;
  while (in_.now().line == line && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
  return {};
}

Result<> ModuleParser::SkipSection() {
  while (!in_.now().Is('{') && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
  while (!in_.now().Is('}') && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
  return in_.Expect('}');
}

Result<> ModuleParser::VariableList(Space space, Linkage linkage) {
  ASSIGN(Variable variable, ParseVariable(in_, space, space != Space::kShared));
  variable.linkage = linkage;
  for (Variable& known : module_.variables) {
    if (known.name != variable.name) continue;
    if (known.linkage != Linkage::kExtern && linkage != Linkage::kExtern)
      return Fail(Code::kInvalid,
                  Complaint(variable.line, "Duplicate definition of variable '" + std::string(variable.name) + "'"));
    if (linkage != Linkage::kExtern) known = std::move(variable);
    return in_.Expect(';');
  }
  module_.variables.push_back(std::move(variable));
  return in_.Expect(';');
}

Result<> ModuleParser::Formals(Function& function, bool returns) {
  ASSIGN(std::vector<Variable> formals, ParseFormals(in_));
  for (Variable& formal : formals) {
    Function::Formal place{.in_register = formal.space == Space::kReg};
    if (place.in_register) {
      place.index = static_cast<std::uint32_t>(function.registers.size());
      function.registers.push_back({formal.name, formal.type});
    } else {
      place.index = static_cast<std::uint32_t>(function.variables.size());
      function.variables.push_back(std::move(formal));
    }
    (returns ? function.returns : function.params).push_back(place);
  }
  return {};
}

Result<> ModuleParser::Performance(Function& function) {
  while (in_.now().kind == Token::Kind::kDotWord) {
    const std::string_view word = in_.now().text;
    TRY(in_.Advance());
    if (word == ".noreturn") function.no_return = true;
    if (word == ".attribute") {
      while (!in_.now().Is(')') && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
      TRY(in_.Expect(')'));
    }
    if (word == ".pragma") {
      while (!in_.now().Is(';') && in_.now().kind != Token::Kind::kEnd) TRY(in_.Advance());
      TRY(in_.Expect(';'));
    }
    std::uint32_t numbers[3] = {1, 1, 1};
    std::size_t count = 0;
    while (in_.now().kind == Token::Kind::kInteger && count < 3) {
      ASSIGN(const std::uint64_t number, in_.Integer(UINT32_MAX));
      numbers[count++] = static_cast<std::uint32_t>(number);
      ASSIGN(const bool more, in_.Accept(','));
      if (!more) break;
    }
    if (word == ".maxntid") function.max_threads = numbers[0] * numbers[1] * numbers[2];
    if (word == ".reqntid") std::copy(numbers, numbers + 3, function.required);
    if (word == ".maxnreg") function.max_registers = numbers[0];
    if (word == ".minnctapersm") function.min_blocks = numbers[0];
  }
  return {};
}

Result<> ModuleParser::ParseFunction(bool entry, Linkage linkage) {
  Function function{.entry = entry, .linkage = linkage, .line = in_.now().line};
  if (in_.now().Is(".attribute")) TRY(Performance(function));
  if (in_.now().Is('(')) TRY(Formals(function, true));
  ASSIGN(function.name, in_.Word());
  if (in_.now().Is('(')) TRY(Formals(function, false));
  TRY(Performance(function));
  if (in_.now().Is('{')) {
    TRY(ParseBody(in_, function));
    function.defined = true;
  } else {
    TRY(in_.Expect(';'));
  }
  return Keep(std::move(function));
}

Result<> ModuleParser::Keep(Function function) {
  for (Function& known : module_.functions) {
    if (known.name != function.name) continue;
    if (known.defined && function.defined)
      return Fail(Code::kInvalid,
                  Complaint(function.line, "Duplicate definition of function '" + std::string(function.name) + "'"));
    if (function.defined) known = std::move(function);
    return {};
  }
  module_.functions.push_back(std::move(function));
  return {};
}

}  // namespace

const Function* Module::FindFunction(std::string_view name) const {
  for (const Function& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

const Variable* Module::FindVariable(std::string_view name) const {
  for (const Variable& variable : variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

Result<Module> Parse(std::string_view text) { return ModuleParser(text).Run(); }

std::string Merge(const std::vector<std::string>& texts) {
  std::string merged;
  for (const std::string& text : texts) {
    if (merged.empty()) {
      merged = text;
      continue;
    }
    merged += '\n';
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line(text.data() + at, end - at);
      const std::size_t first = line.find_first_not_of(" \t");
      const std::string_view rest = first == std::string_view::npos ? std::string_view() : line.substr(first);
      const bool header =
          rest.starts_with(".version") || rest.starts_with(".target") || rest.starts_with(".address_size");
      if (!header) merged += line;
      merged += '\n';
      at = end + 1;
    }
  }
  return merged;
}

}  // namespace gpuop::machine::ptx
