#include "operands/device_plugin/host_files.h"

#include "gpu/mig_devices.h"
#include "operands/device_plugin/mps_daemons.h"

namespace gpuop::operands::device_plugin {
namespace {

using container::CdiMode;
using container::CdiNaming;
using container::GenerateOptions;

constexpr const char* kControlNodes[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                                         "/dev/nvidia-modeset"};

Result<std::vector<unsigned>> FindChannels(const HostFiles& files, const Settings& settings) {
  std::vector<unsigned> out;
  for (const unsigned channel : settings.imex_channels) {
    const std::string path = "/dev/nvidia-caps-imex-channels/channel" + std::to_string(channel);
    const auto is_node = [&](const os::Fs& fs) {
      const auto info = fs.Stat(path);
      return info && info->device && !info->device->block;
    };
    if (is_node(files.devices) || is_node(files.own))
      out.push_back(channel);
    else if (settings.imex_required)
      return Fail(Code::kNotFound, "IMEX channel " + std::to_string(channel) + ": no character device at " + path);
  }
  return out;
}

GenerateOptions OptionsFor(const Settings& settings, CdiMode mode, const std::string& kind_class) {
  GenerateOptions options;
  options.mode = mode;
  options.vendor = kCdiVendor;
  options.kind_class = kind_class;
  options.naming = {settings.ids == IdStrategy::kIndex ? CdiNaming::kIndex : CdiNaming::kUuid};
  options.all_device = false;
  options.driver_root = settings.driver_root;
  options.dev_root = settings.dev_root;
  options.hook_path = settings.cdi_hook;
  options.disabled_hooks = settings.cdi_disabled_hooks;
  options.features = settings.cdi_features;
  return options;
}

Result<> WriteSpec(os::Fs& fs, const Settings& settings, const std::string& kind_class,
                   const container::CdiSpec& spec) {
  const std::string path = settings.cdi_folder + "/" + std::string(kCdiVendor) + "-" + kind_class + ".json";
  const std::string text = container::CdiSpecToJson(spec);
  if (const auto there = fs.Read(path); there && *there == text) return {};
  TRY(os::MakeFolders(fs, settings.cdi_folder));
  return fs.WriteAtomic(path, text, os::FileAttributes{.mode = 0644});
}

/// A class that the node may be without: whether it has it.
Result<bool> WriteExtra(const HostFiles& files, const container::MachineFacts& facts, const Settings& settings,
                        CdiMode mode, const std::string& kind_class, std::vector<std::string> devices = {"all"}) {
  GenerateOptions options = OptionsFor(settings, mode, kind_class);
  options.devices = std::move(devices);
  auto spec = container::GenerateCdiSpec({files.driver, files.devices, files.own}, facts, options);
  if (!spec && spec.error().code == Code::kUnavailable) return false;
  if (!spec) return std::unexpected(std::move(spec).error());
  TRY(WriteSpec(files.own, settings, kind_class, *spec));
  return true;
}

Result<> WriteSpecs(const HostFiles& files, const gpu::Inventory& gpus, const Settings& settings, Extras& extras) {
  const container::MachineFacts facts = FactsOf(gpus);
  auto spec = container::GenerateCdiSpec({files.driver, files.devices, files.own}, facts,
                                         OptionsFor(settings, CdiMode::kNvml, "gpu"));
  // GPUs in MIG mode without MIG devices: there is nothing to describe.
  if (!spec && spec.error().code != Code::kUnavailable) return std::unexpected(std::move(spec).error());
  if (spec) TRY(WriteSpec(files.own, settings, "gpu", *spec));
  if (!extras.imex_channels.empty()) {
    std::vector<std::string> channels;
    for (const unsigned channel : extras.imex_channels) channels.push_back(std::to_string(channel));
    TRY(WriteExtra(files, facts, settings, CdiMode::kImex, "imex-channel", channels));
  }
  struct Class {
    bool wanted;
    CdiMode mode;
    const char* name;
  };
  for (const Class& c : {Class{settings.gdrcopy, CdiMode::kGdrcopy, "gdrcopy"},
                         Class{settings.gds, CdiMode::kGds, "gds"}, Class{settings.mofed, CdiMode::kMofed, "mofed"}}) {
    if (!c.wanted) continue;
    ASSIGN(const bool there, WriteExtra(files, facts, settings, c.mode, c.name));
    if (there) extras.cdi_devices.push_back(std::string(c.name) + "=all");
  }
  return {};
}

/// Containers that share by MPS need their daemon's pipe.
Result<> CheckMps(const os::Fs& fs, const gpu::Inventory& gpus, const Settings& settings) {
  const MissingDaemons missing = FindMissingDaemons(fs, MpsResources(gpus, settings));
  return missing.empty() ? Result<>() : Fail(Code::kUnavailable, missing.begin()->second);
}

}  // namespace

container::MachineFacts FactsOf(const gpu::Inventory& gpus) {
  container::MachineFacts out{.driver_version = gpus.driver_version};
  for (const gpu::Device& device : gpus.devices) {
    if (!device.unreadable.empty() || !device.minor) continue;
    container::GpuFacts& gpu = out.gpus.emplace_back();
    gpu = {.index = device.index,
           .minor = *device.minor,
           .uuid = device.uuid,
           .pci = device.pci.Sysfs(),
           .mig_enabled = device.mig.enabled,
           .coherent = device.addressing == gpu::Addressing::kAts};
    for (const gpu::MigDevice& mig : gpu::MigDevicesOf(device))
      gpu.mig_devices.push_back({.index = *mig.compute->mig_index,
                                 .uuid = mig.compute->uuid,
                                 .gpu_instance = mig.instance->id,
                                 .compute_instance = mig.compute->id,
                                 .graphics = mig.instance->profile.contains("+gfx")});
  }
  return out;
}

Result<Extras> PrepareHost(const HostFiles& files, const gpu::Inventory& gpus, const Settings& settings) {
  Extras out;
  TRY(CheckMps(files.own, gpus, settings));
  ASSIGN(out.imex_channels, FindChannels(files, settings));
  if (settings.pass_device_specs)
    for (const char* path : kControlNodes)
      if (os::Exists(files.own, path).value_or(false)) out.control_nodes.emplace_back(path);
  if (settings.UsesCdi()) {
    auto written = WriteSpecs(files, gpus, settings, out);
    if (!written) return std::unexpected(std::move(written).error().During("CDI specs"));
  }
  return out;
}

}  // namespace gpuop::operands::device_plugin
