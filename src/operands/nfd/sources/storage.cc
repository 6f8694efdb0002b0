#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {

Found FindStorage(const Question& question) {
  Found out;
  std::vector<TextMap>& devices = out.features.instances["storage.block"];
  for (const std::string& name : question.host.List("/sys/block")) {
    TextMap device{{"name", name}};
    for (const char* attribute : {"dax", "rotational", "nr_zones", "zoned"})
      if (const auto line = question.host.Line("/sys/block/" + name + "/queue/" + attribute)) device[attribute] = *line;
    if (device.size() == 1) continue;
    if (const auto it = device.find("rotational"); it != device.end() && it->second == "0")
      out.labels["nonrotationaldisk"] = "true";
    devices.push_back(std::move(device));
  }
  return out;
}

}  // namespace gpuop::operands::nfd
