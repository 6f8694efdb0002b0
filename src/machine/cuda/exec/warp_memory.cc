#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/exec/block.h"
#include "machine/cuda/exec/warp.h"

namespace gpuop::machine::exec {
namespace {

std::string Hex(std::uint64_t value) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4)
    if (const auto digit = (value >> shift) & 15U; digit != 0 || text.size() > 2 || shift == 0)
      text += "0123456789abcdef"[digit];
  return text;
}

}  // namespace

void Warp::RaiseAddress(Trap trap, std::string_view space, std::uint64_t address, std::uint32_t size) {
  const char* what = trap == Trap::kMisalignedAddress ? "misaligned" : "out of bounds";
  Raise(trap, std::string(what) + " access of " + std::to_string(size) + " bytes at " + std::string(space) +
                  " address " + Hex(address));
}

std::byte* Warp::SlowGlobal(std::uint64_t address, std::uint32_t size) {
  if ((address & (size - 1)) != 0) {
    RaiseAddress(Trap::kMisalignedAddress, "global", address, size);
    return nullptr;
  }
  const MemoryMap::Range* range = block_->launch().memory->Find(address);
  if (range == nullptr || range->size < size || address - range->base > range->size - size) {
    RaiseAddress(Trap::kIllegalAddress, "global", address, size);
    return nullptr;
  }
  last_ = range;
  return range->host + (address - range->base);
}

std::byte* Warp::Window(std::uint64_t address, std::uint32_t size, int lane) {
  const std::uint64_t offset = address & (kSharedWindow - 1);
  switch (address & ~(kSharedWindow - 1)) {
    case kSharedWindow: return Shared(offset, size);
    case kLocalWindow: return Local(offset, size, lane);
    case kParamWindow: return const_cast<std::byte*>(KernelParam(offset, size));
    default: RaiseAddress(Trap::kIllegalAddress, "generic", address, size); return nullptr;
  }
}

std::byte* Warp::Shared(std::uint64_t offset, std::uint32_t size) {
  const std::span<std::byte> shared = block_->shared();
  if ((offset & (size - 1)) == 0 && offset + size <= shared.size() && offset < shared.size())
    return shared.data() + offset;
  RaiseAddress((offset & (size - 1)) != 0 ? Trap::kMisalignedAddress : Trap::kIllegalAddress, "shared", offset, size);
  return nullptr;
}

std::byte* Warp::Local(std::uint64_t offset, std::uint32_t size, int lane) {
  if ((offset & (size - 1)) == 0 && offset < local_stride_ && offset + size <= local_stride_)
    return local_.data() + static_cast<std::uint64_t>(lane) * local_stride_ + offset;
  RaiseAddress((offset & (size - 1)) != 0 ? Trap::kMisalignedAddress : Trap::kIllegalAddress, "local", offset, size);
  return nullptr;
}

const std::byte* Warp::KernelParam(std::uint64_t offset, std::uint32_t size) {
  const std::span<const std::byte> params = block_->launch().params;
  if (offset < params.size() && offset + size <= params.size()) return params.data() + offset;
  RaiseAddress(Trap::kIllegalAddress, "parameter", offset, size);
  return nullptr;
}

std::byte* Warp::FrameParam(std::uint64_t offset, std::uint32_t size, int lane) {
  const std::uint64_t bytes = frame_->code->param_bytes;
  if (offset < bytes && offset + size <= bytes)
    return frame_->param.data() + static_cast<std::uint64_t>(lane) * bytes + offset;
  RaiseAddress(Trap::kIllegalAddress, "parameter", offset, size);
  return nullptr;
}

bool Warp::GrowLocal(std::uint64_t bytes) {
  std::uint64_t stride = std::max<std::uint64_t>(local_stride_, 64);
  while (stride < bytes) stride *= 2;
  std::vector<std::byte> grown(stride * kLanes);
  for (std::uint64_t lane = 0; lane < kLanes && local_stride_ != 0; ++lane)
    std::memcpy(grown.data() + lane * stride, local_.data() + lane * local_stride_, local_stride_);
  local_ = std::move(grown);
  local_stride_ = stride;
  return true;
}

void Warp::FillSpecials(Frame& frame) {
  const Launch& launch = block_->launch();
  const auto& size = launch.block;
  const auto& at = block_->position();
  const std::uint64_t first = std::uint64_t{index_} * kLanes;
  for (const auto& [slot, special] : frame.code->specials) {
    std::uint64_t* to = frame.regs.data() + slot * kLanes;
    const auto fill = [&](std::uint64_t value) { std::fill(to, to + kLanes, value); };
    const auto each = [&](auto f) {
      for (std::uint64_t lane = 0; lane < kLanes; ++lane) to[lane] = f(first + lane, lane);
    };
    switch (special) {
      case Special::kTidX: each([&](auto thread, auto) { return thread % size[0]; }); break;
      case Special::kTidY: each([&](auto thread, auto) { return thread / size[0] % size[1]; }); break;
      case Special::kTidZ: each([&](auto thread, auto) { return thread / size[0] / size[1]; }); break;
      case Special::kNtidX: fill(size[0]); break;
      case Special::kNtidY: fill(size[1]); break;
      case Special::kNtidZ: fill(size[2]); break;
      case Special::kCtaidX: fill(at[0]); break;
      case Special::kCtaidY: fill(at[1]); break;
      case Special::kCtaidZ: fill(at[2]); break;
      case Special::kNctaidX: fill(launch.grid[0]); break;
      case Special::kNctaidY: fill(launch.grid[1]); break;
      case Special::kNctaidZ: fill(launch.grid[2]); break;
      case Special::kLane: each([](auto, auto lane) { return lane; }); break;
      case Special::kWarp: fill(index_); break;
      case Special::kWarps: fill(block_->warps()); break;
      case Special::kSm: fill(at[0] % std::max(launch.sms, 1U)); break;
      case Special::kSms: fill(launch.sms); break;
      case Special::kGrid: fill(launch.id); break;
      case Special::kLaneEq: each([](auto, auto lane) { return std::uint64_t{1} << lane; }); break;
      case Special::kLaneLt: each([](auto, auto lane) { return (std::uint64_t{1} << lane) - 1; }); break;
      case Special::kLaneLe: each([](auto, auto lane) { return (std::uint64_t{2} << lane) - 1; }); break;
      case Special::kLaneGt:
        each([](auto, auto lane) { return ~((std::uint64_t{2} << lane) - 1) & 0xffffffff; });
        break;
      case Special::kLaneGe:
        each([](auto, auto lane) { return ~((std::uint64_t{1} << lane) - 1) & 0xffffffff; });
        break;
      case Special::kDynamicShared: fill(launch.dynamic_shared); break;
      case Special::kTotalShared: fill(block_->shared().size()); break;
      case Special::kZero: fill(0); break;
      case Special::kOne: fill(1); break;
      case Special::kLocalBase: fill(frame.local_base); break;
      case Special::kWorkspaceHigh: fill(launch.workspace >> 32); break;
      case Special::kWorkspaceLow: fill(launch.workspace & 0xffffffff); break;
    }
  }
}

}  // namespace gpuop::machine::exec
