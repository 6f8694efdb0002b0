#include "operands/launch/probe.h"

#include <array>

namespace gpuop::operands::launch {
namespace {

constexpr const char* kValidations = "/run/nvidia/validations";

/// As the validator reads it: YAML, name to boolean.
std::string ReadyText(const Variables& variables) {
  std::string out;
  for (const char* name : {"GDRCOPY_ENABLED", "GDS_ENABLED", "GPU_DIRECT_RDMA_ENABLED"}) {
    const auto it = variables.find(name);
    out.append(name).append(it != variables.end() && it->second == "true" ? ": true\n" : ": false\n");
  }
  return out;
}

Result<> CheckDaemons(const os::Fs& fs) {
  const auto text = fs.Read(std::string(kValidations) + "/.driver-daemons-status");
  if (!text) return text.error().code == Code::kNotFound ? Result<>() : Result<>(std::unexpected(text.error()));
  const std::string status = text->substr(0, text->find_first_of(" \t\r\n"));
  if (status == "Ready") return {};
  return Fail(Code::kUnavailable, "the driver's daemons are not ready: " + status);
}

}  // namespace

Result<> ProbeModule(const std::string& module, const os::Fs& fs) {
  if (IsLoaded(fs, module)) return {};
  return Fail(Code::kUnavailable, "kernel module " + module + " is not loaded");
}

Result<> ProbeDriver(const Variables& variables, os::Fs& fs, os::Processes& processes, std::stop_token stop) {
  if (!fs.Stat("/sys/module/nvidia/refcnt")) return Fail(Code::kUnavailable, "kernel module nvidia is not loaded");
  TRY(CheckDaemons(fs));
  ASSIGN(const os::Exit exit, processes.Run({.argv = {"nvidia-smi"}, .limit = std::chrono::minutes(10)}, stop));
  if (!exit.ok()) return Fail(Code::kUnavailable, "nvidia-smi: " + exit.Describe());
  TRY(os::MakeFolders(fs, kValidations));
  return fs.WriteAtomic(std::string(kValidations) + "/.driver-ctr-ready", ReadyText(variables));
}

}  // namespace gpuop::operands::launch
