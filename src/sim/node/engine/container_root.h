#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/node/engine/messages.h"

namespace gpuop::sim::node {

/// A container's file system while it is put together in a mount namespace that is its own already.
class ContainerRoot {
 public:
  /// Takes the sources of mounts from the machine's view as it is now, then makes everything private. `spec` outlives
  /// it.
  static Result<ContainerRoot> Begin(const ContainerSpec& spec);

  /// Makes the root file system with all its mounts and nodes at path(), and /proc of this pid namespace.
  Result<> Build();
  /// Makes it the root of this process.
  Result<> Enter();

  const std::string& path() const { return path_; }
  /// The folder with config.json that hooks are told of.
  const std::string& bundle() const { return bundle_; }

 private:
  struct Source {
    const MountSpec* mount;
    os::Fd tree;
    bool folder;
  };
  explicit ContainerRoot(const ContainerSpec& spec) : spec_(&spec) {}
  Result<> TakeSources();
  Result<> MakeBase();
  Result<> MakeNames();
  Result<> MakeMount(const MountSpec& mount, const Source* source);
  Result<> Bind(const Source& source);
  Result<> MakeDev();

  const ContainerSpec* spec_;
  std::string path_, bundle_;
  std::vector<Source> sources_, nodes_;
  std::vector<MountSpec> node_mounts_;
  /// The machine's own files of /proc.
  std::vector<std::pair<std::string, os::Fd>> kernel_files_;
};

/// Where in a list of mount(8)'s options the kernel's flags are; the others are the file system's own.
struct MountOptions {
  unsigned long flags = 0;
  bool recursive = false;
  unsigned long propagation = 0;  ///< MS_PRIVATE, MS_SLAVE, MS_SHARED or 0
  std::string data;
};
MountOptions ReadMountOptions(const std::vector<std::string>& options);

}  // namespace gpuop::sim::node
