// How a context runs kernels.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "machine/cuda/driver/context.h"
#include "machine/cuda/driver/errors.h"

namespace gpuop::machine::cuda {
namespace {

constexpr unsigned kMostThreads = 4;

/// Xids that the driver reports for a kernel's error (NVIDIA's Xid catalogue).
constexpr std::uint64_t kXidEngine = 13, kXidMmu = 31, kXidReset = 43;

std::uint64_t XidOf(exec::Trap trap) {
  switch (trap) {
    case exec::Trap::kIllegalAddress: return kXidMmu;
    case exec::Trap::kDeadlock: return kXidReset;
    default: return kXidEngine;
  }
}

/// Finds what a kernel wrote into the memory that its parameters point at, so that a broken device can spoil it.
class Spoiler {
 public:
  Spoiler(const exec::MemoryMap& memory, std::span<const std::byte> params) {
    for (std::size_t at = 0; at + 8 <= params.size(); at += 8) {
      std::uint64_t address = 0;
      std::memcpy(&address, params.data() + at, 8);
      if (const auto* range = memory.Find(address))
        before_.push_back({range, std::vector<std::byte>(range->host, range->host + std::min(range->size, kMost))});
    }
  }
  /// Changes one bit of the first thing that changed.
  void Spoil() {
    for (auto it = before_.rbegin(); it != before_.rend(); ++it) {
      const auto [old, now] = std::mismatch(it->bytes.begin(), it->bytes.end(), it->range->host);
      if (old == it->bytes.end()) continue;
      *now ^= std::byte{1};
      return;
    }
  }

