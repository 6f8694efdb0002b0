#include "os/pci.h"

#include <charconv>

#include "base/text.h"

namespace gpuop::os {
namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices";
constexpr std::size_t kAttributeLimit = 4096;  // sysfs attributes are one page at most

template <class T>
std::optional<T> Number(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

template <class T>
std::optional<T> ReadNumber(const Fs& fs, const std::string& path, int base) {
  const auto text = fs.Read(path, kAttributeLimit);
  return text ? Number<T>(Trim(*text), base) : std::nullopt;
}

/// The last name in a link's target: "../../../bus/pci/drivers/nvidia" is "nvidia".
std::string LinkName(const Fs& fs, const std::string& path) {
  const std::string target = fs.ReadLink(path).value_or("");
  return target.substr(target.rfind('/') + 1);
}

std::optional<PciDevice> ReadDevice(const Fs& fs, const std::string& address) {
  const std::string folder = std::string(kDevices) + "/" + address + "/";
  const auto vendor = ReadNumber<std::uint16_t>(fs, folder + "vendor", 16);
  const auto device = ReadNumber<std::uint16_t>(fs, folder + "device", 16);
  const auto class_code = ReadNumber<std::uint32_t>(fs, folder + "class", 16);
  if (!vendor || !device || !class_code) return std::nullopt;
  PciDevice d{.address = address, .vendor = *vendor, .device = *device, .class_code = *class_code};
  d.subsystem_vendor = ReadNumber<std::uint16_t>(fs, folder + "subsystem_vendor", 16).value_or(0);
  d.subsystem_device = ReadNumber<std::uint16_t>(fs, folder + "subsystem_device", 16).value_or(0);
  d.revision = ReadNumber<std::uint8_t>(fs, folder + "revision", 16).value_or(0);
  d.numa_node = ReadNumber<int>(fs, folder + "numa_node", 10);
  if (d.numa_node < 0) d.numa_node.reset();  // -1: the machine does not say
  d.driver = LinkName(fs, folder + "driver");
  d.iommu_group = Number<int>(LinkName(fs, folder + "iommu_group"), 10);
  return d;
}

}  // namespace

Result<std::vector<PciDevice>> ReadPciDevices(const Fs& fs) {
  auto names = fs.List(kDevices);
  if (!names && names.error().code == Code::kNotFound) return std::vector<PciDevice>{};
  if (!names) return std::unexpected(std::move(names).error());
  std::vector<PciDevice> devices;
  for (const std::string& name : *names)
    if (auto device = ReadDevice(fs, name)) devices.push_back(*std::move(device));
  return devices;
}

}  // namespace gpuop::os
