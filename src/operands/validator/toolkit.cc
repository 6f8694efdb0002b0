// Component toolkit: whether the container engine has put devices and libraries into this very container.

#include "gpu/driver_root.h"
#include "operands/validator/components.h"
#include "operands/validator/probe.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

/// What there is in this container, for whoever wants to know why it is not enough.
std::string Given(const os::Fs& own) {
  std::string nodes;
  for (const std::string& name : own.List("/dev").value_or(std::vector<std::string>()))
    if (name.starts_with("nvidia")) nodes += (nodes.empty() ? "" : " ") + name;
  return nodes.empty() ? "no /dev/nvidia* in the container" : "in /dev: " + nodes;
}

std::optional<api::Finding> Look(const Surroundings& with) {
  if (gpu::DriverLibrariesIn(with.own, "libnvidia-ml.so.1").empty())
    return api::Finding{kDevicesNotInjected, "no libnvidia-ml.so.1 in the container; " + Given(with.own)};
  if (!os::Exists(with.own, "/dev/nvidiactl").value_or(false))
    return api::Finding{kDevicesNotInjected, Given(with.own)};
  const DriverState state = AskDriverInChild(with.processes, gpu::DriverLibraryCandidates({}, "libnvidia-ml.so.1"),
                                             with.options.driver_limit, with.stop);
  const api::Finding* const first = api::FirstBroken(state.findings);
  if (first != nullptr && api::Find(first->code).link == api::Link::kHostDriver &&
      api::Find(first->code).severity == api::Severity::kBroken)
    return *first;
  if (state.gpus.empty()) return api::Finding{kDevicesNotInjected, "NVML starts and counts no GPU; " + Given(with.own)};
  return std::nullopt;
}

}  // namespace

Result<> ValidateToolkit(const Surroundings& with) {
  TRY(WaitUntilRight(with, "toolkit-ready", {}, [&] { return Look(with); }));
  with.log.Info("the container toolkit works");
  return with.files.Write("toolkit-ready");
}

}  // namespace gpuop::operands::validator
