#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/cuda/exec/code.h"
#include "machine/cuda/ptx/module.h"

namespace gpuop::machine::exec {

/// A module's memory: what of it is in .global and .const, and where it lies. Names are the module's; variables
/// declared inside functions are "function.name".
struct ModuleData {
  struct Item {
    std::string name;
    const ptx::Variable* variable = nullptr;
    std::uint64_t address = 0;
  };
  std::vector<Item> items;
};

/// Everything that `module` keeps in device memory, at offsets from 0 in an order of its own; `bytes` is their end.
ModuleData LayOut(const ptx::Module& module, std::uint64_t& bytes);

/// The bytes of `data` once it lies at `base`: initial values, with addresses of variables and functions.
Result<std::vector<std::byte>> InitialBytes(const ptx::Module& module, const ModuleData& data, std::uint64_t base,
                                            std::uint64_t bytes);

/// Decodes the kernel `name` and all it can reach; data lies at data.items[].address + base. Errors are those of the
/// PTX: in the words of ptx::Complaint, or about a name that is nowhere defined.
Result<std::unique_ptr<Program>> Decode(const ptx::Module& module, std::string_view name, const ModuleData& data,
                                        std::uint64_t base);

}  // namespace gpuop::machine::exec
