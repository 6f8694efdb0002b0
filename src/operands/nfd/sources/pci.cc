#include <array>

#include "base/text.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr std::array<std::string_view, 5> kFields = {"class", "vendor", "device", "subsystem_vendor",
                                                     "subsystem_device"};

/// "0x10de" as "10de".
std::string Bare(std::string_view text) { return std::string(text.starts_with("0x") ? text.substr(2) : text); }

/// A device's attributes; empty while it is coming or going.
TextMap ReadDevice(const Host& host, const std::string& at) {
  TextMap out;
  for (const std::string_view field : kFields) {
    const auto line = host.Line(at + "/" + std::string(field));
    if (!line && field.starts_with("subsystem")) continue;
    if (!line) return {};
    std::string value = ToLower(Bare(*line));
    if (field == "class") value.resize(std::min<std::size_t>(value.size(), 4));  // without the programming interface
    out[std::string(field)] = std::move(value);
  }
  for (const char* optional : {"sriov_totalvfs", "iommu_group/type", "iommu/intel-iommu/version"})
    if (const auto line = host.Line(at + "/" + optional)) out[optional] = *line;
  return out;
}

}  // namespace

Found FindPci(const Question& question) {
  Found out;
  std::vector<TextMap>& devices = out.features.instances["pci.device"];
  const SourceSettings::Devices& settings = question.settings.pci;
  const std::vector<std::string> usual = SourceSettings::Default().pci.fields;
  for (const std::string& address : question.host.List(std::string(kDevices), out.failed)) {
    TextMap device = ReadDevice(question.host, std::string(kDevices) + "/" + address);
    if (device.empty()) continue;
    if (ClassListed(device["class"], settings.classes)) {
      const std::string name = DeviceLabel(device, settings.fields, kFields, usual);
      out.labels[name + ".present"] = "true";
      if (const auto vfs = device.find("sriov_totalvfs"); vfs != device.end() && ParseInt(vfs->second).value_or(0) > 0)
        out.labels[name + ".sriov.capable"] = "true";
    }
    devices.push_back(std::move(device));
  }
  return out;
}

}  // namespace gpuop::operands::nfd
