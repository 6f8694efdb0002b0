// Tegra systems: the driver's packages list in CSV files what a container gets.
#include <algorithm>

#include "base/text.h"
#include "container/generate/parts.h"
#include "data/glob.h"

namespace gpuop::container {
namespace {

constexpr const char* kFolder = "/etc/nvidia-container-runtime/host-files-for-container.d";

struct Listed {
  std::string kind, path;
};

/// Lines `dev|dir|lib|sym, path`; kInvalid names the line.
Result<std::vector<Listed>> ReadCsv(const Generation& g, const std::string& file) {
  std::vector<Listed> out;
  ASSIGN(const std::string text, g.driver.fs().Read(file));
  int number = 0;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = Trim(raw);
    if (line.empty()) continue;
    const auto parts = Cut(line, ',');
    const std::string_view kind = parts ? Trim(parts->first) : std::string_view();
    const std::string_view path = parts ? Trim(parts->second) : std::string_view();
    if ((kind != "dev" && kind != "dir" && kind != "lib" && kind != "sym") || !path.starts_with('/') ||
        path.contains(','))
      return Fail(Code::kInvalid,
                  file + ": line " + std::to_string(number) + ": expected dev, dir, lib or sym, a comma and a path");
    const auto ignored = [&](const std::string& pattern) { return data::MatchGlob(pattern, path).value_or(false); };
    if (std::ranges::none_of(g.options.csv_ignored, ignored)) out.push_back({std::string(kind), std::string(path)});
  }
  return out;
}

std::vector<std::string> CsvFiles(const Generation& g) {
  if (!g.options.csv_files.empty()) return g.options.csv_files;
  std::vector<std::string> out;
  for (const char* name : {"devices.csv", "drivers.csv", "l4t.csv"})
    if (const std::string path = std::string(kFolder) + "/" + name; os::Exists(g.driver.fs(), path).value_or(false))
      out.push_back(path);
  return out;
}

}  // namespace

Result<CdiSpec> GenerateCsv(Generation& g) {
  CdiEdits device, common;
  std::vector<std::string> links;
  for (const std::string& file : CsvFiles(g)) {
    ASSIGN(const std::vector<Listed> listed, ReadCsv(g, file));
    for (const Listed& item : listed) {
      if (item.kind == "dev") {
        // The integrated GPU is never the discrete one's node.
        if (item.path != "/dev/nvidia1" && HasDeviceNode(g, item.path)) AddDeviceNode(g, item.path, device);
        continue;
      }
      if (!os::Exists(g.driver.fs(), item.path).value_or(false)) continue;
      if (item.kind != "sym") {
        AddMount(g, item.path, common);
        continue;
      }
      const auto target = g.driver.fs().ReadLink(item.path);
      if (target) links.insert(links.end(), {"--link", *target + "::" + item.path});
    }
  }
  if (HasDeviceNode(g, "/dev/nvidia2")) AddDeviceNode(g, "/dev/nvidia2", device);
  if (device.device_nodes.empty())
    return Fail(Code::kUnavailable, std::string("no device of the CSV files in ") + kFolder);
  CdiSpec spec{.devices = {{.name = "0", .edits = std::move(device)}}, .edits = std::move(common)};
  if (!links.empty()) AddHook(g, "create-symlinks", links, spec.edits);
  if (!g.options.csv_compat_root.empty())
    AddHook(g, "enable-cuda-compat",
            {"--host-driver-version=" + g.version, "--cuda-compat-container-root=" + g.options.csv_compat_root},
            spec.edits);
  AddLoaderCache(g, LibraryFolders(spec.edits), spec.edits);
  return spec;
}

}  // namespace gpuop::container
