// Memory: how much, what is wrong with it, and what was done about that.

#include <algorithm>
#include <cstring>

#include "machine/nvml/library.h"

using namespace gpuop::machine::nvml;
namespace layout = gpuop::machine::layout;

namespace {

struct Bytes {
  unsigned long long total, reserved, used, free;
};

/// Of the device or the MIG device's GPU instance.
Bytes MemoryOf(const Call& call) {
  const auto& facts = call.facts();
  const std::uint64_t used = gpuop::machine::BytesUsed(call.machine(), call.place());
  const std::uint64_t usable = gpuop::machine::BytesTotal(call.machine(), call.place());
  const std::uint64_t reserved = call.place().whole() ? facts.reserved_bytes : 0;
  return {usable + reserved, reserved, used, usable - std::min(used, usable)};
}

unsigned long long Count(const layout::Device& device, abi::MemoryErrorType type, abi::EccCounterType counter,
                         std::size_t location) {
  const auto& counts = type == abi::MemoryErrorType::kCorrected ? device.ecc.corrected : device.ecc.uncorrected;
  return counts[static_cast<std::size_t>(counter)][location];
}

bool Valid(abi::MemoryErrorType type, abi::EccCounterType counter) {
  return static_cast<unsigned>(type) <= 1 && static_cast<unsigned>(counter) <= 1;
}

/// Retired pages of one cause: the list holds those of single-bit errors first.
Return Pages(const Call& call, abi::PageRetirementCause cause, unsigned* count, unsigned long long* addresses,
             unsigned long long* times) {
  if (call.facts().ecc_supported == 0 || call.facts().row_remapping != 0) return Return::kNotSupported;
  if (static_cast<unsigned>(cause) > 1) return Return::kInvalidArgument;
  const layout::Device& device = call.device();
  const bool single = cause == abi::PageRetirementCause::kMultipleSingleBitEccErrors;
  const unsigned first = single ? 0 : device.retired_single;
  const unsigned pages = single ? device.retired_single : device.retired_double;
  const unsigned room = *count;
  *count = pages;
  if (room == 0 && pages == 0) return Return::kSuccess;
  if (room < pages) return Return::kInsufficientSize;
  for (unsigned i = 0; i < pages; ++i) {
    if (addresses != nullptr) addresses[i] = device.retired_addresses[first + i];
    if (times != nullptr) times[i] = call.machine().booted_ns / 1'000'000'000;
  }
  return Return::kSuccess;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMemoryInfo(abi::Device device, abi::Memory* memory) {
  GPUOP_NOT_NULL(memory);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (call.facts().unified_memory != 0) return Return::kNotSupported;
  const Bytes bytes = MemoryOf(call);
  // The old form counts what the driver keeps as used.
  *memory = {.total = bytes.total, .free = bytes.free, .used = bytes.used + bytes.reserved};
  return Return::kSuccess;
}

Return nvmlDeviceGetMemoryInfo_v2(abi::Device device, abi::MemoryV2* memory) {
  GPUOP_NOT_NULL(memory);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (memory->version != abi::kVersionOfMemoryV2) return Return::kArgumentVersionMismatch;
  if (call.facts().unified_memory != 0) return Return::kNotSupported;
  const Bytes bytes = MemoryOf(call);
  memory->total = bytes.total;
  memory->reserved = bytes.reserved;
  memory->free = bytes.free;
  memory->used = bytes.used;
  return Return::kSuccess;
}

Return nvmlDeviceGetBAR1MemoryInfo(abi::Device device, abi::BAR1Memory* memory) {
  GPUOP_NOT_NULL(memory);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (call.facts().bar1_bytes == 0) return Return::kNotSupported;
  std::uint64_t total = call.facts().bar1_bytes;
  if (!call.place().whole()) {
    const auto& model = call.facts();
    total = model.memory_bytes == 0
                ? 0
                : total / 1024 * (call.instance().memory_bytes / 1024) / (model.memory_bytes / 1024) * 1024;
  }
  const std::uint64_t used = std::min<std::uint64_t>(total, std::uint64_t{1} << 20);
  *memory = {.bar1Total = total, .bar1Free = total - used, .bar1Used = used};
  return Return::kSuccess;
}

Return nvmlDeviceGetConfComputeProtectedMemoryUsage(abi::Device device, abi::Memory* memory) {
  GPUOP_NOT_NULL(memory);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.machine().confidential == 0) return Return::kNotSupported;
  const Bytes bytes = MemoryOf(call);
  *memory = {.total = bytes.total, .free = bytes.free, .used = bytes.used};
  return Return::kSuccess;
}

Return nvmlDeviceGetConfComputeMemSizeInfo(abi::Device device, abi::ConfComputeMemSizeInfo* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const std::uint64_t kib = call.facts().memory_bytes >> 10;
  *info = {.protectedMemSizeKib = call.machine().confidential != 0 ? kib : 0,
           .unprotectedMemSizeKib = call.machine().confidential != 0 ? 0 : kib};
  return Return::kSuccess;
}

Return nvmlDeviceGetEccMode(abi::Device device, abi::EnableState* current, abi::EnableState* pending) {
  GPUOP_NOT_NULL(current, pending);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().ecc_supported == 0) return Return::kNotSupported;
  *current = static_cast<abi::EnableState>(call.device().ecc_current);
  *pending = static_cast<abi::EnableState>(call.device().ecc_pending);
  return Return::kSuccess;
}

