#pragma once
// What can break on a machine. Each fault can fail alone; docs/simulated-machines.md lists what each one shows.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/field.h"
#include "machine/state/layout.h"

namespace gpuop::machine {

/// One fault, as machine files and `gpu-operator machine fault` name it.
struct Fault {
  /// A name from FaultKinds().
  std::string fault = {};
  /// Which GPU (index); kinds of one GPU need it.
  std::optional<std::uint32_t> gpu = {};
  /// Kinds with a number: the Xid, how many errors, the NVLink, degrees, lanes.
  std::optional<std::int64_t> value = {};
  /// hang: the NVML function ("nvmlDeviceGetTemperature"); absent: every one.
  std::string call = {};

  template <class V>
  void Visit(V& v) {
    v("fault", fault, {.description = "its name", .required = true});
    v("gpu", gpu, {.description = "index of the GPU"});
    v("value", value, {.description = "Xid, count, link, degrees or lanes, by kind"});
    v("call", call, {.description = "NVML function that hangs", .max_length = 39});
  }
  bool operator==(const Fault&) const = default;
};

/// Where a kind of fault acts.
enum class FaultScope {
  kMachine,  ///< the whole machine; `gpu` is refused
  kGpu,      ///< one GPU; `gpu` is needed
};

/// What a kind's `value` means.
enum class FaultValue { kNone, kXid, kCount, kLink, kDegrees, kLanes };

struct FaultKind {
  std::string_view name;
  FaultScope scope;
  FaultValue value;
  /// Happens and is over (an Xid, a reboot); otherwise it lasts until it is cleared.
  bool event;
  std::string_view help;
};

/// Every kind, sorted by name.
std::span<const FaultKind> FaultKinds();
const FaultKind* FindFaultKind(std::string_view name);

/// What is wrong with a fault (unknown kind, GPU or value missing or out of range) on a machine of `gpus` GPUs;
/// kInvalid begins with the field's name.
Result<> Check(const Fault& fault, std::uint32_t gpus);

/// Reads "xid gpu=0 value=79", as the command line writes it.
Result<Fault> ParseFault(std::span<const std::string> words);

/// Makes a fault happen in the machine's state, with the events and counters that come with it. Faults of files
/// (no driver, a missing node, a module for another kernel) are set as flags, which the host's tree follows.
Result<> Inject(layout::Machine& machine, const Fault& fault);
/// Ends a lasting fault. kInvalid for one that is over as it happens.
Result<> Clear(layout::Machine& machine, const Fault& fault);
/// The lasting faults that there are now.
std::vector<Fault> Standing(const layout::Machine& machine);

}  // namespace gpuop::machine
