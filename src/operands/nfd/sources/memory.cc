#include "base/text.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

void FindNuma(const Host& host, Found& out) {
  std::size_t nodes = 0;
  for (const std::string& name : host.List("/sys/bus/node/devices"))
    if (name.starts_with("node")) ++nodes;
  if (nodes == 0)
    for (const std::string& name : host.List("/sys/devices/system/node"))
      if (name.starts_with("node") && ParseInt(name.substr(4))) ++nodes;
  if (nodes == 0) return;
  TextMap& numa = out.features.attributes["memory.numa"];
  numa["is_numa"] = nodes > 1 ? "true" : "false";
  numa["node_count"] = std::to_string(nodes);
  if (nodes > 1) out.labels["numa"] = "true";
}

void FindSwap(const Host& host, Found& out) {
  const auto text = host.Read("/proc/swaps");
  if (!text) return;
  std::size_t lines = 0;
  for (const std::string_view line : Split(*text, '\n')) lines += Trim(line).empty() ? 0 : 1;
  const bool enabled = lines > 1;  // the first one is the heading
  out.features.attributes["memory.swap"]["enabled"] = enabled ? "true" : "false";
  if (enabled) out.labels["swap"] = "true";
}

void FindPersistent(const Host& host, Found& out) {
  std::vector<TextMap>& devices = out.features.instances["memory.nv"];
  for (const std::string& name : host.List("/sys/bus/nd/devices")) {
    const std::string at = "/sys/bus/nd/devices/" + name;
    TextMap device{{"name", name}};
    for (const char* attribute : {"devtype", "mode"})
      if (const auto line = host.Line(at + "/" + attribute)) device[attribute] = *line;
    out.labels["nv.present"] = "true";
    if (device["devtype"] == "nd_dax") out.labels["nv.dax"] = "true";
    devices.push_back(std::move(device));
  }
}

/// "hugepages-2048kB" is the resource hugepages-2Mi.
std::string PageSize(std::int64_t kib) {
  if (kib % (1 << 20) == 0) return std::to_string(kib >> 20) + "Gi";
  if (kib % (1 << 10) == 0) return std::to_string(kib >> 10) + "Mi";
  return std::to_string(kib) + "Ki";
}

void FindHugePages(const Host& host, Found& out) {
  const std::string root = "/sys/kernel/mm/hugepages";
  TextMap pages;
  bool enabled = false;
  for (const std::string& name : host.List(root)) {
    if (!name.starts_with("hugepages-") || !name.ends_with("kB")) continue;
    const auto kib = ParseInt(name.substr(10, name.size() - 12));
    const auto total = host.Number(root + "/" + name + "/nr_hugepages");
    if (!kib || *kib <= 0 || !total) continue;
    enabled = enabled || *total > 0;
    pages["hugepages-" + PageSize(*kib)] = *total == 0 ? "0" : std::to_string(*total * *kib) + "Ki";
  }
  if (pages.empty()) return;
  pages["enabled"] = enabled ? "true" : "false";
  out.features.attributes["memory.hugepages"] = std::move(pages);
}

}  // namespace

Found FindMemory(const Question& question) {
  Found out;
  FindNuma(question.host, out);
  FindSwap(question.host, out);
  FindPersistent(question.host, out);
  FindHugePages(question.host, out);
  return out;
}

}  // namespace gpuop::operands::nfd