Return nvmlDeviceSetEccMode(abi::Device device, abi::EnableState mode) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (call.facts().ecc_supported == 0) return Return::kNotSupported;
  if (static_cast<unsigned>(mode) > 1) return Return::kInvalidArgument;
  call.device().ecc_pending = static_cast<std::uint32_t>(mode);
  return Return::kSuccess;
}

Return nvmlDeviceClearEccErrorCounts(abi::Device device, abi::EccCounterType counter) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (call.device().ecc_current == 0) return Return::kNotSupported;
  if (static_cast<unsigned>(counter) > 1) return Return::kInvalidArgument;
  call.device().ecc.corrected[static_cast<std::size_t>(counter)] = {};
  call.device().ecc.uncorrected[static_cast<std::size_t>(counter)] = {};
  return Return::kSuccess;
}

Return nvmlDeviceGetTotalEccErrors(abi::Device device, abi::MemoryErrorType type, abi::EccCounterType counter,
                                   unsigned long long* count) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.device().ecc_current == 0) return Return::kNotSupported;
  if (!Valid(type, counter)) return Return::kInvalidArgument;
  *count = 0;
  for (std::size_t i = 0; i < layout::kEccLocations; ++i) *count += Count(call.device(), type, counter, i);
  return Return::kSuccess;
}

Return nvmlDeviceGetDetailedEccErrors(abi::Device device, abi::MemoryErrorType type, abi::EccCounterType counter,
                                      abi::EccErrorCounts* counts) {
  GPUOP_NOT_NULL(counts);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.device().ecc_current == 0) return Return::kNotSupported;
  if (!Valid(type, counter)) return Return::kInvalidArgument;
  *counts = {.l1Cache = Count(call.device(), type, counter, 0),
             .l2Cache = Count(call.device(), type, counter, 1),
             .deviceMemory = Count(call.device(), type, counter, 2),
             .registerFile = Count(call.device(), type, counter, 3)};
  return Return::kSuccess;
}

