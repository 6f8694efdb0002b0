// Modes that describe other devices than single GPUs.
#include <algorithm>

#include "base/text.h"
#include "container/generate/parts.h"

namespace gpuop::container {
namespace {

constexpr const char* kChannels = "/dev/nvidia-caps-imex-channels";

CdiSpec OneDevice(CdiEdits edits) { return {.devices = {{.name = "all", .edits = std::move(edits)}}}; }

Result<unsigned> Channel(const Generation& g, const std::string& id) {
  constexpr std::int64_t kMostChannels = 1048576;
  const std::string_view number = std::string_view(id).substr(id.starts_with("channel") ? 7 : 0);
  const auto channel = ParseInt(number);
  if (!channel) return Fail(Code::kInvalid, "invalid channel ID " + Quote(id));
  if (*channel < 0 || *channel >= kMostChannels)
    return Fail(Code::kInvalid, "channel ID " + Quote(id) + " must be in the range [0, 1048575]");
  if (!HasDeviceNode(g, kChannels + std::string("/channel") + std::to_string(*channel)))
    return Fail(Code::kInvalid, "channel " + Quote(id) + " not found: there is no such node in " + kChannels);
  return static_cast<unsigned>(*channel);
}

}  // namespace

Result<CdiSpec> GenerateManagement(Generation& g) {
  CdiEdits nodes;
  for (const std::string& path : FindDeviceNodes(g, "/dev", "nvidia*")) {
    const std::string_view name = std::string_view(path).substr(5);
    if (name.starts_with("nvidia-fs") || name.starts_with("nvidia-nvswitch") || name.starts_with("nvidia-nvlink"))
      continue;
    AddDeviceNode(g, path, nodes);
  }
  for (const auto& [folder, pattern] : {std::pair{"/dev/nvidia-caps", "nvidia-cap*"}, std::pair{kChannels, "channel*"}})
    for (const std::string& path : FindDeviceNodes(g, folder, pattern)) AddDeviceNode(g, path, nodes);
  if (nodes.device_nodes.empty()) return Fail(Code::kUnavailable, "no NVIDIA device nodes found");
  CdiSpec spec = OneDevice(std::move(nodes));
  TRY(AddDriverFiles(g, false, spec.edits));
  return spec;
}

Result<CdiSpec> GenerateImex(Generation& g) {
  CdiSpec spec;
  std::vector<unsigned> channels;
  for (const std::string& id : g.options.devices) {
    if (id == "all") {
      for (const std::string& path : FindDeviceNodes(g, kChannels, "channel*"))
        if (const auto number = ParseInt(std::string_view(path).substr(path.rfind('/') + 8)))
          channels.push_back(static_cast<unsigned>(*number));
      continue;
    }
    ASSIGN(const unsigned channel, Channel(g, id));
    channels.push_back(channel);
  }
  std::ranges::sort(channels);
  channels.erase(std::ranges::unique(channels).begin(), channels.end());
  for (const unsigned channel : channels) {
    const std::string path = kChannels + std::string("/channel") + std::to_string(channel);
    CdiDeviceNode node{.path = path};
    if (const std::string host = BelowRoot(g.options.dev_root, path); host != path) node.host_path = host;
    spec.devices.push_back({.name = std::to_string(channel), .edits = {.device_nodes = {std::move(node)}}});
  }
  if (spec.devices.empty()) return Fail(Code::kUnavailable, "no IMEX channel nodes in " + std::string(kChannels));
  return spec;
}

Result<CdiSpec> GeneratePeripheral(Generation& g) {
  std::vector<std::pair<const char*, const char*>> places;
  switch (g.options.mode) {
    case CdiMode::kGds: places = {{"/dev", "nvidia-fs*"}}; break;
    case CdiMode::kMofed: places = {{"/dev/infiniband", "uverbs*"}, {"/dev/infiniband", "rdma_cm"}}; break;
    case CdiMode::kNvswitch: places = {{"/dev", "nvidia-nvswitchctl"}, {"/dev", "nvidia-nvswitch[0-9]*"}}; break;
    default: places = {{"/dev", "gdrdrv"}}; break;
  }
  CdiEdits edits;
  for (const auto& [folder, pattern] : places)
    for (const std::string& path : FindDeviceNodes(g, folder, pattern)) AddDeviceNode(g, path, edits);
  if (edits.device_nodes.empty())
    return Fail(Code::kUnavailable,
                "no device node of this mode found: " + std::string(places[0].first) + "/" + places[0].second);
  if (g.options.mode == CdiMode::kGds)
    for (const std::string path : {"/run/udev", "/etc/cufile.json"})
      if (os::Exists(g.driver.fs(), path).value_or(false)) AddMount(g, path, edits);
  return OneDevice(std::move(edits));
}

Result<CdiSpec> GenerateWsl(Generation& g) {
  constexpr const char* kDxcore = "/usr/lib/wsl/lib/libdxcore.so";
  constexpr const char* kStores = "/usr/lib/wsl/drivers";
  if (!os::Exists(g.driver.fs(), kDxcore).value_or(false))
    return Fail(Code::kUnavailable, std::string("WSL without ") + kDxcore);
  if (!HasDeviceNode(g, "/dev/dxg")) return Fail(Code::kUnavailable, "WSL without /dev/dxg");
  CdiEdits device;
  AddDeviceNode(g, "/dev/dxg", device);
  CdiSpec spec = OneDevice(std::move(device));
  AddMount(g, kDxcore, spec.edits);
  std::vector<std::string> links, folders = {"/usr/lib/wsl/lib"};
  for (const std::string& store : g.driver.fs().List(kStores).value_or(std::vector<std::string>())) {
    const std::string folder = kStores + ("/" + store);
    if (!os::Exists(g.driver.fs(), folder + "/libcuda.so.1.1").value_or(false)) continue;
    folders.push_back(folder);
    for (const char* pattern : {"*.so*", "*.bin", "*.dll", "nvidia-smi"})
      for (const std::string& path : g.driver.Files({folder}, pattern)) AddMount(g, path, spec.edits);
    if (os::Exists(g.driver.fs(), folder + "/nvidia-smi").value_or(false))
      links = {"--link", folder + "/nvidia-smi::/usr/bin/nvidia-smi"};
  }
  if (!links.empty()) AddHook(g, "create-symlinks", links, spec.edits);
  AddLoaderCache(g, {folders.begin(), folders.end()}, spec.edits);
  return spec;
}

}  // namespace gpuop::container
