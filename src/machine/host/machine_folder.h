#pragma once
// A machine as a folder: FOLDER/machine.yaml, FOLDER/state and FOLDER/root, the host's files.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "machine/faults/fault.h"
#include "machine/host/render.h"
#include "machine/spec/spec.h"
#include "machine/state/state.h"

namespace gpuop::machine {

/// One machine and its files. What happens to the machine through here (faults, resets, reboots) shows in its host's
/// files when the call returns. Thread-safe as far as State is; two processes should not change the same machine's
/// faults at once.
class MachineFolder {
 public:
  /// Makes FOLDER (which must not hold a machine yet) and switches the machine on for the first time. `files` needs
  /// no state.
  static Result<MachineFolder> Create(const std::string& folder, Spec spec, DriverFiles files);
  /// An existing machine.
  static Result<MachineFolder> Open(const std::string& folder, DriverFiles files);

  const std::string& folder() const { return folder_; }
  /// The host's root: what a program on the machine sees as /.
  std::string root() const { return folder_ + "/root"; }
  std::string state_path() const { return folder_ + "/state"; }
  const Spec& spec() const { return spec_; }
  State& state() { return *state_; }

  /// Breaks something, or mends it. kInvalid says what is wrong with the fault.
  Result<> Inject(const Fault& fault);
  Result<> Clear(const Fault& fault);
  /// Resets one GPU; kConflict while it is in use.
  Result<> ResetGpu(std::uint32_t gpu);
  /// Writes the host's files anew where the state has changed by other ways (MIG instances made through NVML).
  Result<> Follow();
  /// Makes programs that run on the machine see its /usr as it is, where theirs (below `view`, the root they see) is an
  /// overlay of it.
  Result<> ShowPrograms(const std::string& view) const;

 private:
  Tree Render() const;
  Result<Tree> Possible() const;
  MachineFolder(std::string folder, Spec spec, DriverFiles files, std::unique_ptr<State> state)
      : folder_(std::move(folder)), spec_(std::move(spec)), files_(std::move(files)), state_(std::move(state)) {}
  Result<> BeginKernelLog();
  /// A line in the kernel's log, /dev/kmsg on the machine.
  Result<> LogKernel(std::string_view text);

  std::string folder_;
  Spec spec_;
  DriverFiles files_;
  std::unique_ptr<State> state_;
  Tree shown_;
};

/// The libraries and the program beside this one: "driver" in the folder of /proc/self/exe, or what
/// GPUOP_DRIVER_FOLDER names.
DriverFiles OwnDriverFiles();
/// The same files by other names in `folder`, as many machines beside it can link to: copies (made once, and again when
/// the files are newer) where the file system or its owner allows no links.
Result<DriverFiles> LinkableDriverFiles(const std::string& folder, const DriverFiles& files);

}  // namespace gpuop::machine
