#pragma once
// One GPU model, as src/machine/data/models.yaml lists them.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/field.h"
#include "machine/state/layout.h"

namespace gpuop::machine {

struct EngineCounts {
  std::uint32_t copy = 0, encoder = 0, decoder = 0, jpeg = 0, ofa = 0;
  template <class V>
  void Visit(V& v) {
    v("copy", copy, {.description = "copy engines"});
    v("encoder", encoder, {.description = "NVENC"});
    v("decoder", decoder, {.description = "NVDEC"});
    v("jpeg", jpeg, {.description = "NVJPG"});
    v("ofa", ofa, {.description = "optical flow"});
  }
};

struct ClocksMhz {
  std::uint32_t graphics = 0, sm = 0, memory = 0, video = 0;
  template <class V>
  void Visit(V& v) {
    v("graphics", graphics, {.description = "MHz"});
    v("sm", sm, {.description = "MHz"});
    v("memory", memory, {.description = "MHz"});
    v("video", video, {.description = "MHz"});
  }
};

struct PowerWatts {
  std::uint32_t min = 0, max = 0, standard = 0, idle = 0;
  template <class V>
  void Visit(V& v) {
    v("min", min, {.description = "lowest limit, W; 0 with max: the limit cannot be set"});
    v("max", max, {.description = "highest limit, W"});
    v("default", standard, {.description = "limit as delivered, W"});
    v("idle", idle, {.description = "what it draws when it does nothing, W"});
  }
};

struct TemperatureLimits {
  std::uint32_t slowdown = 0, shutdown = 0, max_operating = 0, max_memory = 0;
  template <class V>
  void Visit(V& v) {
    v("slowdown", slowdown, {.description = "degrees Celsius at which hardware slows down"});
    v("shutdown", shutdown, {.description = "degrees Celsius at which it switches off"});
    v("maxOperating", max_operating, {.description = "highest allowed in operation"});
    v("maxMemory", max_memory, {.description = "highest allowed of the memory; 0: no sensor"});
  }
};

struct PcieSpec {
  std::uint32_t generation = 4, width = 16;
  template <class V>
  void Visit(V& v) {
    v("generation", generation, {.description = "the most it can", .defaulted = true, .minimum = 1, .maximum = 6});
    v("width", width, {.description = "lanes", .defaulted = true, .minimum = 1, .maximum = 16});
  }
};

struct NvlinkModel {
  std::uint32_t links = 0, version = 0, mb_per_second = 0;
  template <class V>
  void Visit(V& v) {
    v("links", links, {.description = "how many", .maximum = layout::kMaxLinks});
    v("version", version, {.description = "nvmlNvlinkVersion: 4 is NVLink 3.0, 6 is 4.0, 7 is 5.0", .maximum = 16});
    v("mbPerSecond", mb_per_second, {.description = "per link and direction"});
  }
};

struct InforomVersions {
  std::string image, ecc, oem, power;
  template <class V>
  void Visit(V& v) {
    v("image", image, {.max_length = 15});
    v("ecc", ecc, {.max_length = 15});
    v("oem", oem, {.max_length = 15});
    v("power", power, {.max_length = 15});
  }
};

namespace layout {
std::span<const data::EnumName<Architecture>> NamesOf(Architecture);
}  // namespace layout

/// What all GPUs of one model have in common.
struct GpuModel {
  std::string model, name, compute_capability = "0.0";
  layout::Architecture architecture = layout::Architecture::kAmpere;
  std::int64_t pci_id = 0, subsystem_id = 0;
  std::int64_t memory_mib = 0, reserved_mib = 0, bar1_mib = 0;
  std::uint32_t memory_bus_bits = 0, multiprocessors = 0, cores_per_multiprocessor = 64, l2_cache_kib = 0, fans = 0;
  EngineCounts engines;
  PcieSpec pcie;
  ClocksMhz clocks, idle_clocks;
  PowerWatts power;
  TemperatureLimits temperature;
  NvlinkModel nvlink;
  bool unified_memory = false, ecc = false, row_remapping = false, gsp_firmware = false, gpm = false, modules = false;
  bool chip_to_chip = false, display = false;
  std::string vbios, part_number;
  InforomVersions inforom;

  template <class V>
  void Visit(V& v) {
    v("model", model, {.description = "the word that machine files use", .required = true, .min_length = 1});
    v("name", name, {.description = "as nvidia-smi -L shows it", .required = true, .min_length = 1, .max_length = 95});
    v("architecture", architecture, {.required = true});
    v("computeCapability", compute_capability, {.required = true, .pattern = "^[0-9]{1,2}\\.[0-9]$"});
    v("pciId", pci_id,
      {.description = "device id << 16 | 0x10de", .required = true, .minimum = 1, .maximum = 4294967295.0});
    v("subsystemId", subsystem_id, {.maximum = 4294967295.0});
    v("memoryMiB", memory_mib, {.description = "total; 0 with unifiedMemory", .minimum = 0, .maximum = 4194304});
    v("reservedMiB", reserved_mib, {.description = "of it, the driver's", .minimum = 0, .maximum = 65536});
    v("bar1MiB", bar1_mib, {.minimum = 0, .maximum = 4194304});
    v("memoryBusBits", memory_bus_bits);
    v("multiprocessors", multiprocessors, {.required = true, .minimum = 1, .maximum = 1024});
    v("coresPerMultiprocessor", cores_per_multiprocessor, {.defaulted = true});
    v("engines", engines);
    v("l2CacheKiB", l2_cache_kib);
    v("pcie", pcie);
    v("clocks", clocks, {.description = "the highest"});
    v("idleClocks", idle_clocks, {.description = "when it does nothing"});
    v("power", power);
    v("temperature", temperature);
    v("fans", fans, {.description = "0: cooled by the chassis", .maximum = 8});
    v("nvlink", nvlink);
    v("chipToChip", chip_to_chip, {.description = "NVLink-C2C to the CPU"});
    v("unifiedMemory", unified_memory, {.description = "it uses the host's memory and has none of its own"});
    v("ecc", ecc);
    v("rowRemapping", row_remapping, {.description = "bad rows are remapped; otherwise pages are retired"});
    v("gspFirmware", gsp_firmware);
    v("gpm", gpm, {.description = "GPM metrics (Hopper and later)"});
    v("modules", modules, {.description = "sits on a base board and has a module id"});
    v("display", display);
    v("vbios", vbios, {.max_length = 31});
    v("partNumber", part_number, {.max_length = 31});
    v("inforom", inforom);
  }
};

/// Every model known, in the catalogue's order; read once.
const std::vector<GpuModel>& GpuModels();
/// By its word ("a100-sxm4-40gb"); null when unknown.
const GpuModel* FindGpuModel(std::string_view model);

}  // namespace gpuop::machine
