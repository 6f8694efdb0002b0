#pragma once
// What all functions of our libnvidia-ml.so.1 share: the machine, the handles, and the way into a call.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvml_abi.h"
#include "machine/state/clients.h"
#include "machine/state/nodes.h"
#include "machine/state/state.h"

namespace gpuop::machine::nvml {

namespace abi = gpu::nvml;
using abi::Return;

/// The library's one state, between nvmlInit and nvmlShutdown. NVML's interface has no context that a caller could
/// hand over, so it is global, as in NVIDIA's.
class Library {
 public:
  static Library& Get();

  /// nvmlInit: the first one finds the machine, each further one counts.
  Return Start();
  Return Stop();

  /// Held (shared) while a call runs.
  std::shared_mutex mu;
  /// Null before nvmlInit.
  std::shared_ptr<Found> machine;
  /// The devices this process may see, as they were at nvmlInit: their indices in the machine.
  std::vector<std::uint32_t> visible;

 private:
  unsigned users_ = 0;
};

/// Handles are places in tables that never move: a wrong pointer is told from a right one.
abi::Device DeviceHandleOf(const Place& place);
abi::GpuInstance GpuInstanceHandleOf(const Place& place);
abi::ComputeInstance ComputeInstanceHandleOf(const Place& place);
std::optional<Place> PlaceOf(abi::Device handle);
std::optional<Place> PlaceOf(abi::GpuInstance handle);
std::optional<Place> PlaceOf(abi::ComputeInstance handle);

/// What a call needs of its device.
enum class Needs {
  kIdentity,  ///< what the driver remembers of a GPU that is lost
  kWorking,   ///< an answer of the GPU itself; MIG devices have none of their own
  kAny,       ///< as kWorking, and for MIG devices too
};

/// One call on its way: initialised, not hanging, on a device that can answer. While it lives the machine is locked.
class Call {
 public:
  /// A call of the whole system.
  explicit Call(const char* name);
  /// A call on a device (or, for kIdentity and kAny, a MIG device). `changes`: it needs root.
  Call(const char* name, abi::Device handle, Needs needs, bool changes = false);
  Call(const char* name, abi::GpuInstance handle, bool changes = false);
  Call(const char* name, abi::ComputeInstance handle, bool changes = false);

  /// kSuccess, or what the call answers at once.
  Return error() const { return error_; }
  bool ok() const { return error_ == Return::kSuccess; }

  Library& library() const { return library_; }
  State& state() const { return *found_->state; }
  const Nodes& nodes() const { return found_->nodes; }
  layout::Machine& machine() const { return **writing_; }
  const Place& place() const { return place_; }
  layout::Device& device() const { return machine().devices[place_.device]; }
  const layout::DeviceFacts& facts() const { return device().facts; }
  layout::GpuInstance& instance() const { return device().instances[place_.gpu_instance]; }

 private:
  void Begin(const char* name);
  void CheckDevice(Needs needs);
  void CheckPermission();

  Library& library_;
  std::shared_lock<std::shared_mutex> lock_;
  std::shared_ptr<Found> found_;
  std::optional<State::Writing> writing_;
  Place place_;
  Return error_ = Return::kSuccess;
};

/// Copies `text` with its zero byte into a caller's buffer; kInsufficientSize when it is too short. An empty text is
/// something the device does not have.
Return CopyText(std::string_view text, char* out, unsigned length);

/// An error of the state's functions as NVML says it.
Return ReturnOf(const Error& error);

/// The pid of a client as this process sees it; nullopt when it is in a pid namespace that cannot be seen from here.
std::optional<unsigned> VisiblePid(const layout::Client& client);

}  // namespace gpuop::machine::nvml

/// The way in of most functions: a call on a device, or its error.
#define GPUOP_ON_DEVICE(name, handle, needs)   \
  const Call call(name, handle, Needs::needs); \
  if (!call.ok()) return call.error()
/// The same for what changes a device.
#define GPUOP_CHANGE_DEVICE(name, handle)               \
  const Call call(name, handle, Needs::kWorking, true); \
  if (!call.ok()) return call.error()
/// Refuses null pointers, as NVML does.
#define GPUOP_NOT_NULL(...) \
  if (AnyNull(__VA_ARGS__)) return Return::kInvalidArgument

namespace gpuop::machine::nvml {

template <class... T>
bool AnyNull(T*... pointers) {
  return ((pointers == nullptr) || ...);
}

}  // namespace gpuop::machine::nvml

// Every function, declared from the same list as NVML's users: a definition that differs does not compile.
#pragma GCC visibility push(default)
extern "C" {
#define GPUOP_DECLARE(name, ...) gpuop::gpu::nvml::Return nvml##name(__VA_ARGS__);
namespace gpuop::gpu::nvml {
GPUOP_NVML_FUNCTIONS(GPUOP_DECLARE)
const char* nvmlErrorString(Return result);
}  // namespace gpuop::gpu::nvml
#undef GPUOP_DECLARE
}
#pragma GCC visibility pop
