#pragma once
// Who uses which device, and how much of its memory.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/state/state.h"

namespace gpuop::machine {

/// A whole device, or one compute instance of it.
struct Place {
  std::uint32_t device = 0;  ///< index
  std::uint32_t gpu_instance = layout::kNoInstance;
  std::uint32_t compute_instance = layout::kNoInstance;

  bool whole() const { return gpu_instance == layout::kNoInstance; }
  bool operator==(const Place&) const = default;
};

/// Frees the entries of processes that ended without saying so. Called by everything here that looks at entries.
void Reclaim(State& state, layout::Machine& machine);

/// Bytes of device memory that clients hold at `place` (of all compute instances of a GPU instance together, which
/// share its memory). Dead processes do not count.
std::uint64_t BytesUsed(const layout::Machine& machine, const Place& place);
/// How many bytes there are for clients at `place`: of the device without what the driver keeps, or of the instance.
std::uint64_t BytesTotal(const layout::Machine& machine, const Place& place);
/// Whether any client uses the device (or the instance, or the compute instance): what makes it busy.
bool InUse(const layout::Machine& machine, const Place& place);

/// One context of this process on one device: an entry in the machine's table for as long as it lives, whatever way
/// the process ends. Thread-safe as State is.
class Client {
 public:
  enum class Kind : std::uint32_t { kCompute = 1, kGraphics = 2 };

  /// Takes an entry. kUnavailable when the table is full, or the compute mode forbids it.
  static Result<Client> Attach(State& state, const Place& place, Kind kind = Kind::kCompute);
  Client(Client&& other) noexcept;
  Client& operator=(Client&&) = delete;
  /// Frees the entry and its memory.
  ~Client();

  /// Takes `bytes` more of the place's memory; kTooLarge ("out of memory") when they are not there.
  Result<> Allocate(std::uint64_t bytes);
  void Free(std::uint64_t bytes);
  /// What is left for everybody at this place, and how much there is in all.
  struct Memory {
    std::uint64_t free = 0, total = 0;
  };
  Memory memory() const;
  /// Whether the context can still be used: not after a reset of the device, an error that ended it, or a fork.
  bool alive() const;
  /// Ends the context as the driver does after an error: `cuda_error` is what its later calls answer.
  void Kill(std::uint32_t cuda_error);
  /// How busy it keeps the device, in percent of the SMs; shown by NVML.
  void SetUtilization(std::uint32_t percent);

  const Place& place() const { return place_; }
  std::size_t entry() const { return entry_; }

 private:
  Client(State& state, Place place, std::size_t entry, int pid)
      : state_(&state), place_(place), entry_(entry), pid_(pid) {}
  State* state_;
  Place place_;
  std::size_t entry_;
  int pid_;
};

/// The inode of this process's pid namespace: whose pids mean the same as ours.
std::uint64_t OwnPidNamespace();

}  // namespace gpuop::machine
