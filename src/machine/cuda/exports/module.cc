// Modules, libraries, kernels, and code put together by cuLink.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "machine/cuda/driver/image.h"
#include "machine/cuda/exports/process.h"
#include "machine/cuda/ptx/parser.h"

namespace gpuop::machine::cuda {
namespace {

/// The log buffers among a call's options, filled when the call ends.
class Options {
 public:
  Options(unsigned count, const int* options, void** values) : count_(count), options_(options), values_(values) {}
  void* Value(int option) const {
    for (unsigned i = 0; i < count_ && options_ != nullptr && values_ != nullptr; ++i)
      if (options_[i] == option) return values_[i];
    return nullptr;
  }
  /// Sizes are given in the value itself, and how much was written comes back there.
  void Report(const JitLog& log) {
    Put(log.error, kJitErrorLog, kJitErrorLogSize);
    Put(log.info, kJitInfoLog, kJitInfoLogSize);
  }

 private:
  void Put(const std::string& text, int buffer, int size) {
    const auto room = static_cast<int>(reinterpret_cast<std::uintptr_t>(Value(size)));
    CopyText(text, static_cast<char*>(Value(buffer)), room);
    for (unsigned i = 0; i < count_ && options_ != nullptr && values_ != nullptr; ++i)
      if (options_[i] == size)
        values_[i] = reinterpret_cast<void*>(
            std::min<std::uintptr_t>(text.size(), room > 0 ? static_cast<unsigned>(room) - 1 : 0));
  }
  const unsigned count_;
  const int* options_;
  void** values_;
};

std::optional<std::string> ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

Cu FromText(const Error& error) { return error.code == Code::kUnsupported ? Cu::kNoBinaryForGpu : Cu::kInvalidImage; }

/// A library's kernels are known when it is loaded; whether they can run is seen in the first context.
Cu AddLibrary(Driver& driver, std::string text, JitLog& log, int compute, void** made) {
  auto library = std::make_shared<Library>();
  library->text = std::move(text);
  const auto parsed = ptx::Parse(library->text);
  if (!parsed) {
    log.error = parsed.error().text + "\nptxas fatal   : Ptx assembly aborted due to errors";
    return Cu::kInvalidPtx;
  }
  if (const Cu rc = CheckTarget(*parsed, compute, NewestPtx(driver.cuda_version()), log); rc != Cu::kSuccess) return rc;
  for (const ptx::Function& function : parsed->functions)
    if (function.entry && function.defined) library->kernels.emplace_back(function.name);
  if (const auto context = CurrentContext(driver)) {
    // Mistakes of the text are told now; a kernel that cannot run here is refused when it is wanted.
    std::shared_ptr<Module> module;
    if (const Cu rc = Module::LoadText(*context, library->text, Refuse::kAtUse, log, module); rc != Cu::kSuccess)
      return rc;
    Lock lock(library->mu);
    library->modules[context.get()] = std::move(module);
  }
  *made = driver.libraries.Add(std::move(library));
  return Cu::kSuccess;
}

int ComputeNow(Driver& driver) {
  const auto context = CurrentContext(driver);
  return context != nullptr ? context->device().compute() : driver.devices()[0].compute();
}

Cu LoadModule(void** made, const void* image, Options options) {
  if (made == nullptr || image == nullptr) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context& context) {
    JitLog log;
    std::shared_ptr<Module> module;
    const Cu rc = Module::Load(context, image, log, module);
    if (rc != Cu::kSuccess) TellPeople(log.error);
    options.Report(log);
    if (rc == Cu::kSuccess) *made = driver.modules.Add(std::move(module));
    return rc;
  });
}

Cu FindGlobal(Module& module, const char* name, std::uint64_t* address, std::size_t* bytes) {
  if (name == nullptr) return Cu::kInvalidValue;
  const Module::Global* global = module.FindGlobal(name);
  if (global == nullptr) return Cu::kNotFound;
  if (address != nullptr) *address = global->address;
  if (bytes != nullptr) *bytes = global->size;
  return Cu::kSuccess;
}

/// Runs `call` with a library's module in the current context.
template <class F>
Cu WithLibrary(void* handle, F call) {
  return WithContext([&](Driver& driver, Context& context) {
    const auto library = driver.libraries.Find(handle);
    if (library == nullptr) return Cu::kInvalidHandle;
    std::shared_ptr<Module> module;
    if (const Cu rc = driver.InstantiateLibrary(*library, context, module); rc != Cu::kSuccess) return rc;
    return call(driver, module);
  });
}

}  // namespace

