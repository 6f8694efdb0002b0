#include "base/text.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

TextMap ReadInterface(const Host& host, const std::string& name) {
  const std::string at = "/sys/class/net/" + name;
  TextMap out{{"name", name}};
  for (const char* attribute : {"operstate", "speed", "mtu", "device/sriov_numvfs", "device/sriov_totalvfs"})
    if (const auto line = host.Line(at + "/" + attribute)) out[attribute[0] == 'd' ? attribute + 7 : attribute] = *line;
  return out;
}

}  // namespace

Found FindNetwork(const Question& question) {
  Found out;
  std::vector<TextMap>& devices = out.features.instances["network.device"];
  std::vector<TextMap>& virtuals = out.features.instances["network.virtual"];
  for (const std::string& name : question.host.List("/sys/class/net")) {
    if (question.host.Exists("/sys/devices/virtual/net/" + name)) {
      virtuals.push_back(ReadInterface(question.host, name));
      continue;
    }
    if (!question.host.Exists("/sys/class/net/" + name + "/operstate")) continue;  // bonding_masters is a file
    TextMap device = ReadInterface(question.host, name);
    const auto count = [&](const char* what) {
      const auto it = device.find(what);
      return it == device.end() ? 0 : ParseInt(it->second).value_or(0);
    };
    if (count("sriov_totalvfs") > 0) out.labels["sriov.capable"] = "true";
    if (count("sriov_numvfs") > 0) out.labels["sriov.configured"] = "true";
    devices.push_back(std::move(device));
  }
  return out;
}

}  // namespace gpuop::operands::nfd