 private:
  static constexpr std::uint64_t kMost = 16 << 20;
  struct Copy {
    const exec::MemoryMap::Range* range;
    std::vector<std::byte> bytes;
  };
  std::vector<Copy> before_;
};

/// The device is busy as long as a kernel runs, a hung one too.
class Busy {
 public:
  explicit Busy(Client& client) : client_(client) { client_.SetUtilization(100); }
  ~Busy() { client_.SetUtilization(0); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Client& client_;
};

std::uint64_t Product(const std::array<std::uint32_t, 3>& sizes) {
  return std::uint64_t{sizes[0]} * sizes[1] * sizes[2];
}

bool UsesHeap(const exec::Program& program) {
  return std::ranges::any_of(program.functions,
                             [](const auto& function) { return function->builtin == exec::Builtin::kMalloc; });
}

}  // namespace

int Context::BlocksPerSm(const Function& function, int threads, std::uint64_t dynamic_shared) const {
  const std::uint64_t shared = function.program->shared_bytes + dynamic_shared + 1024;
  const auto attribute = [&](int number) { return AttributeOf(device_, number).value_or(0); };
  if (threads <= 0 || threads > static_cast<int>(function.program->max_threads)) return 0;
  if (function.program->shared_bytes + dynamic_shared > static_cast<std::uint64_t>(attribute(97))) return 0;
  const int warps = (threads + 31) / 32;
  const int by_threads = attribute(39) / (warps * 32);
  const int by_shared = static_cast<int>(static_cast<std::uint64_t>(attribute(81)) / shared);
  return std::min({by_threads, by_shared, attribute(106)});
}

Cu Context::Launch(const Function& function, const LaunchShape& shape, std::vector<std::byte> params, Stream* stream) {
  if (const Cu error = Check(); error != Cu::kSuccess) return error;
  const exec::Program& program = *function.program;
  const std::uint64_t threads = Product(shape.block);
  const bool dimensions = shape.grid[0] <= 0x7fffffff && shape.grid[1] <= 0xffff && shape.grid[2] <= 0xffff &&
                          shape.block[0] <= 1024 && shape.block[1] <= 1024 && shape.block[2] <= 64;
  if (Product(shape.grid) == 0 || threads == 0 || threads > 1024 || !dimensions) return Cu::kInvalidValue;
  if (threads > program.max_threads) return Cu::kInvalidValue;
  const bool requires_shape = program.required[0] != 0;
  if (requires_shape && !std::equal(shape.block.begin(), shape.block.end(), program.required)) return Cu::kInvalidValue;
  if (shape.shared_bytes > static_cast<std::uint32_t>(std::max(function.max_dynamic_shared, 0)))
    return Cu::kInvalidValue;
  const int per_sm = BlocksPerSm(function, static_cast<int>(threads), shape.shared_bytes);
  if (per_sm == 0) return Cu::kLaunchOutOfResources;
  if (shape.cooperative && Product(shape.grid) > static_cast<std::uint64_t>(per_sm) * device_.sm_count)
    return Cu::kCooperativeLaunchTooLarge;
  if (UsesHeap(program) && KernelHeap() == nullptr) return Cu::kOutOfMemory;
  Push(stream,
       [this, program = function.program, shape, bytes = std::move(params)] { RunKernel(program, shape, bytes); });
  return Cu::kSuccess;
}

void Context::WaitWhileHung() {
  while (true) {
    const std::uint32_t changes = state_.changes();
    if (DeviceError() != Cu::kSuccess || (FaultBits() & layout::kFaultKernelHang) == 0) return;
    state_.WaitChange(changes, std::nullopt);
  }
}

void Context::RunKernel(std::shared_ptr<const exec::Program> program, const LaunchShape& shape,
                        std::span<const std::byte> params) {
  const Busy busy(client_);
  WaitWhileHung();
  if (Check() != Cu::kSuccess) return;
  std::uint64_t workspace = 0;
  if (shape.cooperative) {
    Allocation made;
    if (Allocate(Allocation::Kind::kDevice, 64, made) != Cu::kSuccess) return SetError(Cu::kOutOfMemory);
    workspace = made.base;
  }
  std::vector<const Context*> peers;
  {
    Lock lock(mu_);
    peers = peers_;
  }
  const exec::MemoryMap memory = allocations_.MapFor(this, peers);
  Heap* heap = UsesHeap(*program) ? KernelHeap() : nullptr;
  exec::Launch launch;
  launch.program = program.get();
  launch.memory = &memory;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.dynamic_shared = shape.shared_bytes;
  launch.params = params;
  launch.cooperative = shape.cooperative;
  launch.workspace = workspace;
  launch.sms = device_.sm_count;
  launch.id = ++launches_;
  launch.stopped = [this] { return Check() != Cu::kSuccess; };
  launch.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  if (heap != nullptr) {
    launch.allocate = [heap](std::uint64_t bytes) { return heap->Allocate(bytes); };
    launch.release = [heap](std::uint64_t address) { heap->Release(address); };
  }
  std::optional<Spoiler> spoiler;
  if ((FaultBits() & layout::kFaultWrongResult) != 0) spoiler.emplace(memory, params);
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const exec::Fault fault = exec::Run(launch, std::min(cores, kMostThreads));
  if (spoiler) spoiler->Spoil();
  if (workspace != 0) FreeNow(workspace);
  ++state_.WriteQuietly()->devices[device_.place.device].kernels;
  if (fault.trap != exec::Trap::kNone) Report(fault);
}

void Context::Report(const exec::Fault& fault) {
  if (const Cu error = Check(); error != Cu::kSuccess) return;  // the device ended it
  const Cu error = ErrorOf(fault.trap);
  SetError(error);
  client_.Kill(static_cast<std::uint32_t>(error));
  TellPeople(fault.text);
  if (fault.trap == exec::Trap::kAssert || fault.trap == exec::Trap::kTrap) return;
  auto machine = state_.Write();
  machine->devices[device_.place.device].last_xid = static_cast<std::uint32_t>(XidOf(fault.trap));
  PushEvent(*machine, {.kind = layout::kEventXid,
                       .data = XidOf(fault.trap),
                       .device = device_.place.device,
                       .gpu_instance = device_.place.gpu_instance,
                       .compute_instance = device_.place.compute_instance,
                       .pid = static_cast<std::int32_t>(::getpid())});
}

}  // namespace gpuop::machine::cuda
