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

/// "20b0".
std::optional<unsigned> HexNumber(std::string_view text) {
  unsigned out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

/// "00000000:3B:00.0", "0000:3b:00.0" and, in the first domain, "3b:00.0" are one place on the bus.
bool IsAt(std::string_view pci, const std::string& written) {
  const auto place = Cut(pci, ':');
  if (!place || !written.ends_with(place->second)) return false;
  std::string_view domain = std::string_view(written).substr(0, written.size() - place->second.size());
  if (domain.empty()) return HexNumber(place->first) == 0U;
  if (!domain.ends_with(':')) return false;
  domain.remove_suffix(1);
  const auto number = HexNumber(domain);
  return number && number == HexNumber(place->first);
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
    if (device && Trim(*device).starts_with("0x"))
      if (const auto id = HexNumber(Trim(*device).substr(2))) gpu.pci_device = *id;
    AddMigDevices(host, gpu);
    out.gpus.push_back(std::move(gpu));
  }
  return out;
}

std::string DeviceIdOf(const MachineFacts& machine, const std::string& written) {
  if (!written.contains('.')) return written;
  for (const GpuFacts& gpu : machine.gpus)
    if (IsAt(gpu.pci, ToLower(written))) return std::to_string(gpu.index);
  return written;
}

bool OnlySpecsKnow(const MachineFacts& machine, const std::string& id) {
  if (!id.starts_with("MIG-")) return false;
  for (const GpuFacts& gpu : machine.gpus)
    for (const MigFacts& mig : gpu.mig_devices)
      if (mig.uuid == id) return false;
  return true;
}

}  // namespace gpuop::container
