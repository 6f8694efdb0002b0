#include "base/text.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

constexpr const char* kDmi[] = {"bios_date",    "bios_vendor",    "bios_version",    "board_asset_tag",
                                "board_name",   "board_vendor",   "board_version",   "chassis_asset_tag",
                                "chassis_type", "chassis_vendor", "chassis_version", "product_family",
                                "product_name", "product_sku",    "product_version", "sys_vendor"};

/// os-release(5): KEY=value, in quotes or not.
TextMap ReadOsRelease(const std::string& text) {
  TextMap out;
  for (const std::string_view line : Split(text, '\n')) {
    const auto cut = Cut(Trim(line), '=');
    if (!cut || line.starts_with('#')) continue;
    std::string_view value = Trim(cut->second);
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    out[std::string(Trim(cut->first))] = value;
  }
  return out;
}

}  // namespace

Found FindSystem(const Question& question) {
  Found out;
  if (!question.node_name.empty()) out.features.attributes["system.name"]["nodename"] = question.node_name;
  TextMap& dmi = out.features.attributes["system.dmiid"];
  for (const char* name : kDmi)
    if (const auto line = question.host.Line(std::string("/sys/devices/virtual/dmi/id/") + name)) dmi[name] = *line;
  if (dmi.empty()) out.features.attributes.erase("system.dmiid");

  auto text = question.host.Read("/etc/os-release");
  if (!text) text = question.host.Read("/usr/lib/os-release");
  if (!text) {
    out.complaints.push_back("os-release: " + text.error().text);
    return out;
  }
  TextMap& os = out.features.attributes["system.osrelease"] = ReadOsRelease(*text);
  if (const auto version = os.find("VERSION_ID"); version != os.end()) {
    const auto cut = Cut(version->second, '.');
    const std::string major(cut ? cut->first : version->second);
    const std::string minor(cut ? Split(cut->second, '.').front() : "");
    if (ParseInt(major)) {
      os["VERSION_ID.major"] = major;
      if (!minor.empty() && ParseInt(minor)) os["VERSION_ID.minor"] = minor;
    }
  }
  for (const char* key : {"ID", "VERSION_ID", "VERSION_ID.major", "VERSION_ID.minor", "OSTREE_VERSION"})
    if (const auto it = os.find(key); it != os.end()) out.labels["os_release." + std::string(key)] = it->second;
  return out;
}

}  // namespace gpuop::operands::nfd
