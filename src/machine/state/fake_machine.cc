#include "machine/state/fake_machine.h"

#include "base/check.h"

namespace gpuop::machine {
namespace {

os::TempFolder Folder() {
  auto folder = os::TempFolder::Make();
  GPUOP_CHECK(folder.has_value());
  return *std::move(folder);
}

}  // namespace

FakeMachine::FakeMachine(std::uint32_t devices) : folder_(Folder()) {
  const auto made = State::Create(path(), [&](layout::Machine& machine) {
    machine.device_count = devices;
    machine.boots = 1;
    for (std::uint32_t i = 0; i < devices; ++i) {
      layout::DeviceFacts& facts = machine.devices[i].facts;
      facts.uuid.Set("GPU-" + std::to_string(i));
      facts.minor = i;
      facts.memory_bytes = std::uint64_t{1} << 30;
      facts.reserved_bytes = std::uint64_t{16} << 20;
    }
  });
  GPUOP_CHECK(made.has_value());
  state_ = Another();
}

std::unique_ptr<State> FakeMachine::Another() const {
  auto state = State::Open(path());
  GPUOP_CHECK(state.has_value());
  return *std::move(state);
}

}  // namespace gpuop::machine