GPUOP_CUDA Cu cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  return LoadModule(module, image, Options(count, options, values));
}
GPUOP_CUDA Cu cuModuleLoadData(void** module, const void* image) {
  return LoadModule(module, image, Options(0, nullptr, nullptr));
}
GPUOP_CUDA Cu cuModuleLoadFatBinary(void** module, const void* image) { return cuModuleLoadData(module, image); }
GPUOP_CUDA Cu cuModuleLoad(void** module, const char* path) {
  if (path == nullptr) return Cu::kInvalidValue;
  const auto bytes = ReadFile(path);
  return bytes ? cuModuleLoadData(module, bytes->c_str()) : Cu::kFileNotFound;
}
GPUOP_CUDA Cu cuModuleUnload(void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto module = driver.modules.Remove(handle);
    if (module == nullptr) return Cu::kInvalidHandle;
    module->context().Synchronize(nullptr);
    driver.functions.RemoveIf([&](const Function& function) { return function.module == module.get(); });
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuModuleGetFunction(void** made, void* handle, const char* name) {
  if (made == nullptr || name == nullptr) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context&) {
    const auto module = driver.modules.Find(handle);
    if (module == nullptr) return Cu::kInvalidHandle;
    Function* function = module->Find(name);
    if (function == nullptr) return Cu::kNotFound;
    if (function->program == nullptr) return Cu::kInvalidPtx;
    *made = driver.functions.Add(std::shared_ptr<Function>(module, function));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuModuleGetFunctionCount(unsigned* count, void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto module = driver.modules.Find(handle);
    if (module == nullptr || count == nullptr) return Cu::kInvalidValue;
    *count = static_cast<unsigned>(module->functions().size());
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuModuleEnumerateFunctions(void** made, unsigned count, void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto module = driver.modules.Find(handle);
    if (module == nullptr || made == nullptr) return Cu::kInvalidValue;
    unsigned i = 0;
    for (auto& [name, function] : module->functions())
      if (i < count && function.program != nullptr)
        made[i++] = driver.functions.Add(std::shared_ptr<Function>(module, &function));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void* handle, const char* name) {
  return WithContext([&](Driver& driver, Context&) {
    const auto module = driver.modules.Find(handle);
    return module == nullptr ? Cu::kInvalidHandle : FindGlobal(*module, name, address, bytes);
  });
}
/// CU_MODULE_EAGER_LOADING
GPUOP_CUDA Cu cuModuleGetLoadingMode(int* mode) {
  return WithDriver([&](Driver&) {
    if (mode == nullptr) return Cu::kInvalidValue;
    *mode = 1;
    return Cu::kSuccess;
  });
}

GPUOP_CUDA Cu cuLibraryLoadData(void** made, const void* code, int* jit_options, void** jit_values, unsigned jit_count,
                                int*, void**, unsigned) {
  if (made == nullptr || code == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    JitLog log;
    const int compute = ComputeNow(driver);
    auto text = PtxAt(code, compute);
    Cu rc = Cu::kSuccess;
    if (!text) {
      log.error = text.error().text;
      rc = FromText(text.error());
    } else {
      rc = AddLibrary(driver, std::move(*text), log, compute, made);
    }
    if (rc != Cu::kSuccess) TellPeople(log.error);
    Options(jit_count, jit_options, jit_values).Report(log);
    return rc;
  });
}
GPUOP_CUDA Cu cuLibraryLoadFromFile(void** made, const char* path, int* jit_options, void** jit_values,
                                    unsigned jit_count, int* options, void** values, unsigned count) {
  if (path == nullptr) return Cu::kInvalidValue;
  const auto bytes = ReadFile(path);
  if (!bytes) return Cu::kFileNotFound;
  return cuLibraryLoadData(made, bytes->c_str(), jit_options, jit_values, jit_count, options, values, count);
}
GPUOP_CUDA Cu cuLibraryUnload(void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto library = driver.libraries.Find(handle);
    if (library == nullptr) return Cu::kInvalidHandle;
    driver.kernels.RemoveIf([&](const Kernel& kernel) { return kernel.library == library.get(); });
    driver.libraries.Remove(handle);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLibraryGetKernel(void** made, void* handle, const char* name) {
  if (made == nullptr || name == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto library = driver.libraries.Find(handle);
    if (library == nullptr) return Cu::kInvalidHandle;
    if (std::ranges::find(library->kernels, name) == library->kernels.end()) return Cu::kNotFound;
    *made = driver.kernels.Add(std::make_shared<Kernel>(Kernel{library.get(), name}));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLibraryGetKernelCount(unsigned* count, void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto library = driver.libraries.Find(handle);
    if (library == nullptr || count == nullptr) return Cu::kInvalidValue;
    *count = static_cast<unsigned>(library->kernels.size());
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLibraryEnumerateKernels(void** made, unsigned count, void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto library = driver.libraries.Find(handle);
    if (library == nullptr || made == nullptr) return Cu::kInvalidValue;
    for (unsigned i = 0; i < count && i < library->kernels.size(); ++i)
      made[i] = driver.kernels.Add(std::make_shared<Kernel>(Kernel{library.get(), library->kernels[i]}));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLibraryGetModule(void** made, void* handle) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithLibrary(handle, [&](Driver& driver, const std::shared_ptr<Module>& module) {
    *made = driver.modules.Add(module);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLibraryGetGlobal(std::uint64_t* address, std::size_t* bytes, void* handle, const char* name) {
  return WithLibrary(handle, [&](Driver&, const std::shared_ptr<Module>& module) {
    return FindGlobal(*module, name, address, bytes);
  });
}
GPUOP_CUDA Cu cuLibraryGetManaged(std::uint64_t* address, std::size_t* bytes, void* handle, const char* name) {
  return WithLibrary(handle, [&](Driver&, const std::shared_ptr<Module>& module) {
    const Module::Global* global = name == nullptr ? nullptr : module->FindGlobal(name);
    if (global != nullptr && !global->managed) return Cu::kNotFound;
    return FindGlobal(*module, name, address, bytes);
  });
}

GPUOP_CUDA Cu cuKernelGetFunction(void** made, void* handle) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context& context) {
    const auto kernel = driver.kernels.Find(handle);
    if (kernel == nullptr) return Cu::kInvalidHandle;
    std::shared_ptr<Function> function;
    if (const Cu rc = driver.Instantiate(*kernel, context, function); rc != Cu::kSuccess) return rc;
    *made = driver.functions.Add(std::move(function));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuKernelGetLibrary(void** made, void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto kernel = driver.kernels.Find(handle);
    if (kernel == nullptr || made == nullptr) return Cu::kInvalidHandle;
    *made = kernel->library;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuKernelGetName(const char** name, void* handle) {
  return WithDriver([&](Driver& driver) {
    const auto kernel = driver.kernels.Find(handle);
    if (kernel == nullptr || name == nullptr) return Cu::kInvalidHandle;
    *name = kernel->name.c_str();
    return Cu::kSuccess;
  });
}

GPUOP_CUDA Cu cuLinkCreate_v2(unsigned count, int* options, void** values, void** made) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context&) {
    auto link = std::make_shared<Link>();
    const Options given(count, options, values);
    link->error_log = static_cast<char*>(given.Value(kJitErrorLog));
    link->error_size = reinterpret_cast<std::uintptr_t>(given.Value(kJitErrorLogSize));
    link->info_log = static_cast<char*>(given.Value(kJitInfoLog));
    link->info_size = reinterpret_cast<std::uintptr_t>(given.Value(kJitInfoLogSize));
    CopyText("", link->error_log, static_cast<int>(link->error_size));
    CopyText("", link->info_log, static_cast<int>(link->info_size));
    *made = driver.links.Add(std::move(link));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLinkAddData_v2(void* handle, int type, void* data, std::size_t size, const char*, unsigned, int*,
                               void**) {
  return WithContext([&](Driver& driver, Context& context) {
    const auto link = driver.links.Find(handle);
    if (link == nullptr) return Cu::kInvalidHandle;
    if (data == nullptr || type < kJitCubin) return Cu::kInvalidValue;
    auto text = PtxOf({static_cast<const std::byte*>(data), size}, context.device().compute());
    if (!text || (type != kJitPtx && type != kJitFatbinary && type != kJitCubin)) {
      const std::string why = text ? "only PTX can be linked on this device" : text.error().text;
      CopyText(why, link->error_log, static_cast<int>(link->error_size));
      return text ? Cu::kNoBinaryForGpu : FromText(text.error());
    }
    const auto parsed = ptx::Parse(*text);
    if (!parsed) {
      CopyText(parsed.error().text, link->error_log, static_cast<int>(link->error_size));
      return Cu::kInvalidPtx;
    }
    link->inputs.push_back(std::move(*text));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLinkAddFile_v2(void* handle, int type, const char* path, unsigned count, int* options, void** values) {
  if (path == nullptr) return Cu::kInvalidValue;
  auto bytes = ReadFile(path);
  if (!bytes) return Cu::kFileNotFound;
  return cuLinkAddData_v2(handle, type, bytes->data(), bytes->size(), path, count, options, values);
}
/// What comes out is PTX again, which cuModuleLoadData and cuLibraryLoadData take as they take machine code in life.
GPUOP_CUDA Cu cuLinkComplete(void* handle, void** code, std::size_t* size) {
  return WithContext([&](Driver& driver, Context& context) {
    const auto link = driver.links.Find(handle);
    if (link == nullptr || code == nullptr) return Cu::kInvalidHandle;
    link->output = ptx::Merge(link->inputs);
    JitLog log;
    std::shared_ptr<Module> module;
    const Cu rc = Module::LoadText(context, link->output, Refuse::kAtLoad, log, module);
    CopyText(log.error, link->error_log, static_cast<int>(link->error_size));
    if (rc != Cu::kSuccess) return rc;
    *code = link->output.data();
    if (size != nullptr) *size = link->output.size() + 1;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLinkDestroy(void* handle) {
  return WithDriver(
      [&](Driver& driver) { return driver.links.Remove(handle) == nullptr ? Cu::kInvalidHandle : Cu::kSuccess; });
}

}  // namespace gpuop::machine::cuda
