#include "machine/cuda/exec/program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/builtins.h"
#include "machine/cuda/ptx/lexer.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Space;

/// Dynamic shared memory: its place is known when all static variables have theirs.
constexpr std::uint64_t kDynamic = UINT64_MAX;

constexpr std::uint64_t kMostBytes = 1 << 30;
/// Of a kernel; functions pass theirs on, several calls' worth.
constexpr std::uint64_t kMostParams = 1 << 20;

constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t align) { return (value + align - 1) & ~(align - 1); }

std::string InnerName(const ptx::Function& function, const ptx::Variable& variable) {
  return std::string(function.name) + "." + std::string(variable.name);
}

bool InMemory(const ptx::Variable& variable) {
  return variable.space == Space::kGlobal || variable.space == Space::kConst;
}

/// Reaches from one kernel everything it needs.
class Linker final : public Symbols {
 public:
  Linker(const ptx::Module& module, const ModuleData& data, std::uint64_t base) : module_(module) {
    for (const ModuleData::Item& item : data.items) data_[item.name] = item.address + base;
  }

  Result<std::unique_ptr<Program>> Link(const ptx::Function& entry);

  std::optional<Place> Find(std::string_view name) const override;
  std::optional<std::uint32_t> Function(std::string_view name) const override {
    const auto it = reached_.find(name);
    if (it == reached_.end()) return std::nullopt;
    return it->second;
  }

 private:
  Result<> Reach(const ptx::Function& function);
  Result<> ReachName(std::string_view name, bool called, int line);
  std::vector<Place> PlaceVariables(const ptx::Function& function, Routine& code);
  Result<> Fill(const ptx::Function& function, Routine& code);
  Result<> CheckSizes(const ptx::Function& function) const;
  std::uint64_t Shared(const ptx::Variable& variable);

  const ptx::Module& module_;
  std::map<std::string, std::uint64_t, std::less<>> data_;
  std::map<std::string_view, std::uint32_t> reached_;
  std::vector<const ptx::Function*> order_;
  std::map<std::string_view, std::uint64_t> shared_;  ///< of the module, at their offsets
  std::uint64_t shared_bytes_ = 0, dynamic_align_ = 16;
  std::set<std::string_view> dynamic_;
};

std::uint64_t Linker::Shared(const ptx::Variable& variable) {
  const std::uint64_t at = RoundUp(shared_bytes_, variable.align);
  shared_bytes_ = at + variable.size;
  return at;
}

std::optional<Place> Linker::Find(std::string_view name) const {
  if (const auto it = data_.find(name); it != data_.end()) return Place{Space::kGlobal, it->second};
  if (const auto it = shared_.find(name); it != shared_.end()) return Place{Space::kShared, it->second};
  if (dynamic_.contains(name)) return Place{Space::kShared, RoundUp(shared_bytes_, dynamic_align_)};
  for (std::size_t i = 0; i < module_.functions.size(); ++i)
    if (module_.functions[i].name == name) return Place{Space::kGlobal, kCodeWindow + 16 * (i + 1)};
  return std::nullopt;
}

Result<> Linker::ReachName(std::string_view name, bool called, int line) {
  if (const ptx::Function* function = module_.FindFunction(name)) {
    if (!function->defined && BuiltinNamed(name) == Builtin::kNone)
      return Fail(gpuop::Code::kNotFound,
                  called ? "ptxas fatal   : Unresolved extern function '" + std::string(name) + "'"
                         : ptx::Complaint(line, "Unresolved extern function '" + std::string(name) + "'"));
    return Reach(*function);
  }
  const ptx::Variable* variable = module_.FindVariable(name);
  if (variable == nullptr) return {};
  if (variable->space == Space::kShared && !shared_.contains(name)) {
    if (variable->unsized) {
      dynamic_.insert(name);
      dynamic_align_ = std::max<std::uint64_t>(dynamic_align_, variable->align);
    } else {
      shared_[name] = Shared(*variable);
    }
  } else if (InMemory(*variable) && !data_.contains(name)) {
    return Fail(gpuop::Code::kNotFound, "ptxas fatal   : Unresolved extern variable '" + std::string(name) + "'");
  }
  return {};
}

