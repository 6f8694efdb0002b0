#pragma once
// What a machine file says (docs/formats/machine-file.md). Reading, writing, the reference and the JSON schema follow
// from the Visit of each type.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/field.h"
#include "machine/faults/fault.h"
#include "machine/spec/model.h"

namespace gpuop::machine {

enum class Cpu { kAmd64, kArm64 };
std::span<const data::EnumName<Cpu>> NamesOf(Cpu);
/// "x86_64" or "aarch64", as the kernel says.
std::string_view KernelName(Cpu cpu);
/// "x86_64-linux-gnu" or "aarch64-linux-gnu".
std::string_view LibraryTriplet(Cpu cpu);

/// /etc/os-release.
struct OsSpec {
  std::string id = "ubuntu", name, version_id, version, codename, id_like;
  template <class V>
  void Visit(V& v) {
    v("id", id, {.description = "ID", .required = true, .pattern = "^[a-z0-9._-]+$"});
    v("name", name, {.description = "NAME"});
    v("versionId", version_id, {.description = "VERSION_ID", .required = true, .pattern = "^[a-z0-9._-]+$"});
    v("version", version, {.description = "VERSION"});
    v("codename", codename, {.description = "VERSION_CODENAME"});
    v("idLike", id_like, {.description = "ID_LIKE"});
  }
};

enum class Engine { kContainerd, kCrio, kDocker, kNone };
std::span<const data::EnumName<Engine>> NamesOf(Engine);

struct EngineSpec {
  Engine name = Engine::kContainerd;
  std::string version = "1.7.27";
  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "the container engine", .defaulted = true});
    v("version", version, {.defaulted = true, .pattern = "^[0-9]+\\.[0-9]+\\.[0-9]+$"});
  }
};

/// /etc/dgx-release.
struct DgxSpec {
  std::string name, pretty_name, platform, software_version, serial;
  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "DGX_NAME", .required = true});
    v("prettyName", pretty_name, {.description = "DGX_PRETTY_NAME"});
    v("platform", platform, {.description = "DGX_PLATFORM"});
    v("softwareVersion", software_version, {.description = "DGX_SWBUILD_VERSION"});
    v("serial", serial, {.description = "DGX_SERIAL_NUMBER"});
  }
};

struct HostSpec {
  Cpu architecture = Cpu::kAmd64;
  std::string vendor, product, serial, kernel = "6.8.0-60-generic";
  OsSpec os;
  std::optional<DgxSpec> dgx;
  EngineSpec engine;
  std::uint32_t cpus = 8, sockets = 1, numa_nodes = 1, memory_gib = 32;
  bool secure_boot = false;
  template <class V>
  void Visit(V& v) {
    v("architecture", architecture, {.description = "of the CPU", .defaulted = true});
    v("vendor", vendor, {.description = "DMI system vendor"});
    v("product", product, {.description = "DMI product name"});
    v("serial", serial, {.description = "DMI product serial"});
    v("cpus", cpus, {.description = "logical ones", .defaulted = true, .minimum = 1, .maximum = 256});
    v("sockets", sockets, {.defaulted = true, .minimum = 1, .maximum = 8});
    v("numaNodes", numa_nodes, {.defaulted = true, .minimum = 1, .maximum = 32});
    v("memoryGiB", memory_gib, {.defaulted = true, .minimum = 1, .maximum = 65536});
    v("kernel", kernel,
      {.description = "release, as uname -r",
       .defaulted = true,
       .pattern = "^[0-9]+\\.[0-9]+\\.[0-9]+[A-Za-z0-9._+-]*$"});
    v("os", os, {.description = "/etc/os-release", .required = true});
    v("dgx", dgx, {.description = "/etc/dgx-release; absent: not a DGX"});
    v("engine", engine);
    v("secureBoot", secure_boot, {.description = "kernel modules must be signed"});
  }
};

enum class KernelModule { kOpen, kProprietary };
std::span<const data::EnumName<KernelModule>> NamesOf(KernelModule);

