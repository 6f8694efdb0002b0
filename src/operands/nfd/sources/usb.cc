#include <array>

#include "base/text.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::string_view kDevices = "/sys/bus/usb/devices";
constexpr std::array<std::string_view, 3> kFields = {"class", "vendor", "device"};

/// The device once for each class: its own, or those of its interfaces where it leaves the class to them ("00").
std::vector<TextMap> ReadDevice(const Host& host, const std::string& name) {
  const std::string at = std::string(kDevices) + "/" + name;
  const auto device_class = host.Line(at + "/bDeviceClass");
  const auto vendor = host.Line(at + "/idVendor"), device = host.Line(at + "/idProduct");
  if (!device_class || !vendor || !device) return {};
  TextMap base{{"class", ToLower(*device_class)}, {"vendor", ToLower(*vendor)}, {"device", ToLower(*device)}};
  if (const auto serial = host.Line(at + "/serial")) base["serial"] = *serial;
  if (*device_class != "00") return {base};
  std::vector<TextMap> out;
  std::set<std::string> seen;
  for (const std::string& entry : host.List(at)) {
    if (!entry.starts_with(name + ":")) continue;
    const auto interface_class = host.Line(at + "/" + entry + "/bInterfaceClass");
    if (!interface_class || !seen.insert(*interface_class).second) continue;
    base["class"] = ToLower(*interface_class);
    out.push_back(base);
  }
  return out;
}

}  // namespace

Found FindUsb(const Question& question) {
  Found out;
  std::vector<TextMap>& devices = out.features.instances["usb.device"];
  const SourceSettings::Devices& settings = question.settings.usb;
  const std::vector<std::string> usual = SourceSettings::Default().usb.fields;
  for (const std::string& name : question.host.List(std::string(kDevices))) {
    for (TextMap& device : ReadDevice(question.host, name)) {
      if (ClassListed(device["class"], settings.classes))
        out.labels[DeviceLabel(device, settings.fields, kFields, usual) + ".present"] = "true";
      devices.push_back(std::move(device));
    }
  }
  return out;
}

}  // namespace gpuop::operands::nfd
