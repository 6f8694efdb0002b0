#include "operands/toolkit/program/specs.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "container/cdi/cache.h"
#include "container/generate/generate.h"
#include "os/real_fs.h"

namespace gpuop::operands::toolkit {
namespace {

constexpr const char* kKind = "nvidia.com/gpu";
constexpr const char* kMark =
    "# Written by the GPU Operator's container toolkit, which writes it anew when the node changes.\n";
constexpr unsigned kMostNodes = 16;

std::string DeviceSpecPath(const Options& options) { return options.cdi_output_dir + "/nvidia.yaml"; }
std::string ManagementSpecPath(const Options& options) {
  return options.cdi_output_dir + "/" + options.cdi_vendor + "-" + options.cdi_class + ".yaml";
}

std::string KernelRelease() {
  utsname system{};
  ::uname(&system);
  return system.release;
}

/// Writes `text` unless it stands there already. Containers read the old spec until the new one is known to be
/// readable.
Result<bool> WriteSpec(os::Fs& host, const std::string& path, const std::string& text) {
  TRY(container::ReadCdiSpec(path, text));
  if (host.Read(path, container::kCdiSpecLimit).value_or("") == text) return false;
  TRY(os::MakeFolders(host, os::FolderOf(path)));
  TRY(host.WriteAtomic(path, text, os::FileAttributes{0644, ::geteuid(), ::getegid()}));
  return true;
}

/// Somebody else's spec of the same kind: the host has a toolkit of its own, and devices of two specs of one folder
/// would not resolve.
Result<> CheckNobodyElse(const Options& options, const os::Fs& host) {
  const std::string ours = DeviceSpecPath(options);
  const std::string root = options.host_root == "/" ? "" : options.host_root;
  container::CdiCache cache(host, {root + "/etc/cdi", options.cdi_output_dir});
  cache.Refresh();
  for (const auto& file : cache.Files()) {
    if (file->spec.kind != kKind) continue;
    if (file->path == ours && host.Read(ours, container::kCdiSpecLimit).value_or("").starts_with(kMark)) continue;
    return Fail(Code::kAlreadyExists, file->path + " describes the node's GPUs already");
  }
  return {};
}

std::vector<std::string> GenerateCommand(const Options& options) {
  std::vector<std::string> out = {options.self,
                                  "nvidia-ctk",
                                  "cdi",
                                  "generate",
                                  "--driver-root=" + options.driver_root_ctr,
                                  "--dev-root=" + options.dev_root_ctr,
                                  "--nvidia-cdi-hook-path=" + options.install_dir + "/toolkit/nvidia-cdi-hook",
                                  "--device-name-strategy=index,uuid",
                                  "--format=json"};
  if (!options.files.host_root.empty()) out.emplace_back("--with-dev-of-dev-root");
  return out;
}

}  // namespace

Result<bool> WriteManagementSpec(const Options& options, os::Fs& host) {
  ASSIGN(const auto driver, os::RealFs::Open(options.driver_root_ctr));
  ASSIGN(const auto devices, os::RealFs::Open(options.dev_root_ctr));
  container::GenerateOptions generate;
  generate.mode = container::CdiMode::kManagement;
  generate.vendor = options.cdi_vendor;
  generate.kind_class = options.cdi_class;
  generate.driver_root = options.driver_root;
  generate.dev_root = options.dev_root;
  generate.hook_path = options.install_dir + "/toolkit/nvidia-cdi-hook";
  ASSIGN(const container::CdiSpec spec,
         container::GenerateCdiSpec({*driver, *devices, host}, {.kernel_release = KernelRelease()}, generate));
  return WriteSpec(host, ManagementSpecPath(options), container::CdiSpecToYaml(spec));
}

Result<bool> WriteDeviceSpec(const Options& options, os::Fs& host, os::Processes& processes, std::stop_token stop) {
  TRY(CheckNobodyElse(options, host));
  ASSIGN(const os::Exit exit, processes.Run({.argv = GenerateCommand(options),
                                             .limit = std::chrono::minutes(1),
                                             .max_output = container::kCdiSpecLimit},
                                            stop));
  if (!exit.ok()) return Fail(Code::kUnavailable, "nvidia-ctk cdi generate: " + exit.Describe());
  ASSIGN(container::CdiSpec spec, container::ReadCdiSpec("nvidia-ctk cdi generate", exit.out));
  if (options.dev_root_ctr != options.driver_root_ctr)
    container::TransformRoot(spec, {options.dev_root_ctr, options.dev_root, true});
  container::TransformRoot(spec, {options.driver_root_ctr, options.driver_root, true});
  return WriteSpec(host, DeviceSpecPath(options), kMark + container::CdiSpecToYaml(spec));
}

SpecSources WhatSpecsComeFrom(const Options& options) {
  SpecSources out;
  const auto below = [](const std::string& root, const std::string& path) { return (root == "/" ? "" : root) + path; };
  for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-modeset", "/dev/nvidia-caps", "/dev/dxg"})
    out.nodes.push_back(below(options.dev_root_ctr, name));
  for (unsigned i = 0; i < kMostNodes; ++i)
    out.nodes.push_back(below(options.dev_root_ctr, "/dev/nvidia" + std::to_string(i)));
  for (const char* folder : {"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
    for (const char* name : {"/libcuda.so.1", "/libnvidia-ml.so.1"})
      out.files.push_back(below(options.driver_root_ctr, folder) + name);
  out.files.push_back(below(options.host_root, "/lib/modules/" + KernelRelease() + "/modules.dep"));
  out.files.push_back("/run/nvidia/validations/driver-ready");
  out.files.push_back(ManagementSpecPath(options));
  out.files.push_back(DeviceSpecPath(options));
  return out;
}

}  // namespace gpuop::operands::toolkit