struct DriverSpec {
  bool installed = true, loaded = true, fabric_manager = false;
  std::string version, cuda, root = "/";
  KernelModule kernel_module = KernelModule::kOpen;
  template <class V>
  void Visit(V& v) {
    v("installed", installed,
      {.description = "its libraries and modules are on the machine", .defaulted = true, .keep_empty = true});
    v("loaded", loaded, {.description = "its kernel modules are loaded", .defaulted = true, .keep_empty = true});
    v("version", version,
      {.description = "such as 570.148.08; needed if installed", .pattern = "^[0-9]{3}\\.[0-9]{2,3}(\\.[0-9]{2})?$"});
    v("cuda", cuda,
      {.description = "the CUDA it supports, such as \"12.8\"; needed if installed", .pattern = "^[0-9]{2}\\.[0-9]$"});
    v("root", root,
      {.description = "where it is installed: / or, by a driver container, /run/nvidia/driver",
       .defaulted = true,
       .pattern = "^/"});
    v("kernelModule", kernel_module, {.description = "which of the two kernel modules", .defaulted = true});
    v("fabricManager", fabric_manager, {.description = "NVSwitches, and the fabric manager that sets them up"});
  }
};

struct MigSpec {
  bool enabled = false;
  std::vector<std::string> instances;
  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "MIG mode when the machine is switched on first"});
    v("instances", instances, {.description = "profiles of GPU instances, each with one full compute instance"});
  }
};

struct FabricSpec {
  std::string cluster;
  std::uint32_t clique = 0;
  template <class V>
  void Visit(V& v) {
    v("cluster", cluster,
      {.description = "UUID of the NVLink domain",
       .required = true,
       .pattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"});
    v("clique", clique);
  }
};

enum class NvlinkTopology { kNone, kSwitch, kPeers };
std::span<const data::EnumName<NvlinkTopology>> NamesOf(NvlinkTopology);

/// `count` GPUs of one model. What differs between them is a list with a value for each.
struct GpuGroup {
  std::string model;
  std::uint32_t count = 1;
  data::Json override_fields;
  std::vector<std::string> pci, uuids, serials;
  std::vector<std::int32_t> numa;
  std::vector<std::uint32_t> modules;
  bool ecc = true, persistence = false;
  MigSpec mig;
  NvlinkTopology nvlink = NvlinkTopology::kNone;
  std::optional<FabricSpec> fabric;
  template <class V>
  void Visit(V& v) {
    v("model", model, {.description = "from the catalogue", .required = true});
    v("count", count, {.defaulted = true, .minimum = 1, .maximum = layout::kMaxDevices});
    v("override", override_fields,
      {.description = "fields of the model that are otherwise here", .preserve_unknown = true});
    v("pci", pci, {.description = "one address for each, \"0000:07:00.0\"", .required = true});
    v("numa", numa, {.description = "NUMA node of each; absent: 0"});
    v("uuids", uuids, {.description = "absent: made from the machine's serial"});
    v("serials", serials, {.description = "absent: made from the machine's serial"});
    v("modules", modules, {.description = "module ids on the base board; absent: 1, 2, …"});
    v("ecc", ecc, {.description = "ECC mode, where the model has it", .defaulted = true, .keep_empty = true});
    v("persistence", persistence, {.description = "persistence mode"});
    v("mig", mig);
    v("nvlink", nvlink,
      {.description = "where the links end: at NVSwitches, at each other, or nowhere", .defaulted = true});
    v("fabric", fabric, {.description = "a multi-node NVLink domain"});
  }
};

/// A whole machine file.
struct Spec {
  std::string machine, name, description;
  HostSpec host;
  DriverSpec driver;
  std::vector<GpuGroup> gpus;
  std::vector<Fault> faults;
  template <class V>
  void Visit(V& v) {
    v("machine", machine, {.description = "the format", .required = true, .enumeration = {"v1"}});
    v("name", name,
      {.description = "the node's name",
       .required = true,
       .pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
       .max_length = 63});
    v("description", description);
    v("host", host, {.required = true});
    v("driver", driver, {.required = true});
    v("gpus", gpus, {.max_items = 16});
    v("faults", faults, {.description = "what is broken from the start"});
  }
};

/// Reads and checks a machine file. kInvalid names file, line and field:
/// "my.yaml:17: gpus[0].numa[3]: node 4 is not below host.numaNodes (2)".
Result<Spec> ReadSpec(std::string_view text, std::string_view file_name);

/// What is wrong with a spec beyond what each field alone says; kInvalid begins with the field's path.
Result<> Check(const Spec& spec);

/// The group's model with its overrides; kInvalid names the field.
Result<GpuModel> ModelOf(const GpuGroup& group);

/// The spec as a machine file that reads back the same.
std::string WriteSpec(const Spec& spec);

/// JSON schema (2020-12) of a machine file, for editors.
std::string SpecSchema();

/// The ready-made machines, sorted by name, and the text of one; nullopt when there is none of that name.
std::vector<std::string> ReadyMadeMachines();
std::optional<std::string_view> ReadyMadeMachine(std::string_view name);

}  // namespace gpuop::machine
