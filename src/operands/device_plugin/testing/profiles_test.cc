#include "operands/device_plugin/testing/profiles.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "gpu/mig_name.h"

namespace gpuop::operands::device_plugin {

gpu::Inventory MachineOf(std::string_view profile) {
  gpu::Inventory out;
  out.driver_version = "550.163.01";
  const bool a100 = profile.starts_with("a100");
  for (unsigned i = 0; i < 8; ++i) {
    gpu::Device& d = out.devices.emplace_back();
    d.index = i;
    d.minor = i;
    d.uuid = fmt::format(
        "{}{}", a100 ? "GPU-12345678-1234-1234-1234-12345678000" : "GPU-b200b200-0000-0000-0000-00000000000", i);
    d.product = a100 ? "NVIDIA A100-SXM4-40GB" : "NVIDIA GB200";
    d.pci.bus = static_cast<std::uint8_t>(7 + i);
    d.numa_node = i < 4 ? 0 : 1;
    d.mig.capable = true;
    d.mig_model = gpu::FindMigModel(a100 ? "A100-40GB" : "GB200");
  }
  out.closeness.resize(64);
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j)
      out.closeness[i * 8 + j].path = i / 2 == j / 2   ? gpu::Closeness::Path::kSingleSwitch
                                      : i / 4 == j / 4 ? gpu::Closeness::Path::kNode
                                                       : gpu::Closeness::Path::kSystem;
  return out;
}

namespace {

void AddDevices(gpu::Device& device, std::string_view text, unsigned& mig_index) {
  const auto star = Cut(text, '*');
  const std::int64_t count = star ? *ParseInt(star->second) : 1;
  const std::string_view name = star ? star->first : text;
  const gpu::MigName parsed = *gpu::ParseMigName(name);
  const std::string instance_name = gpu::ToText({parsed.g, parsed.g, parsed.gb, parsed.with, parsed.without});
  const gpu::MigProfile* const profile = device.mig_model->FindByName(instance_name);
  for (std::int64_t i = 0; i < count; ++i) {
    if (parsed.c == parsed.g || i % (parsed.g / parsed.c) == 0) {
      gpu::GpuInstance& gi = device.mig.instances.emplace_back();
      gi.id = static_cast<unsigned>(device.mig.instances.size());
      gi.placement.start = gi.id;
      gi.profile = instance_name;
      gi.slices = profile->slices;
      gi.memory_mib = profile->memory_mib;
    }
    gpu::GpuInstance& gi = device.mig.instances.back();
    gpu::ComputeInstance& ci = gi.compute_instances.emplace_back();
    ci.id = static_cast<unsigned>(gi.compute_instances.size() - 1);
    ci.mig_index = mig_index++;
    ci.uuid = fmt::format("MIG-{}-{}-{}", device.index, gi.id, ci.id);
    ci.profile = name;
    ci.slices = parsed.c;
    ci.multiprocessors = profile->multiprocessors * parsed.c / parsed.g;
    ci.engines = profile->engines;
    ci.memory_mib = profile->memory_mib;
  }
}

}  // namespace

void SetMig(gpu::Inventory& inventory, std::size_t index, std::string_view text) {
  gpu::Device& device = inventory.devices[index];
  device.mig.enabled = device.mig.pending = true;
  device.mig.instances.clear();
  unsigned mig_index = 0;
  if (text == "on") return;
  for (const std::string_view part : Split(text, ',')) AddDevices(device, part, mig_index);
}

MigMinors MinorsOf(const gpu::Inventory& inventory) {
  MigMinors out;
  for (const gpu::Device& device : inventory.devices)
    for (const gpu::GpuInstance& gi : device.mig.instances) {
      const std::string name = fmt::format("gpu{}/gi{}", *device.minor, gi.id);
      const unsigned first = 3 + 135 * *device.minor + 9 * gi.id;
      out[name + "/access"] = first;
      for (const gpu::ComputeInstance& ci : gi.compute_instances)
        out[fmt::format("{}/ci{}/access", name, ci.id)] = first + 1 + ci.id;
    }
  return out;
}

std::string Words(const std::vector<std::string>& list) { return Join(list, " "); }

Result<Settings> TrySettings(const std::vector<std::string>& args, const char* file,
                             const std::map<std::string, std::string>& env) {
  const GetEnv getenv = [&](const char* name) {
    const auto it = env.find(name);
    return it == env.end() ? nullptr : it->second.c_str();
  };
  std::vector<std::string> all = args;
  if (file != nullptr) all.insert(all.end(), {"--config-file", "c.yaml"});
  ASSIGN(const auto flags, ReadFlags(all, getenv));
  if (file == nullptr) return MakeSettings(flags, getenv, nullptr);
  ASSIGN(const PluginSettings settings, ParsePluginSettings(file, "c.yaml"));
  return MakeSettings(flags, getenv, &settings);
}

Settings SettingsOf(const std::vector<std::string>& args, const char* file) {
  auto settings = TrySettings(args, file);
  EXPECT_TRUE(settings) << settings.error().text;
  return settings ? *std::move(settings) : Settings();
}

}  // namespace gpuop::operands::device_plugin
