#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::operands::driver_manager {

/// What is asked of the kernel.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// delete_module(2), without force: kConflict while it is in use.
  virtual Result<> UnloadModule(const std::string& name) = 0;
  /// Takes away what is mounted at `path` and below it, lazily, so that nobody who is in it hinders it. Not an error
  /// when nothing is.
  virtual Result<> Unmount(const std::string& path) = 0;
  /// Takes a PCI device ("0000:07:00.0") from its driver and lets the kernel choose again (sysfs: unbind,
  /// driver_override). Blocks while a virtual machine has it: ask first who does.
  virtual Result<> UnbindDriver(const std::string& address) = 0;
};

class RealKernel final : public Kernel {
 public:
  Result<> UnloadModule(const std::string& name) override;
  Result<> Unmount(const std::string& path) override;
  Result<> UnbindDriver(const std::string& address) override;
};

/// Remembers what it was asked, and fails on request.
class FakeKernel final : public Kernel {
 public:
  std::vector<std::string> asked;
  /// Fails what is asked by these words ("unload nvidia").
  std::vector<std::string> fail;

  Result<> UnloadModule(const std::string& name) override { return Do("unload " + name); }
  Result<> Unmount(const std::string& path) override { return Do("unmount " + path); }
  Result<> UnbindDriver(const std::string& address) override { return Do("unbind " + address); }

 private:
  Result<> Do(const std::string& words);
};

/// The driver's modules that are loaded, in the order in which they can go.
std::vector<std::string> LoadedDriverModules(const os::Fs& host);
/// What else than the driver's own modules uses a module, or how many users it has: "nvidia is used by gdrdrv",
/// "nvidia has 3 users". Empty when all of them can go. Asked first, so that no half of a driver is left behind.
std::string ModulesInUse(const os::Fs& host);

}  // namespace gpuop::operands::driver_manager
