// Components nvidia-fs, gdrcopy, nvidia-peermem and mofed: kernel modules that must be loaded.

#include "kube/types/node.h"
#include "operands/host/host_check.h"
#include "operands/validator/components.h"
#include "operands/validator/driver_features.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

/// A module appears in /sys/module, of which nobody tells; some bring a device node.
std::vector<std::string> Hints() { return {"/host/dev/nvidia-fs0", "/host/dev/gdrdrv", "/host/dev/infiniband"}; }

/// Modules are the kernel's: without the host's files this container's own /proc and /sys tell the same.
const os::Fs& Kernel(const Surroundings& with) { return with.host != nullptr ? *with.host : with.own; }

constexpr const char* kMofedFile = "/run/mellanox/drivers/.driver-ready";

std::optional<api::Finding> LookAtMofed(const Surroundings& with) {
  if (!with.options.host_mofed) {
    if (os::Exists(with.own, kMofedFile).value_or(false)) return std::nullopt;
    return api::Finding{kNetworkModuleMissing, std::string(kMofedFile) + " is not there"};
  }
  if (host::ModuleLoaded(Kernel(with), "mlx5_core")) return std::nullopt;
  return api::Finding{kNetworkModuleMissing, "the module mlx5_core is not loaded"};
}

Result<bool> HasMellanox(const Surroundings& with) {
  if (with.client == nullptr) return Fail(Code::kUnavailable, with.api_error);
  ASSIGN(const kube::Node node, with.client->Get<kube::Node>(with.options.node));
  return node.meta.labels.Get("feature.node.kubernetes.io/pci-15b3.present") == "true";
}

}  // namespace

Result<> ValidateModule(const Surroundings& with) {
  const std::string component(Name(with.options.component));
  TRY(WaitUntilRight(with, component + "-ready", Hints(), [&] { return CheckModule(Kernel(with), component); }));
  return with.files.Write(component + "-ready");
}

Result<> ValidateMofed(const Surroundings& with) {
  constexpr const char* kReady = "mofed-ready";
  bool needed = with.options.rdma;
  if (needed) {
    ASSIGN(needed, HasMellanox(with));
  }
  if (!needed) {
    with.log.Info("no network driver is needed");
    return with.files.Remove(kReady);
  }
  TRY(WaitUntilRight(with, kReady, {kMofedFile, "/host/dev/infiniband"}, [&] { return LookAtMofed(with); }));
  return with.files.Write(kReady);
}

}  // namespace gpuop::operands::validator
