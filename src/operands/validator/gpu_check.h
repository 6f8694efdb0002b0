#pragma once

#include <string>
#include <vector>

#include "api/chain.h"
#include "base/result.h"
#include "gpu/nvml.h"

namespace gpuop::operands::validator {

/// One GPU as the driver tells it.
struct GpuState {
  unsigned index = 0;
  std::string uuid = {}, pci = {}, product = {};
  bool mig = false;
  /// The driver keeps it awake, so that a question costs nothing.
  bool awake = false;
  /// Why it could not be read; empty for one that could.
  std::string unreadable = {};

  template <class V>
  void Visit(V& v) {
    v("index", index);
    v("uuid", uuid);
    v("pci", pci);
    v("product", product);
    v("mig", mig);
    v("awake", awake);
    v("unreadable", unreadable);
  }
  bool operator==(const GpuState&) const = default;
};

/// What the driver says.
struct DriverState {
  std::string driver_version = {};
  std::vector<GpuState> gpus = {};
  std::vector<api::Finding> findings = {};
};

/// Asks the driver once, of everything that matters. May hang where the driver does: run it in a process of its own
/// (probe.h).
Result<DriverState> AskDriver(const gpu::Nvml& nvml);

/// What a driver that cannot be opened is called.
api::Finding FindingOf(const Error& error);

}  // namespace gpuop::operands::validator
