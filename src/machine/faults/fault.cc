#include "machine/faults/fault.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpuop::machine {
namespace {

using enum FaultScope;
using V = FaultValue;

constexpr std::array kKinds = std::to_array<FaultKind>({
    {"contexts-dead", kGpu, V::kNone, false,
     "an uncontained memory error (Xid 95): every context is dead until a reset"},
    {"device-node-missing", kGpu, V::kNone, false, "no /dev/nvidiaN"},
    {"driver-missing", kMachine, V::kNone, false, "nothing of the driver is installed"},
    {"ecc-corrected", kGpu, V::kCount, true, "value memory errors that ECC corrected"},
    {"ecc-uncorrected", kGpu, V::kCount, true, "value memory errors that it could not (Xid 48)"},
    {"engine-restart", kMachine, V::kNone, true, "the container engine is started anew"},
    {"fabric-not-ready", kMachine, V::kNone, false, "the fabric manager does not finish; CUDA says 802"},
    {"gpu-lost", kGpu, V::kNone, false, "the driver gave the GPU up; it answers GPU_IS_LOST until a reset"},
    {"hang", kMachine, V::kNone, false, "the NVML function of `call` (every one without it) does not return"},
    {"kernel-hang", kGpu, V::kNone, false, "CUDA kernels never finish"},
    {"mig-busy", kGpu, V::kNone, false, "changes of MIG mode and instances are refused as in use"},
    {"module-missing", kMachine, V::kNone, false, "the driver's kernel modules are not loaded"},
    {"module-vermagic", kMachine, V::kNone, false,
     "the kernel modules were built for another kernel and cannot be loaded"},
    {"needs-reset", kGpu, V::kNone, false, "the GPU works again only after a reset"},
    {"no-permission", kMachine, V::kNone, false, "NVML calls that change anything are refused"},
    {"nvlink-down", kGpu, V::kLink, false, "NVLink number value is down (Xid 74)"},
    {"off-bus", kGpu, V::kNone, false, "the GPU fell off the bus (Xid 79)"},
    {"pcie-degraded", kGpu, V::kLanes, false, "the PCIe link came up with value lanes"},
    {"power-brake", kGpu, V::kNone, false, "the power supply makes the GPU slow down"},
    {"power-cable", kGpu, V::kNone, false, "a power cable is missing: NVML answers INSUFFICIENT_POWER"},
    {"power-loss", kMachine, V::kNone, true,
     "the machine loses power and comes back; whatever was being written is lost"},
    {"reboot", kMachine, V::kNone, true, "the machine is shut down and comes back"},
    {"row-remap-failed", kGpu, V::kNone, false, "a bad row could not be remapped (Xid 64): the board must be replaced"},
    {"row-remap-pending", kGpu, V::kNone, false, "a bad row will be remapped at the next reset (Xid 63)"},
    {"thermal", kGpu, V::kDegrees, false, "the GPU is value degrees hot (without value: 3 over its slowdown limit)"},
    {"uvm-missing", kMachine, V::kNone, false, "no /dev/nvidia-uvm: NVML works, CUDA says 999"},
    {"version-mismatch", kMachine, V::kNone, false, "the driver's libraries and its kernel module are of two versions"},
    {"wrong-result", kGpu, V::kNone, false, "CUDA kernels compute wrong values, silently"},
    {"xid", kGpu, V::kXid, true, "the driver reports Xid value"},
});
static_assert(std::ranges::is_sorted(kKinds, {}, &FaultKind::name));

struct Range {
  std::int64_t least, most;
};
Range RangeOf(FaultValue value) {
  switch (value) {
    case V::kNone: return {0, 0};
    case V::kXid: return {1, 999};
    case V::kCount: return {1, 1'000'000'000};
    case V::kLink: return {0, layout::kMaxLinks - 1};
    case V::kDegrees: return {0, 150};
    case V::kLanes: return {1, 16};
  }
  return {0, 0};
}

/// Whether a kind can do without its value.
bool HasDefault(FaultValue value) { return value == V::kDegrees || value == V::kCount; }

}  // namespace

std::span<const FaultKind> FaultKinds() { return kKinds; }

const FaultKind* FindFaultKind(std::string_view name) {
  const auto* it = std::ranges::lower_bound(kKinds, name, {}, &FaultKind::name);
  return it != kKinds.end() && it->name == name ? it : nullptr;
}

Result<> Check(const Fault& fault, std::uint32_t gpus) {
  const FaultKind* kind = FindFaultKind(fault.fault);
  if (kind == nullptr)
    return Fail(Code::kInvalid,
                "fault: there is none called " + Quote(fault.fault) + "; `gpu-operator machine faults` lists them");
  if (kind->scope == kMachine && fault.gpu)
    return Fail(Code::kInvalid, "gpu: " + fault.fault + " is of the whole machine");
  if (kind->scope == kGpu && !fault.gpu) return Fail(Code::kInvalid, "gpu: " + fault.fault + " needs one");
  if (fault.gpu && *fault.gpu >= gpus)
    return Fail(Code::kInvalid,
                "gpu: there is no GPU " + std::to_string(*fault.gpu) + "; the machine has " + std::to_string(gpus));
  const Range range = RangeOf(kind->value);
  if (kind->value == V::kNone && fault.value) return Fail(Code::kInvalid, "value: " + fault.fault + " takes none");
  if (kind->value != V::kNone && !fault.value && !HasDefault(kind->value))
    return Fail(Code::kInvalid, "value: " + fault.fault + " needs one");
  if (fault.value && (*fault.value < range.least || *fault.value > range.most))
    return Fail(Code::kInvalid, "value: " + std::to_string(*fault.value) + " is not between " +
                                    std::to_string(range.least) + " and " + std::to_string(range.most));
  if (!fault.call.empty() && fault.fault != "hang") return Fail(Code::kInvalid, "call: only hang takes one");
  return {};
}

Result<Fault> ParseFault(std::span<const std::string> words) {
  if (words.empty()) return Fail(Code::kInvalid, "fault: expected its name");
  Fault fault{.fault = words[0]};
  for (const std::string& word : words.subspan(1)) {
    const auto pair = Cut(word, '=');
    const auto number = pair ? ParseInt(pair->second) : std::nullopt;
    if (pair && pair->first == "call") {
      fault.call = pair->second;
    } else if (pair && number && pair->first == "gpu" && *number >= 0 && *number <= 255) {
      fault.gpu = static_cast<std::uint32_t>(*number);
    } else if (pair && number && pair->first == "value") {
      fault.value = *number;
    } else {
      return Fail(Code::kInvalid, Quote(word) + ": expected gpu=N, value=N or call=NAME");
    }
  }
  return fault;
}

}  // namespace gpuop::machine
