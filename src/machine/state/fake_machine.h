#pragma once
// A small machine for tests: its state in a folder that goes with it.

#include <memory>
#include <string>

#include "machine/state/state.h"
#include "os/temp_folder.h"

namespace gpuop::machine {

/// `devices` GPUs of 1 GiB (16 MiB of it the driver's), named GPU-0 …, minors from 0.
class FakeMachine {
 public:
  explicit FakeMachine(std::uint32_t devices = 2);

  State& state() { return *state_; }
  std::string path() const { return folder_.path() + "/state"; }
  const std::string& folder() const { return folder_.path(); }
  /// As another process would open it.
  std::unique_ptr<State> Another() const;

 private:
  os::TempFolder folder_;
  std::unique_ptr<State> state_;
};

}  // namespace gpuop::machine
