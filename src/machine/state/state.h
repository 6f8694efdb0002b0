#pragma once
// The state that all processes of a machine share: one mapped file (layout.h, docs/formats/machine-state.md).

#include <atomic>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "machine/state/layout.h"

namespace gpuop::machine {

/// The state file opened and mapped. It outlives every process; whoever dies while holding its lock loses the lock at
/// once, because the kernel keeps it (open file description locks), and pid namespaces do not matter for the same
/// reason. Thread-safe. After fork(2) the child reopens the file at its first use, so that parent and child exclude
/// each other.
class State {
 public:
  /// Sees the machine while no other process changes it. Short-lived: whoever holds it stops the whole machine, and
  /// a thread that holds one must not ask for another.
  class Reading {
   public:
    const layout::Machine* operator->() const { return machine_; }
    const layout::Machine& operator*() const { return *machine_; }

   private:
    friend class State;
    struct Unlock {
      void operator()(State* state) const { state->ReleaseLock(); }
    };
    Reading(const layout::Machine* machine, State* state) : machine_(machine), lock_(state) {}
    const layout::Machine* machine_;
    std::unique_ptr<State, Unlock> lock_;
  };

  /// Changes the machine. Its end counts as one change and wakes those who wait for one.
  class Writing {
   public:
    ~Writing();
    Writing(Writing&& other) noexcept : state_(std::exchange(other.state_, nullptr)), wakes_(other.wakes_) {}
    Writing& operator=(Writing&&) = delete;
    layout::Machine* operator->() const { return state_->machine_; }
    layout::Machine& operator*() const { return *state_->machine_; }

   private:
    friend class State;
    Writing(State* state, bool wakes) : state_(state), wakes_(wakes) {}
    State* state_;
    bool wakes_;
  };

  /// Makes the file, mode 0666: like a driver's device nodes it is for every user of the machine. `fill` gets a
  /// machine of zeros with magic, version and size in place. kAlreadyExists when there is a file.
  static Result<> Create(const std::string& path, const std::function<void(layout::Machine&)>& fill);

  /// kNotFound: no such file. kInvalid: not a state file, or one of another version of this layout.
  static Result<std::unique_ptr<State>> Open(const std::string& path);

  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Reading Read();
  Writing Write();
  /// For what nobody waits for: memory that a process takes, counters.
  Writing WriteQuietly();

  /// Both may be read at any time, for WaitChange and WaitEvent.
  std::uint32_t changes() const { return machine_->change_word.load(std::memory_order_acquire); }
  std::uint32_t event_count() const { return machine_->event_word.load(std::memory_order_acquire); }
  /// Waits until changes() is no longer `seen`; false after `limit` (nullopt: for ever). A futex: costs nothing.
  bool WaitChange(std::uint32_t seen, std::optional<Duration> limit);
  /// The same for event_count().
  bool WaitEvent(std::uint32_t seen, std::optional<Duration> limit);
  /// Makes every WaitChange and WaitEvent of the machine return, as if something had changed.
  void WakeAll();

  /// Locks byte `entry` of the table of clients for this open file; false when another has it. Held until Leave, or
  /// until the last copy of the descriptor is closed. Needs a Writing to be held.
  bool Hold(std::size_t entry);
  void Leave(std::size_t entry);
  /// Whether somebody, this State included, holds the entry: its process lives.
  bool Held(std::size_t entry);

  const std::string& path() const { return path_; }

 private:
  State(std::string path, int fd, layout::Machine* machine);
  void TakeLock();
  void ReleaseLock();
  /// In a child after fork: a descriptor of its own.
  void Reopen();

  const std::string path_;
  std::mutex mu_;
  int fd_;
  std::atomic<int> pid_;
  std::bitset<layout::kMaxClients> own_;
  layout::Machine* const machine_;
};

/// Records an event and wakes those who wait for one; fills in sequence and time.
void PushEvent(layout::Machine& machine, layout::Event event);

/// The clocks that the layout names.
std::uint64_t RealtimeNs();
std::uint64_t BoottimeNs();

}  // namespace gpuop::machine
