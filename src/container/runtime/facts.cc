#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "container/runtime/modify.h"

namespace gpuop::container {
namespace {

/// "Device Minor: \t 3" of /proc/driver/nvidia/gpus/*/information.
std::string Value(std::string_view text, std::string_view name) {
  for (const std::string_view line : Split(text, '\n'))
    if (const auto parts = Cut(line, ':'); parts && Trim(parts->first) == name) return std::string(Trim(parts->second));
  return "";
}

/// "0x20b0".
std::optional<unsigned> HexNumber(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  unsigned out = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), out, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::vector<unsigned> Numbers(const os::Fs& host, const std::string& folder, std::string_view prefix) {
  std::vector<unsigned> out;
  for (const std::string& name : host.List(folder).value_or(std::vector<std::string>()))
    if (name.starts_with(prefix))
      if (const auto number = ParseInt(std::string_view(name).substr(prefix.size())))
        out.push_back(static_cast<unsigned>(*number));
  std::ranges::sort(out);
  return out;
}

void AddMigDevices(const os::Fs& host, GpuFacts& gpu) {
  const std::string folder = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(gpu.minor) + "/mig";
  for (const unsigned instance : Numbers(host, folder, "gi"))
    for (const unsigned compute : Numbers(host, folder + "/gi" + std::to_string(instance), "ci"))
      gpu.mig_devices.push_back({.index = static_cast<unsigned>(gpu.mig_devices.size()),
                                 .gpu_instance = instance,
                                 .compute_instance = compute});
  gpu.mig_enabled = !gpu.mig_devices.empty();
}

}  // namespace

MachineFacts FactsFromProc(const os::Fs& host) {
  MachineFacts out;
  const std::string folder = "/proc/driver/nvidia/gpus";
  // Sorted by bus location, which is NVML's order.
  for (const std::string& pci : host.List(folder).value_or(std::vector<std::string>())) {
    const auto text = host.Read(folder + "/" + pci + "/information");
    if (!text) continue;
    const auto minor = ParseInt(Value(*text, "Device Minor"));
    if (!minor || *minor < 0) continue;
    GpuFacts gpu{.index = static_cast<unsigned>(out.gpus.size()),
                 .minor = static_cast<unsigned>(*minor),
                 .uuid = Value(*text, "GPU UUID"),
                 .pci = ToLower(pci),
                 .model = Value(*text, "Model")};
    const auto device = host.Read("/sys/bus/pci/devices/" + gpu.pci + "/device");
    if (const auto id = device ? HexNumber(Trim(*device)) : std::nullopt) gpu.pci_device = *id;
    AddMigDevices(host, gpu);
    out.gpus.push_back(std::move(gpu));
  }
  return out;
}

}  // namespace gpuop::container
