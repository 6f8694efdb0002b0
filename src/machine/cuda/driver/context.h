#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "machine/cuda/driver/allocations.h"
#include "machine/cuda/driver/device.h"
#include "machine/cuda/driver/heap.h"
#include "machine/cuda/driver/module.h"
#include "machine/cuda/driver/queue.h"
#include "machine/cuda/exec/launch.h"
#include "machine/state/clients.h"

namespace gpuop::machine::cuda {

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  std::atomic<Queue::Ticket> last = 0;
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::atomic<Queue::Ticket> ticket = 0;  ///< of its last record; 0: never recorded
  std::atomic<std::uint64_t> time_ns = 0;
};

/// How a kernel is to be run.
struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
};

/// A CUDA context: the use of one device by this process. It counts in the machine's state as long as it lives, and
/// an error that ends it there (a fault, a reset) is what every later call answers. Thread-safe.
class Context {
 public:
  /// `newest_ptx`: what the driver takes, as NewestPtx says it.
  Context(State& state, Allocations& allocations, Device device, Client client, unsigned flags, int newest_ptx,
          std::uint64_t id);
  /// Waits for its work, then frees its memory.
  ~Context();

  const Device& device() const { return device_; }
  int newest_ptx() const { return newest_ptx_; }
  std::uint64_t id() const { return id_; }
  unsigned flags = 0;

  /// kSuccess, or the error that made the context useless.
  Cu Check();

  /// Takes device memory (kDevice, kManaged) or host memory of the given kind.
  Cu Allocate(Allocation::Kind kind, std::uint64_t bytes, Allocation& made, unsigned alloc_flags = 0,
              bool from_pool = false);
  /// Frees what begins at `base`, after the work that may use it.
  Cu Free(std::uint64_t base);
  /// Frees without waiting: called by the work itself.
  void FreeNow(std::uint64_t base);
  Client::Memory memory() const { return client_.memory(); }

  /// Adds work; `stream` nullptr is the default one. Work after an error is not done.
  Queue::Ticket Push(Stream* stream, Queue::Task task);
  /// Waits for one stream (or with nullptr for everything) and answers with the context's error.
  Cu Synchronize(Stream* stream);
  Cu Query(Stream* stream);
  /// Waits for what `ticket` stands for.
  void Wait(Queue::Ticket ticket) { queue_.Wait(ticket); }
  bool Done(Queue::Ticket ticket) const { return queue_.Done(ticket); }
  Queue::Ticket last() const { return queue_.last(); }

  /// `params`: the kernel's parameters in one piece.
  Cu Launch(const Function& function, const LaunchShape& shape, std::vector<std::byte> params, Stream* stream);
  /// Blocks of `threads` threads that one multiprocessor holds at once.
  int BlocksPerSm(const Function& function, int threads, std::uint64_t dynamic_shared) const;

  Cu SetLimit(int limit, std::uint64_t value);
  Cu GetLimit(int limit, std::uint64_t& value) const;

  /// Lets kernels of this context touch device memory of `other`.
  Cu EnablePeer(const Context* other);
  Cu DisablePeer(const Context* other);

 private:
  void RunKernel(std::shared_ptr<const exec::Program> program, const LaunchShape& shape,
                 std::span<const std::byte> params);
  void WaitWhileHung();
  Cu DeviceError();
  void SetError(Cu error);
  void Report(const exec::Fault& fault);
  std::uint32_t FaultBits() const;
  Heap* KernelHeap();

  State& state_;
  Allocations& allocations_;
  const Device device_;
  Client client_;
  const int newest_ptx_;
  const std::uint64_t id_;
  std::atomic<int> error_ = 0;
  std::atomic<std::uint32_t> seen_changes_;
  std::atomic<std::uint64_t> launches_ = 0;
  mutable Mutex mu_;
  std::array<std::uint64_t, kLimits> limits_ GUARDED_BY(mu_);
  std::vector<const Context*> peers_ GUARDED_BY(mu_);
  std::unique_ptr<Heap> heap_ GUARDED_BY(mu_);
  Queue queue_;  ///< last: its thread uses all the others
};

}  // namespace gpuop::machine::cuda