Result<> Linker::Reach(const ptx::Function& function) {
  if (!reached_.emplace(function.name, order_.size()).second) return {};
  order_.push_back(&function);
  std::vector<std::pair<const ptx::Operand*, bool>> open;
  for (const ptx::Instruction& inst : function.instructions) {
    for (const ptx::Operand& operand : inst.operands) open.emplace_back(&operand, inst.base == "call");
    while (!open.empty()) {
      const auto [operand, called] = open.back();
      open.pop_back();
      for (const ptx::Operand& part : operand->parts) open.emplace_back(&part, false);
      if (operand->kind == ptx::Operand::Kind::kSymbol) TRY(ReachName(operand->name, called, inst.line));
    }
  }
  return {};
}

Result<std::unique_ptr<Program>> Linker::Link(const ptx::Function& entry) {
  TRY(Reach(entry));
  // Functions whose address stands in the module's data may be called by it.
  for (const ptx::Variable& variable : module_.variables)
    for (const ptx::Initial& value : variable.initial)
      if (const ptx::Function* function = module_.FindFunction(value.symbol); function != nullptr && function->defined)
        TRY(Reach(*function));
  auto program = std::make_unique<Program>();
  program->name = entry.name;
  program->version = module_.version;
  program->compute = module_.compute;
  // Shared variables of the functions come after the module's, before any code is made: calls share one block.
  std::vector<std::vector<Place>> places;
  for (const ptx::Function* function : order_) {
    program->functions.push_back(std::make_unique<Routine>());
    program->functions.back()->name = function->name;
    places.push_back(PlaceVariables(*function, *program->functions.back()));
  }
  for (std::vector<Place>& of : places)
    for (Place& place : of)
      if (place.space == Space::kShared && place.address == kDynamic)
        place.address = RoundUp(shared_bytes_, dynamic_align_);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Routine& code = *program->functions[i];
    code.builtin = order_[i]->defined ? Builtin::kNone : BuiltinNamed(order_[i]->name);
    if (const auto place = Find(order_[i]->name))
      program->addresses.emplace_back(place->address, static_cast<std::uint32_t>(i));
    if (code.builtin != Builtin::kNone) continue;
    TRY(CheckSizes(*order_[i]));
    TRY(Fill(*order_[i], code));
    TRY(Builder(*order_[i], places[i], *this, code).Run());
  }
  std::ranges::sort(program->addresses);
  for (const ptx::Function::Formal& formal : entry.params) {
    const ptx::Variable& param = entry.variables[formal.index];
    program->params.push_back(
        {static_cast<std::uint32_t>(places[0][formal.index].address), static_cast<std::uint32_t>(param.size)});
    program->param_bytes = program->params.back().offset + program->params.back().size;
  }
  program->shared_bytes = static_cast<std::uint32_t>(shared_bytes_);
  program->dynamic_offset = static_cast<std::uint32_t>(RoundUp(shared_bytes_, dynamic_align_));
  if (entry.max_threads != 0) program->max_threads = std::min(entry.max_threads, 1024U);
  std::ranges::copy(entry.required, program->required);
  if (entry.required[0] != 0)
    program->max_threads = std::min(entry.required[0] * entry.required[1] * entry.required[2], 1024U);
  return program;
}

std::vector<Place> Linker::PlaceVariables(const ptx::Function& function, Routine& code) {
  std::vector<Place> places;
  std::uint64_t kernel_params = 0, params = 0, local = 0;
  for (std::uint32_t i = 0; i < function.variables.size(); ++i) {
    const ptx::Variable& variable = function.variables[i];
    Place place{variable.space, 0};
    const bool formal =
        std::ranges::any_of(function.params, [&](const auto& param) { return !param.in_register && param.index == i; });
    std::uint64_t& end = variable.space == Space::kLocal ? local : function.entry && formal ? kernel_params : params;
    switch (variable.space) {
      case Space::kLocal:
      case Space::kParam:
        place.address = RoundUp(end, variable.align);
        end = place.address + variable.size;
        break;
      case Space::kShared:
        if (variable.unsized) {
          dynamic_.insert(variable.name);
          place.address = kDynamic;
        } else {
          place.address = Shared(variable);
        }
        break;
      default:
        place.space = Space::kGlobal;
        if (const auto it = data_.find(InnerName(function, variable)); it != data_.end()) place.address = it->second;
    }
    places.push_back(place);
  }
  code.param_bytes = static_cast<std::uint32_t>(RoundUp(params, 16));
  code.local_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(RoundUp(local, 16), 1U << 30));
  return places;
}

