#include "operands/mig_manager/default_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/yaml.h"

namespace gpuop::operands::mig_manager {
namespace {

/// Instances of one profile on a GPU.
struct Devices {
  std::string profile;
  int count;
};

/// Layouts that split a GPU into instances of one kind, on every model that knows it.
const std::vector<Devices>& Uniform() {
  static const std::vector<Devices> kAll = {
      // clang-format off
      // A100 and A800 of 40 GB
      {"1g.5gb", 7}, {"1g.5gb+me", 1}, {"2g.10gb", 3}, {"3g.20gb", 2}, {"4g.20gb", 1}, {"7g.40gb", 1},
      // A100, A800, H100 and H800 of 80 GB
      {"1g.10gb+me", 1}, {"1g.20gb", 4}, {"2g.20gb", 3}, {"3g.40gb", 2}, {"4g.40gb", 1}, {"7g.80gb", 1},
      // A30
      {"1g.6gb", 4}, {"1g.6gb+me", 1}, {"2g.12gb", 2}, {"2g.12gb+me", 1}, {"4g.24gb", 1},
      // H100 NVL, H100 and GH200 of 94 to 96 GB, H20
      {"1g.12gb", 7}, {"1g.12gb+me", 1}, {"1g.24gb", 4}, {"1g.24gb+me", 1}, {"2g.24gb", 3}, {"3g.47gb", 2}, {"4g.47gb", 1}, {"7g.94gb", 1}, {"3g.48gb", 2}, {"4g.48gb", 1}, {"7g.96gb", 1},
      // RTX PRO 6000 Blackwell
      {"1g.24gb+gfx", 4}, {"1g.24gb+me.all", 1}, {"1g.24gb-me", 4}, {"2g.48gb", 2}, {"2g.48gb+gfx", 2}, {"2g.48gb+me.all", 1}, {"2g.48gb-me", 2}, {"4g.96gb", 1}, {"4g.96gb+gfx", 1},
      // H200
      {"1g.18gb", 7}, {"1g.18gb+me", 1}, {"2g.35gb", 3}, {"3g.71gb", 2}, {"4g.71gb", 1}, {"7g.141gb", 1},
      // GH200 of 144 GB
      {"1g.36gb", 4}, {"2g.36gb", 3}, {"3g.72gb", 2}, {"4g.72gb", 1}, {"7g.144gb", 1},
      // B200
      {"1g.23gb", 7}, {"1g.23gb+me", 1}, {"1g.45gb", 4}, {"2g.45gb", 3}, {"3g.90gb", 2}, {"4g.90gb", 1}, {"7g.180gb", 1},
      // GB200
      {"1g.47gb", 4}, {"2g.47gb", 3}, {"3g.93gb", 2}, {"4g.93gb", 1}, {"7g.186gb", 1}, {"3g.95gb", 2}, {"4g.95gb", 1}, {"7g.189gb", 1},
      // B300
      {"1g.34gb", 7}, {"1g.34gb+me", 1}, {"1g.67gb", 4}, {"2g.67gb", 3}, {"3g.135gb", 2}, {"4g.135gb", 1}, {"7g.269gb", 1},
      // GB300
      {"1g.35gb+me", 1}, {"1g.70gb", 4}, {"2g.70gb", 3}, {"3g.139gb", 2}, {"4g.139gb", 1}, {"7g.278gb", 1},
      // clang-format on
  };
  return kAll;
}

/// What a name means on some models: their PCI device ids.
struct OnModels {
  std::vector<std::uint16_t> models;
  std::vector<Devices> devices;
};

const std::vector<std::uint16_t>& Gb40() {
  static const std::vector<std::uint16_t> kIds = {0x20B0, 0x20B1, 0x20F1, 0x20F6};
  return kIds;
}
const std::vector<std::uint16_t>& Gb80() {
  static const std::vector<std::uint16_t> kIds = {0x2330, 0x2331, 0x2322, 0x20B2, 0x20B5, 0x20F3, 0x20F5, 0x2324};
  return kIds;
}

const std::vector<OnModels>& Balanced() {
  static const std::vector<OnModels> kAll = {
      // clang-format off
      {.models = Gb40(), .devices = {{"1g.5gb", 2}, {"2g.10gb", 1}, {"3g.20gb", 1}}},
      {.models = Gb80(), .devices = {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}},
      {.models = {0x20B7}, .devices = {{"1g.6gb", 2}, {"2g.12gb", 1}}},
      {.models = {0x2321, 0x233A}, .devices = {{"1g.12gb", 2}, {"2g.24gb", 1}, {"3g.47gb", 1}}},
      {.models = {0x2342, 0x233D, 0x20B6, 0x2329}, .devices = {{"1g.12gb", 2}, {"2g.24gb", 1}, {"3g.48gb", 1}}},
      {.models = {0x2335, 0x233B}, .devices = {{"1g.18gb", 2}, {"2g.35gb", 1}, {"3g.71gb", 1}}},
      {.models = {0x2348}, .devices = {{"1g.18gb", 2}, {"2g.36gb", 1}, {"3g.72gb", 1}}},
      {.models = {0x2BB5}, .devices = {{"1g.24gb", 2}, {"2g.48gb", 1}}},
      {.models = {0x2901}, .devices = {{"1g.23gb", 2}, {"2g.45gb", 1}, {"3g.90gb", 1}}},
      {.models = {0x2941}, .devices = {{"1g.23gb", 2}, {"2g.47gb", 1}, {"3g.93gb", 1}}},
      {.models = {0x3182}, .devices = {{"1g.34gb", 2}, {"2g.67gb", 1}, {"3g.135gb", 1}}},
      {.models = {0x31C2}, .devices = {{"1g.35gb", 2}, {"2g.70gb", 1}, {"3g.139gb", 1}}},
      // clang-format on
  };
  return kAll;
}

data::JsonObject Entry(bool enabled) { return {{"devices", "all"}, {"mig-enabled", enabled}}; }

data::JsonObject EntryOf(const std::vector<Devices>& devices) {
  data::JsonObject counts;
  for (const Devices& d : devices) counts[d.profile] = d.count;
  data::JsonObject out = Entry(true);
  out["mig-devices"] = std::move(counts);
  return out;
}

data::JsonArray EntriesOf(const std::vector<OnModels>& models) {
  data::JsonArray out;
  for (const OnModels& on : models) {
    data::JsonArray ids;
    for (const std::uint16_t id : on.models) ids.emplace_back(fmt::format("0x{:04X}10DE", id));
    data::JsonObject entry{{"device-filter", std::move(ids)}};
    for (auto& member : EntryOf(on.devices)) entry[member.key()] = member.value();
    out.emplace_back(std::move(entry));
  }
  return out;
}

/// In names '+' is written '.', as in resource names.
std::string LayoutName(std::string profile) {
  std::ranges::replace(profile, '+', '.');
  return "all-" + profile;
}

}  // namespace

std::string DefaultLayouts() {
  data::JsonObject layouts;
  layouts["all-disabled"] = data::JsonArray{Entry(false)};
  layouts["all-enabled"] = data::JsonArray{EntryOf({})};
  layouts["all-1g.10gb"] = EntriesOf({{Gb80(), {{"1g.10gb", 7}}}, {Gb40(), {{"1g.10gb", 4}}}});
  layouts["all-1g.35gb"] = EntriesOf({{{0x31C2}, {{"1g.35gb", 7}}}, {{0x2335}, {{"1g.35gb", 4}}}});
  for (const Devices& d : Uniform()) layouts[LayoutName(d.profile)] = data::JsonArray{EntryOf({d})};
  layouts["all-balanced"] = EntriesOf(Balanced());
  return data::ToYaml(data::JsonObject{{"version", "v1"}, {"mig-configs", std::move(layouts)}});
}

std::string DefaultClients() {
  data::JsonArray services;
  for (const char* name : {"nvsm", "nvsm-mqtt", "nvsm-core", "nvsm-api-gateway", "nvsm-notifier", "nv_peer_mem",
                           "nvidia-dcgm", "dcgm", "dcgm-exporter"})
    services.emplace_back(std::string(name) + ".service");
  return data::ToYaml(data::JsonObject{{"version", "v1"}, {"systemd-services", std::move(services)}});
}

}  // namespace gpuop::operands::mig_manager
