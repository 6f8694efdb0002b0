#pragma once

#include <optional>
#include <string>

#include "os/fs.h"

namespace gpuop::operands::host {

/// What shows that the host brings its own driver. Nothing is run to find it out.
struct HostDriver {
  /// "/usr/bin/nvidia-smi", as the host calls it; empty when there is none that could run.
  std::string smi;
  /// The real file behind the host's libnvidia-ml.so.1.
  std::string library;
  /// Windows' subsystem for Linux lends its driver.
  bool wsl = false;

  bool present() const { return wsl || !smi.empty() || !library.empty(); }
};
/// Looks below `host`, the host's root.
HostDriver FindHostDriver(const os::Fs& host);

/// The host's nvidia-smi: the first of the known folders that holds an executable, non-empty file of that name; links
/// are followed inside `host` and lead nowhere else (toolkit-cdi-validator-driver.md §5.2.1).
std::optional<std::string> FindSmi(const os::Fs& host);

/// "DGX Server for DGX A100, version 6.1.0" where the host is NVIDIA's own system, otherwise the name that os-release
/// gives; empty when it gives none.
std::string PlatformOf(const os::Fs& host);

/// "550.163.01" of "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.163.01"; empty for a name without version.
std::string LibraryVersion(const std::string& path);

}  // namespace gpuop::operands::host
