#include <algorithm>

#include "gpu/xid.h"

namespace gpuop::gpu {
namespace {

using enum XidClass;
using enum XidAction;
using Severity = XidSeverity;
constexpr auto kInfo = Severity::kInformation;
constexpr auto kWarn = Severity::kWarning;
constexpr auto kFatal = Severity::kFatal;

constexpr Xid kXids[] = {
    {8, kApplication, kWarn, kRestartApplication, "the GPU stopped processing: command queue idle timeout"},
    {11, kApplication, kWarn, kRestartApplication, "invalid or corrupted push buffer: no such hardware method"},
    {13, kApplication, kWarn, kRestartApplication, "graphics engine exception: illegal instruction or address"},
    {25, kApplication, kWarn, kRestartApplication, "illegal notification in a push buffer"},
    {31, kApplication, kWarn, kRestartApplication, "GPU memory page fault"},
    {32, kSystem, kFatal, kRestartApplication, "corrupted push buffer on the way to the GPU"},
    {37, kSoftware, kWarn, kNone, "context switch firmware lacks a method"},
    {38, kSoftware, kFatal, kResetGpu, "context switch firmware watchdog timeout"},
    {39, kApplication, kWarn, kRestartApplication, "copy engine 0 exception"},
    {40, kApplication, kWarn, kRestartApplication, "copy engine 1 exception"},
    {41, kApplication, kWarn, kRestartApplication, "copy engine 2 exception"},
    {43, kApplication, kWarn, kNone, "a program's channel was reset: its own fault"},
    {44, kHardware, kFatal, kResetGpu, "fault during a context switch"},
    {45, kApplication, kWarn, kFollowOtherXid, "clean-up after a program was ended or another error"},
    {46, kHardware, kFatal, kResetGpu, "GPU timeout: it stopped processing"},
    {48, kHardware, kFatal, kResetGpu, "uncorrectable (double-bit) memory error"},
    {54, kSystem, kWarn, kCheckMechanics, "auxiliary power is not connected"},
    {60, kSoftware, kFatal, kRestartApplication, "video processor exception"},
    {62, kHardware, kFatal, kResetGpu, "internal microcontroller halt"},
    {63, kInformation, kInfo, kNone, "a memory row was remapped or a page retired; it takes effect at the next reset"},
    {64, kHardware, kFatal, kResetGpu, "a row remapping or page retirement could not be recorded"},
    {65, kApplication, kWarn, kRestartApplication, "video encoder 1 exception"},
    {66, kSoftware, kWarn, kNone, "illegal register access by the driver"},
    {67, kSoftware, kWarn, kContactSupport, "verification violation by the driver"},
    {68, kApplication, kWarn, kRestartApplication, "video decoder 0 exception"},
    {69, kApplication, kFatal, kRestartApplication, "graphics engine class error"},
    {70, kApplication, kWarn, kRestartApplication, "copy engine 3 exception"},
    {71, kApplication, kWarn, kRestartApplication, "copy engine 4 exception"},
    {72, kApplication, kWarn, kRestartApplication, "copy engine 5 exception"},
    {74, kLink, kFatal, kCheckLinks, "NVLink error"},
    {75, kApplication, kWarn, kRestartApplication, "copy engine 6 exception"},
    {76, kApplication, kWarn, kRestartApplication, "copy engine 7 exception"},
    {77, kApplication, kWarn, kRestartApplication, "copy engine 8 exception"},
    {78, kSoftware, kFatal, kUpdateSoftware, "a virtual GPU did not start"},
    {79, kSystem, kFatal, kRebootNode, "the GPU fell off the bus"},
    {80, kSystem, kWarn, kRestartApplication, "data to the GPU was corrupted: checksum mismatch in a push buffer"},
    {81, kHardware, kFatal, kContactSupport, "display subsystem error"},
    {82, kApplication, kWarn, kRestartApplication, "JPEG engine 0 exception"},
    {83, kApplication, kWarn, kRestartApplication, "video decoder 1 exception"},
    {84, kApplication, kWarn, kRestartApplication, "video decoder 2 exception"},
    {85, kApplication, kWarn, kRestartApplication, "copy engine 9 exception"},
    {86, kApplication, kWarn, kRestartApplication, "optical flow accelerator 0 exception"},
    {87, kInformation, kInfo, kNone, "telemetry report"},
    {88, kApplication, kWarn, kRestartApplication, "video decoder 3 exception"},
    {89, kApplication, kWarn, kRestartApplication, "video decoder 4 exception"},
    {90, kHardware, kWarn, kContactSupport, "level 2 cache error"},
    {92, kHardware, kWarn, kContactSupport, "high rate of corrected memory errors"},
    {93, kHardware, kWarn, kNone, "write limit of the InfoROM exceeded"},
    {94, kHardware, kWarn, kRestartApplication, "uncorrectable memory error, contained to one program"},
    {95, kHardware, kFatal, kResetGpu, "uncorrectable memory error, not contained"},
    {96, kApplication, kWarn, kRestartApplication, "video decoder 5 exception"},
    {97, kApplication, kWarn, kRestartApplication, "video decoder 6 exception"},
    {98, kApplication, kWarn, kRestartApplication, "video decoder 7 exception"},
    {99, kApplication, kWarn, kRestartApplication, "JPEG engine 1 exception"},
    {100, kApplication, kWarn, kRestartApplication, "JPEG engine 2 exception"},
    {101, kApplication, kWarn, kRestartApplication, "JPEG engine 3 exception"},
    {102, kApplication, kWarn, kRestartApplication, "JPEG engine 4 exception"},
    {103, kApplication, kWarn, kRestartApplication, "JPEG engine 5 exception"},
    {104, kApplication, kWarn, kRestartApplication, "JPEG engine 6 exception"},
    {105, kApplication, kWarn, kRestartApplication, "JPEG engine 7 exception"},
    {106, kInformation, kInfo, kNone, "system management bus test message"},
    {107, kInformation, kInfo, kNone, "system management bus test message"},
    {108, kLink, kWarn, kContactSupport, "address translation of an NVLink peer failed"},
    {109, kApplication, kWarn, kResetGpu, "context switch timeout"},
    {110, kHardware, kFatal, kResetGpu, "security fault"},
    {119, kSoftware, kFatal, kResetGpu, "GPU system processor: a call timed out"},
    {120, kSoftware, kFatal, kResetGpu, "GPU system processor error"},
    {121, kLink, kWarn, kNone, "corrected error of the chip-to-chip link"},
    {122, kSoftware, kWarn, kContactSupport, "the firmware's flash could not be read"},
    {123, kSoftware, kFatal, kResetGpu, "the firmware's flash could not be written"},
    {124, kSoftware, kWarn, kContactSupport, "the firmware's flash could not be erased"},
    {125, kHardware, kWarn, kContactSupport, "InfoROM file system failure"},
    {126, kApplication, kWarn, kRestartApplication, "copy engine 10 exception"},
    {127, kApplication, kWarn, kRestartApplication, "copy engine 11 exception"},
    {128, kApplication, kWarn, kRestartApplication, "copy engine 12 exception"},
    {129, kApplication, kWarn, kRestartApplication, "copy engine 13 exception"},
    {130, kApplication, kWarn, kRestartApplication, "copy engine 14 exception"},
    {131, kApplication, kWarn, kRestartApplication, "copy engine 15 exception"},
    {132, kApplication, kWarn, kRestartApplication, "copy engine 16 exception"},
    {133, kApplication, kWarn, kRestartApplication, "copy engine 17 exception"},
    {134, kApplication, kWarn, kRestartApplication, "copy engine 18 exception"},
    {135, kApplication, kWarn, kRestartApplication, "copy engine 19 exception"},
    {136, kLink, kWarn, kResetGpu, "NVLink training failed"},
    {137, kLink, kWarn, kFollowOtherXid, "NVLink privilege error: a fault of the peer or its program"},
    {138, kSoftware, kWarn, kContactSupport, "deep learning accelerator error"},
    {139, kApplication, kWarn, kRestartApplication, "optical flow accelerator 1 exception"},
    {140, kHardware, kFatal, kResetGpu, "an uncorrectable error escaped"},
    {141, kSoftware, kWarn, kNone, "CUDA fast path error"},
    {142, kApplication, kWarn, kContactSupport, "video encoder 3 exception"},
    {143, kHardware, kFatal, kResetGpu, "the GPU could not be initialised"},
    {144, kLink, kWarn, kFollowDriverAdvice, "NVLink error (SAW)"},
    {145, kLink, kWarn, kFollowDriverAdvice, "NVLink error (RLW)"},
    {146, kLink, kWarn, kFollowDriverAdvice, "NVLink error (TLW)"},
    {147, kLink, kWarn, kFollowDriverAdvice, "NVLink error (TREX)"},
    {148, kLink, kWarn, kFollowDriverAdvice, "NVLink error (NVLPW_CTRL)"},
    {149, kLink, kWarn, kFollowDriverAdvice, "NVLink error (NETIR)"},
    {150, kLink, kWarn, kFollowDriverAdvice, "NVLink error (MSE)"},
    {151, kSoftware, kWarn, kRestartVm, "confidential computing: key rotation failed"},
    {152, kInformation, kInfo, kNone, "deep learning accelerator: memory management fault"},
    {153, kInformation, kInfo, kNone, "deep learning accelerator: timeout"},
    {154, kInformation, kWarn, kFollowDriverAdvice, "the driver's recovery advice changed"},
    {155, kLink, kWarn, kResetGpu, "NVLink error defined by software"},
    {156, kInformation, kWarn, kResetGpu, "a faulty part of the GPU was retired; it takes effect at the next reset"},
    {157, kHardware, kWarn, kContactSupport, "a faulty part of the GPU could not be retired"},
    {158, kHardware, kFatal, kResetGpu, "fatal timeout inside the GPU"},
    {159, kSoftware, kWarn, kContactSupport, "error on the way to the CPU's memory"},
    {160, kInformation, kWarn, kNone, "a channel was retired"},
    {161, kSoftware, kWarn, kNone, "a channel could not be retired"},
    {162, kInformation, kInfo, kNone, "power smoothing works again"},
    {163, kSystem, kWarn, kRebootNode, "power smoothing was switched off"},
    {164, kInformation, kInfo, kNone, "power smoothing: little life is left"},
    {165, kInformation, kInfo, kNone, "power smoothing: no life is left"},
    {166, kSoftware, kWarn, kRebootNode, "confidential traffic before the link was encrypted"},
    {167, kSystem, kFatal, kRebootNode, "fatal PCIe timeout"},
    {168, kHardware, kWarn, kContactSupport, "less GPU memory: errors in its protected region"},
    {169, kHardware, kWarn, kRebootNode, "security microcontroller halt"},
    {170, kSoftware, kWarn, kContactSupport, "confidential computing: interrupt on a secured NVLink"},
    {171, kHardware, kWarn, kFollowOtherXid, "uncorrectable memory error in DRAM: detail of Xid 48"},
    {172, kHardware, kFatal, kResetGpu, "uncorrectable memory error in SRAM: detail of Xid 48"},
    {173, kLink, kFatal, kRebootNode, "fatal failure of the chip-to-chip link"},
    {174, kApplication, kWarn, kNone, "a program was ended after its channel was reset"},
    {175, kHardware, kWarn, kContactSupport, "memory subsystem error"},
    {176, kSystem, kWarn, kNone, "corrected PCIe errors"},
};

}  // namespace

std::span<const Xid> Xids() { return kXids; }

Xid FindXid(unsigned code) {
  const auto* const it = std::ranges::lower_bound(kXids, code, {}, &Xid::code);
  if (it != std::end(kXids) && it->code == code) return *it;
  return {.code = code, .meaning = "unknown error"};
}

bool MakesUnhealthy(const Xid& xid) {
  return xid.origin != XidClass::kApplication && xid.origin != XidClass::kInformation;
}

std::string_view Name(XidClass origin) {
  constexpr std::string_view kNames[] = {"application", "software", "hardware", "link", "system", "information"};
  return kNames[static_cast<std::size_t>(origin)];
}

std::string_view Name(XidSeverity severity) {
  constexpr std::string_view kNames[] = {"information", "warning", "fatal"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string_view Name(XidAction action) {
  constexpr std::string_view kNames[] = {
      "nothing",
      "restart the application",
      "reset the GPU",
      "reboot the node",
      "restart the virtual machine",
      "check power cables, seating and cooling",
      "check NVLink cables and the GPU at the other end",
      "update driver or firmware",
      "follow the Xid that came with it",
      "follow the driver's recovery advice",
      "contact support",
  };
  return kNames[static_cast<std::size_t>(action)];
}

}  // namespace gpuop::gpu
