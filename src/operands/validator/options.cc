#include "operands/validator/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace gpuop::operands::validator {
namespace {

struct Flag {
  std::string_view name, brief;
  const char* variable;
  bool is_switch;
  std::string_view help;
};
constexpr std::array kFlags = std::to_array<Flag>({
    {"kubeconfig", "k", "KUBECONFIG", false, "how to reach the API outside a Pod"},
    {"node-name", "n", "NODE_NAME", false, "the node that is validated"},
    {"namespace", "ns", "OPERATOR_NAMESPACE", false, "where the operator's Pods are"},
    {"with-wait", "w", "WITH_WAIT", true, "wait until it is as it should be"},
    {"with-workload", "l", "WITH_WORKLOAD", true, "prove it by a Pod"},
    {"component", "c", "COMPONENT", false, "what is validated"},
    {"cleanup-all", "r", "CLEANUP_ALL", true, "remove all status files first"},
    {"output-dir", "o", "OUTPUT_DIR", false, "folder of the status files"},
    {"sleep-interval-seconds", "s", "SLEEP_INTERVAL_SECONDS", false, "how often what has no events is looked at"},
    {"mig-strategy", "m", "MIG_STRATEGY", false, "accepted; what the node offers tells it"},
    {"metrics-port", "p", "METRICS_PORT", false, "port of the metrics"},
    {"default-gpu-workload-config", "g", "DEFAULT_GPU_WORKLOAD_CONFIG", false,
     "workload of a node without label: container, vm-passthrough or vm-vgpu"},
    {"disable-dev-char-symlink-creation", "", "DISABLE_DEV_CHAR_SYMLINK_CREATION", true, "no links in /dev/char"},
    {"host-root", "", "HOST_ROOT", false, "the host's root, as the host calls it"},
    {"driver-install-dir", "", "DRIVER_INSTALL_DIR", false, "root of a driver container, as the host calls it"},
    {"driver-install-dir-ctr-path", "", "DRIVER_INSTALL_DIR_CTR_PATH", false, "the same in this container"},
    {"driver-validation-skip-gpu-init", "", "DRIVER_VALIDATION_SKIP_GPU_INIT", true, "do not ask the driver"},
    {"driver-limit-seconds", "", "DRIVER_LIMIT_SECONDS", false, "how long the driver may take to answer"},
    {"device-limit-seconds", "", "DEVICE_LIMIT_SECONDS", false, "how long the workload may take for one device"},
    {"health-interval-seconds", "", "HEALTH_INTERVAL_SECONDS", false,
     "how often awake GPUs are asked for heat and links; 0 for never"},
});
// Variables without a flag.
constexpr std::array kVariables = {
    "VALIDATOR_IMAGE",         "VALIDATOR_IMAGE_PULL_POLICY", "VALIDATOR_IMAGE_PULL_SECRETS",
    "VALIDATOR_RUNTIME_CLASS", "GPU_DIRECT_RDMA_ENABLED",     "USE_HOST_MOFED"};

constexpr std::array kComponents = std::to_array<std::string_view>(
    {"driver", "toolkit", "cuda", "plugin", "mofed", "vfio-pci", "vgpu-manager", "vgpu-devices", "cc-manager",
     "nvidia-fs", "gdrcopy", "nvidia-peermem", "metrics", "watch"});

using Values = std::map<std::string, std::string, std::less<>>;

const Flag* FindFlag(std::string_view word) {
  const std::string_view name = word.substr(word.starts_with("--") ? 2 : 1);
  const auto* const it = std::ranges::find_if(
      kFlags, [&](const Flag& f) { return f.name == name || (!f.brief.empty() && f.brief == name); });
  return it == kFlags.end() ? nullptr : it;
}

Result<std::optional<Values>> ReadValues(const std::vector<std::string>& args, const GetEnv& env) {
  Values out;
  for (const Flag& flag : kFlags)
    if (auto value = env(flag.variable); value && !value->empty()) out[std::string(flag.name)] = *std::move(value);
  for (const char* variable : kVariables)
    if (auto value = env(variable)) out[variable] = *std::move(value);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "-h" || args[i] == "--help") return std::optional<Values>();
    const auto cut = Cut(args[i], '=');
    const std::string_view name = cut ? cut->first : args[i];
    const Flag* const flag = name.starts_with("-") ? FindFlag(name) : nullptr;
    if (flag == nullptr) return Fail(Code::kInvalid, Quote(args[i]) + " is no flag of nvidia-validator");
    std::string value = cut ? std::string(cut->second) : "true";
    if (!cut && !flag->is_switch) {
      if (++i == args.size()) return Fail(Code::kInvalid, fmt::format("--{} needs a value", flag->name));
      value = args[i];
    }
    out[std::string(flag->name)] = std::move(value);
  }
  return std::optional(std::move(out));
}

/// "--with-wait (WITH_WAIT)".
std::string Called(std::string_view name) {
  const auto* const it = std::ranges::find(kFlags, name, &Flag::name);
  return it == kFlags.end() ? std::string(name) : fmt::format("--{} ({})", it->name, it->variable);
}

