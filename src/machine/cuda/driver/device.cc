#include "machine/cuda/driver/device.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "machine/state/mig.h"

namespace gpuop::machine::cuda {
namespace {

constexpr std::uint32_t kGone = layout::kFaultOffBus | layout::kFaultLost | layout::kFaultNodeMissing;

Device Describe(const layout::Machine& machine, const Place& place) {
  const layout::Device& from = machine.devices[place.device];
  Device device{.place = place, .facts = from.facts};
  device.name = from.facts.name.view();
  device.uuid = from.facts.uuid.view();
  device.sm_count = from.facts.sm_count;
  device.ecc = from.ecc_current != 0;
  device.compute_mode = from.compute_mode;
  device.total_bytes = BytesTotal(machine, place);
  if (!place.whole()) {
    device.instance = from.instances[place.gpu_instance];
    const layout::ComputeInstance& compute = device.instance.compute[place.compute_instance];
    device.uuid = MigUuid(from, place.gpu_instance, place.compute_instance);
    device.name += " MIG " + MigProfileName(from, place.gpu_instance, place.compute_instance);
    device.sm_count = MultiprocessorsOf(from, device.instance, compute);
  }
  return device;
}

/// Everything there is to choose from: whole GPUs in order, and for those in MIG mode their compute instances.
struct Choice {
  std::uint32_t index = 0;  ///< of the GPU among the visible ones
  std::string gpu_uuid;
  bool mig = false;
  std::vector<Device> devices;  ///< one without MIG
};

std::vector<Choice> Choices(const layout::Machine& machine, const Nodes& nodes) {
  std::vector<Choice> choices;
  std::uint32_t index = 0;
  for (const std::uint32_t i : VisibleDevices(machine, nodes)) {
    const layout::Device& gpu = machine.devices[i];
    if ((gpu.faults & kGone) != 0) continue;
    Choice choice{
        .index = index++, .gpu_uuid = std::string(gpu.facts.uuid.view()), .mig = gpu.mig_current != 0, .devices = {}};
    if (!choice.mig) choice.devices.push_back(Describe(machine, {.device = i}));
    for (const Place& place : VisibleInstances(machine, nodes, i)) choice.devices.push_back(Describe(machine, place));
    choices.push_back(std::move(choice));
  }
  return choices;
}

/// What one word of CUDA_VISIBLE_DEVICES names.
const Device* Named(const std::vector<Choice>& choices, std::string_view word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) {
    const auto it = std::ranges::find(choices, number, &Choice::index);
    return it == choices.end() || it->devices.empty() ? nullptr : &it->devices[0];
  }
  const Device* found = nullptr;
  for (const Choice& choice : choices) {
    for (const Device& device : choice.devices) {
      const bool by_place = word.starts_with("MIG-GPU-") && !device.place.whole() &&
                            word == "MIG-" + choice.gpu_uuid + "/" + std::to_string(device.place.gpu_instance) + "/" +
                                        std::to_string(device.place.compute_instance);
      const bool by_gpu =
          word.starts_with("GPU-") && choice.gpu_uuid.starts_with(word) && &device == &choice.devices[0];
      if (!by_place && !by_gpu && !device.uuid.starts_with(word)) continue;
      if (found != nullptr && found != &device) return nullptr;  // an abbreviation of two
      found = &device;
    }
  }
  return word.size() > 4 ? found : nullptr;
}

}  // namespace

std::vector<Device> VisibleToCuda(const layout::Machine& machine, const Nodes& nodes,
                                  const std::optional<std::string>& visible) {
  const std::vector<Choice> choices = Choices(machine, nodes);
  std::vector<Device> devices;
  if (!visible) {
    for (const Choice& choice : choices)
      if (!choice.devices.empty()) devices.push_back(choice.devices[0]);
  } else {
    for (const std::string_view word : Split(*visible, ',')) {
      const Device* device = Named(choices, Trim(word));
      if (device == nullptr) break;  // what follows a wrong word is not seen either
      const bool twice =
          std::ranges::any_of(devices, [&](const Device& known) { return known.place == device->place; });
      if (twice) {
        devices.clear();
        break;
      }
      devices.push_back(*device);
    }
  }
  // With MIG there is one device for the whole process.
  const auto mig = std::ranges::find_if(devices, [](const Device& device) { return !device.place.whole(); });
  if (mig != devices.end()) devices = {*mig};
  for (std::size_t i = 0; i < devices.size(); ++i) devices[i].ordinal = static_cast<int>(i);
  return devices;
}

Uuid UuidBytes(std::string_view uuid) {
  Uuid bytes{};
  std::size_t n = 0;
  for (const char c : uuid.substr(std::min<std::size_t>(uuid.size(), 4))) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
    if (digit == std::string_view::npos || n >= 32) continue;
    bytes.bytes[n / 2] = static_cast<unsigned char>(bytes.bytes[n / 2] | digit << (n % 2 == 0 ? 4 : 0));
    ++n;
  }
  return bytes;
}

std::string PciBusId(const Device& device) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", device.facts.pci_domain, device.facts.pci_bus,
                device.facts.pci_device);
  return text;
}

int NewestPtx(std::uint32_t cuda_version) {
  const int major = static_cast<int>(cuda_version / 1000), minor = static_cast<int>(cuda_version % 1000 / 10);
  if (major >= 13) return 90 + 10 * (major - 13) + std::min(minor, 9);
  // PTX 8.5 came with 12.5 and 12.6; from 12.7 on its minor number is one behind.
  if (major == 12) return 80 + (minor >= 6 ? minor - 1 : minor);
  return major == 11 ? 70 + minor : 60 + minor;
}

}  // namespace gpuop::machine::cuda
