#pragma once
// Xids: the numbers by which the driver reports errors (NVIDIA's Xid catalogue). What each means and what to do.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpuop::gpu {

/// Where an Xid usually comes from.
enum class XidClass {
  kApplication,  ///< the program's own fault: the device stays fit for others
  kSoftware,     ///< driver or firmware
  kHardware,     ///< the GPU or its memory
  kLink,         ///< NVLink or chip-to-chip
  kSystem,       ///< power, cooling, PCIe, the node
  kInformation,  ///< something was handled, or only told
};

/// How bad it is for the device.
enum class XidSeverity { kInformation, kWarning, kFatal };

/// What to do first.
enum class XidAction {
  kNone,
  kRestartApplication,
  kResetGpu,
  kRebootNode,
  kRestartVm,
  kCheckMechanics,      ///< power cables, seating, cooling
  kCheckLinks,          ///< NVLink cables and signal integrity, and the GPU at the other end
  kUpdateSoftware,      ///< driver or firmware
  kFollowOtherXid,      ///< it is the sequel of another Xid, which tells
  kFollowDriverAdvice,  ///< what the driver's recovery action says (nvml field 230)
  kContactSupport,
};

/// One number of the catalogue.
struct Xid {
  unsigned code = 0;
  XidClass origin = XidClass::kSoftware;
  XidSeverity severity = XidSeverity::kWarning;
  XidAction action = XidAction::kContactSupport;
  std::string_view meaning;
};

/// Every Xid of the catalogue, by code.
std::span<const Xid> Xids();
/// What is known of one; a code that is not in the catalogue is a warning to be reported.
Xid FindXid(unsigned code);

/// Whether a GPU that reported it should get no new work until it was repaired: everything but what a program did to
/// itself and what is only information.
bool MakesUnhealthy(const Xid& xid);

/// "hardware"; "fatal".
std::string_view Name(XidClass origin);
std::string_view Name(XidSeverity severity);
/// For people: "reset the GPU".
std::string_view Name(XidAction action);

/// An Xid as the kernel log has it.
struct XidMessage {
  /// "0000:04:00"; as written, without "PCI:".
  std::string pci;
  unsigned code = 0;
  /// Of the program that caused it, where the line says so.
  std::optional<unsigned> pid;
  std::string process;
  /// What follows.
  std::string text;
  bool operator==(const XidMessage&) const = default;
};

/// Reads "NVRM: Xid (PCI:0000:04:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", with whatever
/// stands before; nullopt for any other line.
std::optional<XidMessage> ParseXidMessage(std::string_view line);

/// An error of an NVSwitch as the kernel log has it.
struct SxidMessage {
  unsigned nvswitch = 0;
  std::string pci;
  unsigned code = 0;
  bool fatal = false;
  std::optional<unsigned> link;
  std::string text;
  bool operator==(const SxidMessage&) const = default;
};

/// Reads "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"; nullopt for any other line.
std::optional<SxidMessage> ParseSxidMessage(std::string_view line);

}  // namespace gpuop::gpu
