#include "machine/cuda/driver/module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "machine/cuda/driver/context.h"
#include "machine/cuda/driver/image.h"
#include "machine/cuda/ptx/parser.h"

namespace gpuop::machine::cuda {
namespace {

constexpr const char* kAborted = "ptxas fatal   : Ptx assembly aborted due to errors";

/// Words as ptxas has them for versions: "9.5".
std::string Version(int version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

}  // namespace

Cu CheckTarget(const ptx::Module& module, int compute, int newest, JitLog& log) {
  if (module.version > newest) {
    log.error = "ptxas application ptx input, line 1; fatal   : Unsupported .version " + Version(module.version) +
                "; current version is '" + Version(newest) + "'";
    return Cu::kUnsupportedPtxVersion;
  }
  const bool other = module.arch_specific && module.compute != compute;
  if (module.compute > compute || other) {
    log.error =
        other ? "ptxas fatal   : PTX with .target '" + module.target + "' cannot be compiled to future architecture"
              : "ptxas fatal   : SM version specified by .target is higher than default SM version assumed";
    return Cu::kInvalidPtx;
  }
  return Cu::kSuccess;
}

Cu Module::Load(Context& context, const void* image, JitLog& log, std::shared_ptr<Module>& loaded) {
  auto text = PtxAt(image, context.device().compute());
  if (!text) {
    log.error = text.error().text;
    return text.error().code == Code::kUnsupported ? Cu::kNoBinaryForGpu : Cu::kInvalidImage;
  }
  return LoadText(context, std::move(*text), Refuse::kAtLoad, log, loaded);
}

void TellPeople(std::string_view why) {
  if (std::getenv("GPUOP_CUDA_VERBOSE") != nullptr)
    std::fprintf(stderr, "cuda: %.*s\n", static_cast<int>(why.size()), why.data());
}

Cu Module::LoadText(Context& context, std::string text, Refuse refuse, JitLog& log, std::shared_ptr<Module>& loaded) {
  std::shared_ptr<Module> module(new Module(context));
  module->text_ = std::move(text);
  auto parsed = ptx::Parse(module->text_);
  if (!parsed) {
    log.error = parsed.error().text + "\n" + kAborted;
    return Cu::kInvalidPtx;
  }
  module->parsed_ = std::move(*parsed);
  if (const Cu rc = CheckTarget(module->parsed_, context.device().compute(), context.newest_ptx(), log);
      rc != Cu::kSuccess)
    return rc;
  if (const Cu rc = module->Build(refuse, log); rc != Cu::kSuccess) return rc;
  loaded = std::move(module);
  return Cu::kSuccess;
}

Cu Module::Build(Refuse refuse, JitLog& log) {
  std::uint64_t bytes = 0;
  const exec::ModuleData data = exec::LayOut(parsed_, bytes);
  std::byte* host = nullptr;
  if (bytes != 0) {
    // Managed variables are the host's too, at the same address; a module that has one is managed as a whole.
    const bool managed = std::ranges::any_of(data.items, [](const auto& item) { return item.variable->managed; });
    Allocation made;
    if (const Cu rc = context_.Allocate(managed ? Allocation::Kind::kManaged : Allocation::Kind::kDevice, bytes, made);
        rc != Cu::kSuccess)
      return rc;
    base_ = made.base;
    host = made.host;
  }
  const auto image = exec::InitialBytes(parsed_, data, base_, bytes);
  if (!image) {
    log.error = image.error().text + "\n" + kAborted;
    return Cu::kInvalidPtx;
  }
  if (host != nullptr) std::memcpy(host, image->data(), bytes);
  for (const exec::ModuleData::Item& item : data.items)
    globals_[item.name] = {base_ + item.address, item.variable->size, item.variable->managed};
  for (const ptx::Function& function : parsed_.functions) {
    if (!function.entry || !function.defined) continue;
    auto program = exec::Decode(parsed_, function.name, data, base_);
    if (!program && refuse == Refuse::kAtLoad) {
      log.error = program.error().text + "\n" + kAborted;
      return Cu::kInvalidPtx;
    }
    Function& made = functions_[std::string(function.name)];
    made.module = this;
    made.name = function.name;
    if (program)
      made.program = std::move(*program);
    else
      made.why = program.error().text;
  }
  return Cu::kSuccess;
}

Module::~Module() {
  if (base_ != 0) context_.Free(base_);
}

Function* Module::Find(std::string_view name) {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : &it->second;
}

const Module::Global* Module::FindGlobal(std::string_view name) const {
  const auto it = globals_.find(name);
  return it == globals_.end() ? nullptr : &it->second;
}

}  // namespace gpuop::machine::cuda
