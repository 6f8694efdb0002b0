#pragma once
// What is launched, and how it may end.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "machine/cuda/exec/code.h"
#include "machine/cuda/exec/memory.h"

namespace gpuop::machine::exec {

/// Why a kernel was ended, in the terms of CUDA's errors.
enum class Trap : std::uint8_t {
  kNone,
  kIllegalAddress,
  kMisalignedAddress,
  kIllegalInstruction,
  kInvalidPc,
  kStackOverflow,
  kTrap,      ///< the trap instruction
  kAssert,    ///< assert() in device code
  kDeadlock,  ///< every thread waits for another
  kStopped,   ///< Launch::stopped said so
};

struct Fault {
  Trap trap = Trap::kNone;
  std::string text;  ///< for a person: kernel, line of the PTX, address, thread
};

struct Launch {
  const Program* program = nullptr;
  const MemoryMap* memory = nullptr;
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  std::span<const std::byte> params;  ///< Program::param_bytes of them
  bool cooperative = false;           ///< all blocks run side by side: they may wait for each other
  /// Of a cooperative launch: the address of 64 bytes, zero at first, in which the grid's barrier counts.
  std::uint64_t workspace = 0;
  std::uint32_t sms = 1;                                 ///< what %nsmid says
  std::uint64_t id = 0;                                  ///< what %gridid says
  std::function<bool()> stopped;                         ///< asked now and then, by any thread: true ends the kernel
  std::function<void(std::string_view)> print;           ///< printf's output; called by one thread at a time
  std::function<std::uint64_t(std::uint64_t)> allocate;  ///< malloc on the device; 0: no memory
  std::function<void(std::uint64_t)> release;
};

/// Runs a grid to its end on `threads` threads, the caller's among them. Blocks run in the order of their index.
Fault Run(const Launch& launch, unsigned threads);

}  // namespace gpuop::machine::exec