Result<> Take(const Values& values, std::string_view name, std::string& out) {
  if (const auto it = values.find(name); it != values.end()) out = it->second;
  return {};
}
Result<> Take(const Values& values, std::string_view name, bool& out) {
  const auto it = values.find(name);
  if (it == values.end() || it->second.empty()) return {};
  const auto value = ParseBool(it->second);
  if (!value) return Fail(Code::kInvalid, Called(name) + ": " + Quote(it->second) + " is neither true nor false");
  out = *value;
  return {};
}
Result<std::int64_t> Number(const Values& values, std::string_view name, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) {
  const auto it = values.find(name);
  if (it == values.end()) return otherwise;
  const auto value = ParseInt(it->second);
  if (!value || *value < least || *value > most)
    return Fail(Code::kInvalid,
                fmt::format("{}: {} is no number from {} to {}", Called(name), Quote(it->second), least, most));
  return *value;
}

Result<> Need(Component component, std::string_view flag, bool given) {
  if (given) return {};
  return Fail(Code::kInvalid, fmt::format("component {} needs {}", Name(component), Called(flag)));
}

/// Which settings a component cannot do without.
Result<> Check(const Options& o) {
  using enum Component;
  switch (o.component) {
    case kPlugin:
    case kWatch:
      TRY(Need(o.component, "node-name", !o.node.empty()));
      return Need(o.component, "namespace", !o.ns.empty());
    case kCuda: return Need(o.component, "namespace", !o.ns.empty());
    case kMetrics:
      TRY(Need(o.component, "metrics-port", o.metrics_port != 0));
      return Need(o.component, "node-name", !o.node.empty());
    case kVfioPci:
    case kVgpuManager:
    case kVgpuDevices: return Need(o.component, "node-name", !o.node.empty());
    default: return {};
  }
}

Result<Options> MakeOptions(const Values& values) {
  Options o;
  std::string component, secrets;
  bool no_links = false;
  TRY(Take(values, "component", component));
  const auto* const found = std::ranges::find(kComponents, component);
  if (found == kComponents.end())
    return Fail(Code::kInvalid, Called("component") + ": " + Quote(component) + " is no component");
  o.component = static_cast<Component>(found - kComponents.begin());
  for (const auto& [name, field] : std::initializer_list<std::pair<const char*, std::string*>>{
           {"kubeconfig", &o.kubeconfig},
           {"node-name", &o.node},
           {"namespace", &o.ns},
           {"output-dir", &o.output_dir},
           {"default-gpu-workload-config", &o.default_workload},
           {"host-root", &o.host_root},
           {"driver-install-dir", &o.driver_install_dir},
           {"driver-install-dir-ctr-path", &o.driver_install_dir_ctr},
           {"VALIDATOR_IMAGE", &o.image},
           {"VALIDATOR_IMAGE_PULL_POLICY", &o.pull_policy},
           {"VALIDATOR_IMAGE_PULL_SECRETS", &secrets},
           {"VALIDATOR_RUNTIME_CLASS", &o.runtime_class}})
    TRY(Take(values, name, *field));
  for (const auto& [name, field] :
       std::initializer_list<std::pair<const char*, bool*>>{{"with-wait", &o.with_wait},
                                                            {"with-workload", &o.with_workload},
                                                            {"cleanup-all", &o.cleanup_all},
                                                            {"disable-dev-char-symlink-creation", &no_links},
                                                            {"driver-validation-skip-gpu-init", &o.skip_gpu_init},
                                                            {"GPU_DIRECT_RDMA_ENABLED", &o.rdma},
                                                            {"USE_HOST_MOFED", &o.host_mofed}})
    TRY(Take(values, name, *field));
  o.dev_char_links = !no_links;
  for (const std::string_view secret : Split(secrets, ','))
    if (!Trim(secret).empty()) o.pull_secrets.emplace_back(Trim(secret));
  ASSIGN(const std::int64_t interval, Number(values, "sleep-interval-seconds", 1, 86400, 5));
  o.interval = std::chrono::seconds(interval);
  ASSIGN(const std::int64_t health, Number(values, "health-interval-seconds", 0, 86400, 600));
  o.health_interval = std::chrono::seconds(health);
  ASSIGN(const std::int64_t driver, Number(values, "driver-limit-seconds", 1, 3600, 60));
  o.driver_limit = std::chrono::seconds(driver);
  ASSIGN(const std::int64_t device, Number(values, "device-limit-seconds", 1, 3600, 30));
  o.device_limit = std::chrono::seconds(device);
  ASSIGN(const std::int64_t port, Number(values, "metrics-port", 0, 65535, 0));
  o.metrics_port = static_cast<int>(port);
  TRY(Check(o));
  return o;
}

}  // namespace

std::string_view Name(Component component) { return kComponents[static_cast<std::size_t>(component)]; }

Result<std::optional<Options>> ReadOptions(const std::vector<std::string>& args, const GetEnv& env) {
  ASSIGN(const std::optional<Values> values, ReadValues(args, env));
  if (!values) return std::optional<Options>();
  ASSIGN(Options options, MakeOptions(*values));
  return std::optional(std::move(options));
}

std::string Help() {
  std::string out = "nvidia-validator: proves that a node's driver, toolkit, CUDA and device plugin work\n\n";
  for (const Flag& flag : kFlags) out += fmt::format("  --{:<36}{} ({})\n", flag.name, flag.help, flag.variable);
  out += "\ncomponents:";
  for (const std::string_view component : kComponents) out += fmt::format(" {}", component);
  return out + "\n";
}

}  // namespace gpuop::operands::validator
