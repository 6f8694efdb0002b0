#include "cli/ctk/cdi.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/utsname.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/ctk/facts.h"
#include "container/cdi/cache.h"
#include "container/flags.h"
#include "container/runtime/config.h"
#include "gpu/driver_root.h"
#include "gpu/inventory_reader.h"
#include "os/real_fs.h"
#include "os/system_error.h"

namespace gpuop::cli {
namespace {

using container::CdiMode;
using container::FlagSpec;
using container::FlagValues;

const std::vector<FlagSpec>& GenerateFlags() {
  static const std::vector<FlagSpec> kFlags = {
      {{"--mode", "--discovery-mode"}, {"NVIDIA_CTK_CDI_GENERATE_MODE"}, "auto"},
      {{"--output"}, {"NVIDIA_CTK_CDI_OUTPUT_FILE_PATH"}},
      {{"--format"}, {}, "yaml"},
      {{"--driver-root"}, {"NVIDIA_CTK_DRIVER_ROOT"}},
      {{"--dev-root"}, {"NVIDIA_CTK_DEV_ROOT"}},
      {{"--with-dev-of-dev-root"}, {}, "false", true},
      {{"--library-search-path"}, {}, "", false, true},
      {{"--config-search-path"}, {"NVIDIA_CTK_CDI_GENERATE_CONFIG_SEARCH_PATHS"}, "", false, true},
      {{"--nvidia-cdi-hook-path", "--nvidia-ctk-path"}, {"NVIDIA_CTK_CDI_HOOK_PATH"}, "/usr/bin/nvidia-cdi-hook"},
      {{"--ldconfig-path"}},
      {{"--vendor", "--cdi-vendor"}, {}, "nvidia.com"},
      {{"--class", "--cdi-class"}, {}, "gpu"},
      {{"--device-name-strategy"}, {}, "index,uuid", false, true},
      {{"--csv.file"}, {}, "", false, true},
      {{"--csv.ignore-pattern"}, {}, "", false, true},
      {{"--csv.compat-container-root"}},
      {{"--disable-hook", "--disable-hooks"}, {}, "", false, true},
      {{"--enable-hook", "--enable-hooks"}, {}, "", false, true},
      {{"--feature-flag", "--feature-flags"}, {}, "", false, true},
      {{"--no-all-device"}, {}, "false", true},
      {{"--device-id", "--device"}, {}, "all", false, true}};
  return kFlags;
}

Result<container::GenerateOptions> OptionsOf(const FlagValues& v) {
  container::GenerateOptions o;
  const auto mode = container::CdiModeNamed(v.Text("--mode"));
  if (!mode) return Fail(Code::kInvalid, "--mode: " + Quote(v.Text("--mode")) + " is not known");
  o.mode = *mode;
  if (v.Text("--format") != "yaml" && v.Text("--format") != "json")
    return Fail(Code::kInvalid, "--format: " + Quote(v.Text("--format")) + " is not yaml or json");
  o.vendor = v.Text("--vendor");
  o.kind_class = v.Text("--class");
  o.naming.clear();
  for (const std::string& name : v.List("--device-name-strategy")) {
    const auto naming = container::CdiNamingNamed(name);
    if (!naming)
      return Fail(Code::kInvalid, "--device-name-strategy: " + Quote(name) + " is not index, type-index or uuid");
    o.naming.push_back(*naming);
  }
  o.devices = v.List("--device-id");
  o.all_device = !v.On("--no-all-device");
  o.driver_root = v.Text("--driver-root");
  if (o.driver_root.empty()) {
    const auto host = os::RealFs::Open("/");
    const auto text =
        host ? (*host)->Read(container::RuntimeConfigPath()) : Result<std::string>(std::unexpected(host.error()));
    const auto config =
        text ? container::ReadRuntimeConfig(*text) : Result<container::RuntimeConfig>(container::RuntimeConfig());
    o.driver_root = config && !config->cli.root.empty() ? config->cli.root : "/";
  }
  o.dev_root = v.Text("--dev-root").empty() ? o.driver_root : v.Text("--dev-root");
  o.hook_path = v.Text("--nvidia-cdi-hook-path");
  o.ldconfig_path = v.Text("--ldconfig-path");
  const auto set = [&](const char* flag) {
    const std::vector<std::string> list = v.List(flag);
    return std::set<std::string>(list.begin(), list.end());
  };
  o.disabled_hooks = set("--disable-hook");
  o.enabled_hooks = set("--enable-hook");
  o.features = set("--feature-flag");
  o.library_folders = v.List("--library-search-path");
  o.config_folders = v.List("--config-search-path");
  o.csv_files = v.List("--csv.file");
  o.csv_ignored = v.List("--csv.ignore-pattern");
  o.csv_compat_root = v.Text("--csv.compat-container-root");
  return o;
}

/// What the driver says; nothing where it is not loaded, which only some modes mind.
Result<container::MachineFacts> ReadFacts(const container::GenerateOptions& options, const os::Fs& host) {
  const bool needs = options.mode == CdiMode::kNvml || options.mode == CdiMode::kAuto;
  container::MachineFacts facts;
  auto nvml = gpu::Nvml::Open(gpu::DriverLibraryCandidates(options.driver_root, "libnvidia-ml.so.1"));
  if (nvml) {
    auto inventory = gpu::InventoryReader(**nvml, &host).Read(gpu::InventoryReader::Extent::kWithoutConnections);
    if (!inventory) return std::unexpected(std::move(inventory).error().During("read the GPUs"));
    facts = FactsOf(*inventory);
  } else if (needs && options.mode == CdiMode::kNvml) {
    return std::unexpected(std::move(nvml).error().During("load NVML below " + options.driver_root));
  }
  utsname system{};
  ::uname(&system);
  facts.kernel_release = system.release;
  return facts;
}

std::string TextOf(const container::CdiSpec& spec, bool json) {
  return json ? container::CdiSpecToJson(spec) : container::CdiSpecToYaml(spec);
}

/// Puts the dev root's /dev over this process's own, in a mount namespace of its own. A container's /dev is as it was
/// when the container began; the driver's library looks there, and would not see MIG devices made since.
Result<> TakeDev(const std::string& dev_root) {
  const std::string dev = dev_root + "/dev";
  if (::unshare(CLONE_NEWNS) != 0) return os::FailErrno(errno, "mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return os::FailErrno(errno, "make / private");
  if (::mount(dev.c_str(), "/dev", nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return os::FailErrno(errno, "put " + dev + " over /dev");
  // The host's root is there to read; its nodes are there to use.
  if (::mount(nullptr, "/dev", nullptr, MS_REMOUNT | MS_BIND, nullptr) != 0)
    return os::FailErrno(errno, "make /dev writable");
  return {};
}

}  // namespace

Result<> WriteOutput(const std::string& path, const std::string& text) {
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  const std::string full =
      path.starts_with('/') ? path : std::string(::getenv("PWD") ? ::getenv("PWD") : "") + "/" + path;
  TRY(os::MakeFolders(*fs, full.substr(0, full.rfind('/'))));
  if (fs->Read(full).value_or("") == text) return {};
  return fs->WriteAtomic(full, text, os::FileAttributes{.mode = 0644});
}

Result<std::string> CdiGenerate(const std::vector<std::string>& arguments) {
  ASSIGN(const FlagValues v, container::ParseFlags(GenerateFlags(), arguments, std::getenv));
  ASSIGN(container::GenerateOptions options, OptionsOf(v));
  if (v.On("--with-dev-of-dev-root") && options.dev_root != "/") TRY(TakeDev(options.dev_root));
  ASSIGN(const auto host, os::RealFs::Open("/"));
  ASSIGN(const auto driver, os::RealFs::Open(options.driver_root));
  ASSIGN(const auto devices, os::RealFs::Open(options.dev_root));
  ASSIGN(const container::MachineFacts facts, ReadFacts(options, *host));
  const container::NodeFiles files{*driver, *devices, *host};
  std::vector<std::pair<std::string, container::CdiSpec>> specs;
  ASSIGN(container::CdiSpec spec, container::GenerateCdiSpec(files, facts, options));
  specs.emplace_back("", std::move(spec));
  if (options.features.contains("enable-coherent-annotations")) {
    ASSIGN(auto more, container::GenerateCoherentSpecs(files, facts, options));
    for (auto& one : more) specs.push_back(std::move(one));
  }
  const std::string output = v.Text("--output");
  const bool json = output.ends_with(".json") ||
                    (!output.ends_with(".yaml") && !output.ends_with(".yml") && v.Text("--format") == "json");
  std::string out;
  for (const auto& [infix, one] : specs) {
    const std::string text = TextOf(one, json);
    if (output.empty()) {
      out += text;
      continue;
    }
    const std::size_t dot = output.rfind('.');
    const bool has = dot != std::string::npos && dot > output.rfind('/') + 1;
    const std::string stem = has ? output.substr(0, dot) : output;
    TRY(WriteOutput(stem + infix + (json ? ".json" : ".yaml"), text));
  }
  return out;
}

Result<std::string> CdiList(const std::vector<std::string>& arguments) {
  static const std::vector<FlagSpec> kFlags = {
      {{"--spec-dir"}, {"NVIDIA_CTK_CDI_SPEC_DIRS"}, "/etc/cdi,/var/run/cdi", false, true}};
  ASSIGN(const FlagValues v, container::ParseFlags(kFlags, arguments, std::getenv));
  ASSIGN(const auto host, os::RealFs::Open("/"));
  container::CdiCache cache(*host, v.List("--spec-dir"));
  cache.Refresh();
  for (const auto& [path, errors] : cache.errors())
    for (const Error& error : errors) std::fprintf(stderr, "nvidia-ctk: %s\n", error.text.c_str());
  std::string out;
  for (const std::string& name : cache.Devices()) out += name + "\n";
  return out;
}

Result<std::string> CdiTransformRoot(const std::vector<std::string>& arguments) {
  static const std::vector<FlagSpec> kFlags = {{{"--from"}, {}, "/"},
                                               {{"--to"}, {}, "/"},
                                               {{"--relative-to"}, {}, "host"},
                                               {{"--input"}, {}, "-"},
                                               {{"--output"}}};
  ASSIGN(const FlagValues v, container::ParseFlags(kFlags, arguments, std::getenv));
  if (v.Text("--relative-to") != "host" && v.Text("--relative-to") != "container")
    return Fail(Code::kInvalid, "--relative-to: " + Quote(v.Text("--relative-to")) + " is not host or container");
  ASSIGN(const auto host, os::RealFs::Open("/"));
  const std::string input = v.Text("--input") == "-" ? "/dev/stdin" : v.Text("--input");
  ASSIGN(const std::string text, host->Read(input, container::kCdiSpecLimit));
  ASSIGN(container::CdiSpec spec, container::ReadCdiSpec(input, text));
  container::TransformRoot(spec, {v.Text("--from"), v.Text("--to"), v.Text("--relative-to") == "host"});
  const std::string output = v.Text("--output");
  const std::string result = TextOf(spec, output.ends_with(".json"));
  if (output.empty()) return result;
  TRY(WriteOutput(output, result));
  return std::string();
}

}  // namespace gpuop::cli