/// What no device has room for.
Result<> Linker::CheckSizes(const ptx::Function& function) const {
  std::uint64_t params = 0, local = 0;
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == Space::kParam) params += RoundUp(variable.size, variable.align);
    if (variable.space == Space::kLocal) local += RoundUp(variable.size, variable.align);
    if (params > kMostParams || local > kMostBytes)
      return Fail(gpuop::Code::kInvalid, ptx::Complaint(variable.line, "'" + std::string(variable.name) +
                                                                           "' is too large for its state space"));
  }
  if (shared_bytes_ > kMostBytes)
    return Fail(gpuop::Code::kInvalid, ptx::Complaint(function.line, "Too much shared memory is used"));
  return {};
}

/// Where calls put the arguments and find the results.
Result<> Linker::Fill(const ptx::Function& function, Routine& code) {
  if (function.entry) return {};
  std::vector<Slot> slots;
  Slot registers = 0;
  for (const ptx::Register& reg : function.registers) slots.push_back(reg.type == ptx::Type::kPred ? 0 : registers++);
  const auto fill = [&](const std::vector<ptx::Function::Formal>& formals, std::vector<Routine::Formal>& to) {
    std::uint64_t offset = 0;
    for (const ptx::Function::Formal& formal : formals) {
      if (formal.in_register) {
        to.push_back({.in_register = true,
                      .slot = slots[formal.index],
                      .size = std::max(1U, ptx::SizeOf(function.registers[formal.index].type))});
        continue;
      }
      // Formals come first among the variables, results before parameters, in the order of their offsets.
      offset = 0;
      for (std::uint32_t i = 0; i <= formal.index; ++i) {
        const ptx::Variable& variable = function.variables[i];
        if (variable.space != Space::kParam) continue;
        offset = RoundUp(offset, variable.align);
        if (i != formal.index) offset += variable.size;
      }
      to.push_back({.offset = static_cast<std::uint32_t>(offset),
                    .size = static_cast<std::uint32_t>(function.variables[formal.index].size)});
    }
  };
  fill(function.params, code.params);
  fill(function.returns, code.results);
  return {};
}

}  // namespace

ModuleData LayOut(const ptx::Module& module, std::uint64_t& bytes) {
  ModuleData data;
  bytes = 0;
  const auto add = [&](const ptx::Variable& variable, std::string name) {
    if (!InMemory(variable) || variable.linkage == ptx::Linkage::kExtern) return;
    bytes = RoundUp(bytes, std::max<std::uint64_t>(variable.align, 16));
    data.items.push_back({std::move(name), &variable, bytes});
    bytes += variable.size;
  };
  for (const ptx::Variable& variable : module.variables) add(variable, std::string(variable.name));
  for (const ptx::Function& function : module.functions)
    for (const ptx::Variable& variable : function.variables) add(variable, InnerName(function, variable));
  return data;
}

Result<std::vector<std::byte>> InitialBytes(const ptx::Module& module, const ModuleData& data, std::uint64_t base,
                                            std::uint64_t bytes) {
  std::vector<std::byte> image(bytes);
  std::map<std::string_view, std::uint64_t> addresses;
  for (const ModuleData::Item& item : data.items) addresses[item.name] = item.address + base;
  for (std::size_t i = 0; i < module.functions.size(); ++i)
    addresses.try_emplace(module.functions[i].name, kCodeWindow + 16 * (i + 1));
  for (const ModuleData::Item& item : data.items)
    for (const ptx::Initial& value : item.variable->initial) {
      std::uint64_t bits = value.bits;
      if (!value.symbol.empty()) {
        const auto it = addresses.find(value.symbol);
        if (it == addresses.end())
          return Fail(gpuop::Code::kInvalid,
                      ptx::Complaint(item.variable->line, "Unknown symbol '" + std::string(value.symbol) + "'"));
        bits += it->second;
      }
      std::memcpy(image.data() + item.address + value.offset, &bits, std::min<std::uint32_t>(value.size, 8));
    }
  return image;
}

Result<std::unique_ptr<Program>> Decode(const ptx::Module& module, std::string_view name, const ModuleData& data,
                                        std::uint64_t base) {
  const ptx::Function* entry = module.FindFunction(name);
  if (entry == nullptr || !entry->entry || !entry->defined)
    return Fail(gpuop::Code::kNotFound, "no kernel '" + std::string(name) + "' in the module");
  for (const ptx::Function::Formal& formal : entry->params)
    if (formal.in_register)
      return Fail(gpuop::Code::kInvalid, ptx::Complaint(entry->line, "Parameters of a kernel must be in .param space"));
  return Linker(module, data, base).Link(*entry);
}

}  // namespace gpuop::machine::exec
