#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/cuda/driver/abi.h"
#include "machine/cuda/exec/program.h"

namespace gpuop::machine::cuda {

class Context;
class Module;

/// What a program learns of a load that failed (CU_JIT_ERROR_LOG_BUFFER) or not.
struct JitLog {
  std::string error, info;
};

/// A kernel of a loaded module.
struct Function {
  Module* module = nullptr;
  std::string name;
  /// Null when it cannot run here; `why` says it then, in ptxas' words.
  std::shared_ptr<const exec::Program> program;
  std::string why;
  int max_dynamic_shared = 48 << 10;
  int carveout = -1;
};

/// When a kernel that cannot run here (an instruction that is not supported) is refused: modules as a whole as they are
/// loaded, libraries kernel by kernel as each is wanted (CUDA's lazy loading), so that the others run.
enum class Refuse { kAtLoad, kAtUse };

/// Why code was refused or a kernel failed, for people who asked for it (GPUOP_CUDA_VERBOSE): programs of the run-time
/// library see no log.
void TellPeople(std::string_view why);

/// PTX loaded into one context: its data in device memory, its kernels decoded. Immutable once loaded, but for the
/// functions' attributes.
class Module {
 public:
  /// `image` as PtxAt takes it. On an error the log says why.
  static Cu Load(Context& context, const void* image, JitLog& log, std::shared_ptr<Module>& loaded);
  static Cu LoadText(Context& context, std::string text, Refuse refuse, JitLog& log, std::shared_ptr<Module>& loaded);
  ~Module();

  /// nullptr: no such kernel.
  Function* Find(std::string_view name);
  std::map<std::string, Function, std::less<>>& functions() { return functions_; }
  struct Global {
    std::uint64_t address = 0, size = 0;
    bool managed = false;
  };
  /// nullptr: no such variable.
  const Global* FindGlobal(std::string_view name) const;
  Context& context() { return context_; }

 private:
  explicit Module(Context& context) : context_(context) {}
  Cu Build(Refuse refuse, JitLog& log);

  Context& context_;
  std::string text_;
  ptx::Module parsed_;
  std::uint64_t base_ = 0;
  std::map<std::string, Function, std::less<>> functions_;
  std::map<std::string, Global, std::less<>> globals_;
};

/// Whether `text` can be run on a device of compute capability `compute` by a driver whose newest PTX version is
/// `newest`; on an error the log says why.
Cu CheckTarget(const ptx::Module& module, int compute, int newest, JitLog& log);

}  // namespace gpuop::machine::cuda