Return nvmlDeviceGetMemoryErrorCounter(abi::Device device, abi::MemoryErrorType type, abi::EccCounterType counter,
                                       abi::MemoryLocation location, unsigned long long* count) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (!Valid(type, counter) || static_cast<unsigned>(location) >= layout::kEccLocations)
    return Return::kInvalidArgument;
  // Ampere and later tell device memory and SRAM alone.
  const bool old = call.facts().row_remapping == 0;
  if (call.device().ecc_current == 0) return Return::kNotSupported;
  if (!old && location != abi::MemoryLocation::kDram && location != abi::MemoryLocation::kSram)
    return Return::kNotSupported;
  *count = Count(call.device(), type, counter, static_cast<std::size_t>(location));
  return Return::kSuccess;
}

Return nvmlDeviceGetSramEccErrorStatus(abi::Device device, abi::EccSramErrorStatusV1* status) {
  GPUOP_NOT_NULL(status);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (status->version != abi::VersionOf<abi::EccSramErrorStatusV1>(1)) return Return::kArgumentVersionMismatch;
  if (call.device().ecc_current == 0 || call.facts().row_remapping == 0) return Return::kNotSupported;
  const auto sram = static_cast<std::size_t>(abi::MemoryLocation::kSram);
  const auto& ecc = call.device().ecc;
  const unsigned version = status->version;
  *status = {};
  status->version = version;
  status->volatileCor = ecc.corrected[0][sram];
  status->aggregateCor = ecc.corrected[1][sram];
  status->volatileUncSecDed = ecc.uncorrected[0][sram];
  status->aggregateUncSecDed = ecc.uncorrected[1][sram];
  status->aggregateUncBucketSm = ecc.uncorrected[1][sram];
  return Return::kSuccess;
}

Return nvmlDeviceGetRemappedRows(abi::Device device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                                 unsigned* failed) {
  GPUOP_NOT_NULL(corrected, uncorrected, pending, failed);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().row_remapping == 0) return Return::kNotSupported;
  *corrected = call.device().remapped_correctable;
  *uncorrected = call.device().remapped_uncorrectable;
  *pending = call.device().remap_pending;
  *failed = call.device().remap_failed;
  return Return::kSuccess;
}

Return nvmlDeviceGetRowRemapperHistogram(abi::Device device, abi::RowRemapperHistogramValues* values) {
  GPUOP_NOT_NULL(values);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().row_remapping == 0) return Return::kNotSupported;
  const auto& banks = call.device().remap_banks;
  *values = {.max = banks[0], .high = banks[1], .partial = banks[2], .low = banks[3], .none = banks[4]};
  return Return::kSuccess;
}

Return nvmlDeviceGetRetiredPages(abi::Device device, abi::PageRetirementCause cause, unsigned* count,
                                 unsigned long long* addresses) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return Pages(call, cause, count, addresses, nullptr);
}

Return nvmlDeviceGetRetiredPages_v2(abi::Device device, abi::PageRetirementCause cause, unsigned* count,
                                    unsigned long long* addresses, unsigned long long* times) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return Pages(call, cause, count, addresses, times);
}

Return nvmlDeviceGetRetiredPagesPendingStatus(abi::Device device, abi::EnableState* pending) {
  GPUOP_NOT_NULL(pending);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().ecc_supported == 0 || call.facts().row_remapping != 0) return Return::kNotSupported;
  *pending = static_cast<abi::EnableState>(call.device().retired_pending);
  return Return::kSuccess;
}

Return nvmlDeviceGetRepairStatus(abi::Device device, abi::RepairStatusV1* status) {
  GPUOP_NOT_NULL(status);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (status->version != abi::VersionOf<abi::RepairStatusV1>(1)) return Return::kArgumentVersionMismatch;
  if (call.facts().architecture < layout::Architecture::kBlackwell) return Return::kNotSupported;
  status->bChannelRepairPending = status->bTpcRepairPending = 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetUnrepairableMemoryFlag_v1(abi::Device device, abi::UnrepairableMemoryStatusV1* status) {
  GPUOP_NOT_NULL(status);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().row_remapping == 0) return Return::kNotSupported;
  status->bUnrepairableMemory = call.device().remap_failed;
  return Return::kSuccess;
}

}  // extern "C"
