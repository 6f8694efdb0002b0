#include "operands/validator/driver_check.h"

#include <fmt/core.h>

#include <algorithm>

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

bool Holds(const std::vector<api::Finding>& findings, api::ReasonCode code) {
  return std::ranges::find(findings, code, &api::Finding::code) != findings.end();
}

/// Where the files already say that the driver cannot answer, it is not asked.
bool CanAnswer(const host::HostState& host) {
  return std::ranges::none_of(host.findings, [](const api::Finding& finding) {
    switch (finding.code) {
      case kNoGpu:
      case kDriverMissing:
      case kDriverLibraryMissing:
      case kDriverNotLoaded:
      case kDriverKernelMismatch:
      case kDriverVersionMismatch: return true;
      default: return false;
    }
  });
}

/// A GPU that the files say is off the bus, or has no node, needs no second finding from the driver.
bool Explained(const api::Finding& finding, const std::vector<api::Finding>& by) {
  if (finding.code != kDriverFailed && finding.code != kGpuLost && finding.code != kGpuMissing) return false;
  return Holds(by, kGpuOffBus) || Holds(by, kDeviceNodeMissing);
}

}  // namespace

const api::Finding* DriverReport::Broken() const {
  const api::Finding* const first = api::FirstBroken(findings);
  if (first == nullptr) return nullptr;
  const api::Reason& reason = api::Find(first->code);
  return reason.link == api::Link::kHostDriver && reason.severity == api::Severity::kBroken ? first : nullptr;
}

DriverReport CheckDriver(const os::Fs& host, const os::Fs& driver, const AskDriverFn& ask) {
  DriverReport out;
  out.host = host::CheckHost(host, driver);
  out.findings = out.host.findings;
  if (!CanAnswer(out.host)) return out;
  out.driver = ask();
  for (const api::Finding& finding : out.driver.findings)
    if (!Explained(finding, out.host.findings)) out.findings.push_back(finding);
  const bool answered = !out.driver.driver_version.empty();
  if (answered && out.driver.gpus.size() < out.host.gpus.size() && !Holds(out.findings, kDeviceNodeMissing) &&
      !Holds(out.findings, kGpuMissing) && !Holds(out.findings, kGpuOffBus))
    out.findings.push_back({kGpuMissing, fmt::format("{} GPUs are on the PCI bus, the driver knows {}",
                                                     out.host.gpus.size(), out.driver.gpus.size())});
  return out;
}

}  // namespace gpuop::operands::validator
