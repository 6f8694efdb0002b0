#pragma once
// The parts that modes put specs together from.

#include <set>
#include <string>
#include <vector>

#include "container/generate/driver_files.h"
#include "container/generate/generate.h"

namespace gpuop::container {

/// One generation: its input and what it found so far.
struct Generation {
  const NodeFiles& files;
  const MachineFacts& machine;
  const GenerateOptions& options;
  DriverFiles driver;
  /// The driver's version.
  std::string version = {};

  bool feature(const std::string& name) const { return options.features.contains(name); }
};

/// `root` before `path`: "/run/nvidia/driver" + "/usr/x"; nothing for "/".
std::string BelowRoot(const std::string& root, const std::string& path);
/// Path components, so that parents sort before children.
std::size_t PathDepth(std::string_view path);

/// A node of the devices' root as the spec tells it; the group that only it lets in is added to `edits`.
void AddDeviceNode(const Generation& g, const std::string& path, CdiEdits& edits);
/// The paths of `folder` below the devices' root whose names fit `pattern`, sorted, and that are nodes (or plain files,
/// as in a copy of a machine).
std::vector<std::string> FindDeviceNodes(const Generation& g, const std::string& folder, const std::string& pattern);
bool HasDeviceNode(const Generation& g, const std::string& path);

/// A hook, unless it is disabled.
void AddHook(const Generation& g, const std::string& name, std::vector<std::string> args, CdiEdits& edits);
/// The hook that has the container's loader find libraries in `folders`; none for no folder.
void AddLoaderCache(const Generation& g, const std::set<std::string>& folders, CdiEdits& edits);
/// The folders of mounted libraries (lib….so…).
std::set<std::string> LibraryFolders(const CdiEdits& edits);
/// A read-only bind mount of a driver's file; `inside` is where it appears, by default the same path.
void AddMount(const Generation& g, const std::string& path, CdiEdits& edits, std::string inside = "");

/// Libraries, programs, firmware, sockets, links and hooks that every GPU container gets.
Result<> AddDriverFiles(Generation& g, bool graphics, CdiEdits& edits);
/// nvidia-modeset, nvidia-uvm-tools, nvidia-uvm, nvidiactl, as far as they are there.
void AddControlNodes(const Generation& g, CdiEdits& edits);

/// /proc/driver/nvidia-caps/mig-minors: "gpu0/gi1/access" to its minor; lines of another form are passed over.
std::map<std::string, unsigned> ParseMigMinors(std::string_view text);

/// The devices of a mode and its common edits, not yet sorted.
Result<CdiSpec> GenerateNvml(Generation& g);
Result<CdiSpec> GenerateManagement(Generation& g);
Result<CdiSpec> GenerateImex(Generation& g);
/// gds, mofed, nvswitch, gdrcopy.
Result<CdiSpec> GeneratePeripheral(Generation& g);
Result<CdiSpec> GenerateWsl(Generation& g);
Result<CdiSpec> GenerateCsv(Generation& g);

}  // namespace gpuop::container
