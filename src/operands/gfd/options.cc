#include "operands/gfd/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/duration.h"

namespace gpuop::operands::gfd {
namespace {

struct Flag {
  std::string_view name, brief;
  std::array<const char*, 2> variables;
  bool is_switch;
  std::string_view help;
};
constexpr std::array kFlags = {
    Flag{"mig-strategy", "", {"GFD_MIG_STRATEGY", "MIG_STRATEGY"}, false, "none, single or mixed"},
    Flag{"fail-on-init-error",
         "",
         {"GFD_FAIL_ON_INIT_ERROR", "FAIL_ON_INIT_ERROR"},
         true,
         "end when the driver cannot be asked at the start"},
    Flag{"oneshot", "", {"GFD_ONESHOT", nullptr}, true, "label once and end"},
    Flag{"no-timestamp", "", {"GFD_NO_TIMESTAMP", nullptr}, true, "no nvidia.com/gfd.timestamp"},
    Flag{"sleep-interval",
         "",
         {"GFD_SLEEP_INTERVAL", nullptr},
         false,
         "how often GPUs without events are looked at; \"infinite\" for never"},
    Flag{"output-file", "-o", {"GFD_OUTPUT_FILE", nullptr}, false, "feature file; empty for standard output"},
    Flag{"machine-type-file", "", {"GFD_MACHINE_TYPE_FILE", nullptr}, false, "what names the machine's type"},
    Flag{"config-file", "", {"GFD_CONFIG_FILE", "CONFIG_FILE"}, false, "settings file"},
    Flag{"use-node-feature-api",
         "",
         {"GFD_USE_NODE_FEATURE_API", "USE_NODE_FEATURE_API"},
         true,
         "write a NodeFeature object instead of a file"},
    Flag{"device-discovery-strategy", "", {"DEVICE_DISCOVERY_STRATEGY", nullptr}, false, "auto or nvml"},
    Flag{"driver-root-ctr-path", "", {"DRIVER_ROOT_CTR_PATH", nullptr}, false, "accepted; the loader finds the driver"},
    Flag{"kubeconfig", "", {"KUBECONFIG", nullptr}, false, "how to reach the API outside a Pod"},
    Flag{"kube-api-qps", "", {"KUBE_API_QPS", nullptr}, false, "accepted; writes are few"},
    Flag{"kube-api-burst", "", {"KUBE_API_BURST", nullptr}, false, "accepted; writes are few"},
    Flag{"namespace", "", {"NAMESPACE", nullptr}, false, "of the NodeFeature object"},
    Flag{"node-name", "", {"NODE_NAME", nullptr}, false, "the node that is labelled"},
    Flag{"pod-name", "", {"POD_NAME", nullptr}, false, "the Pod this runs in"},
    Flag{"metrics-address", "", {"GFD_METRICS_ADDRESS", "METRICS_ADDRESS"}, false, "where /metrics and /healthz are"},
};

const Flag* FindFlag(std::string_view name) {
  if (name == "output") name = "output-file";
  const auto* const it = std::ranges::find(kFlags, name, &Flag::name);
  return it == kFlags.end() ? nullptr : it;
}

Result<bool> Bool(std::string_view name, std::string_view text) {
  if (const auto value = ParseBool(text)) return *value;
  return Fail(Code::kInvalid, fmt::format("{}: {} is neither true nor false", name, Quote(text)));
}

/// "infinite", a span as Go writes it, or nanoseconds.
Result<std::optional<Duration>> Interval(std::string_view name, std::string_view text) {
  if (text == "infinite") return std::optional<Duration>();
  if (const auto number = ParseInt(text)) return std::optional<Duration>(std::chrono::nanoseconds(*number));
  const auto span = data::ParseDuration(text);
  if (!span) return Fail(Code::kInvalid, fmt::format("{}: {}", name, span.error().text));
  return std::optional<Duration>(*span);
}

std::string JsonText(const data::Json& value) {
  return value.is_string() ? std::string(data::AsView(value.get_string())) : data::ToJson(value);
}

/// Sets what the settings file says; flags come after it.
Result<> UseSettings(const PluginSettings& settings, Options& out) {
  const PluginSettings::Flags& flags = settings.flags;
  out.labels.sharing = settings.sharing;
  out.labels.names = settings.resources;
  if (flags.mig_strategy) {
    const auto strategy = ParseMigStrategy(*flags.mig_strategy);
    if (!strategy)
      return Fail(Code::kInvalid, "flags.migStrategy: " + Quote(*flags.mig_strategy) + " is not none, single or mixed");
    out.labels.strategy = *strategy;
  }
  out.fail_on_init_error = flags.fail_on_init_error.value_or(out.fail_on_init_error);
  out.use_node_feature_api = flags.use_node_feature_api.value_or(out.use_node_feature_api);
  out.oneshot = flags.gfd.oneshot.value_or(out.oneshot);
  out.timestamp = !flags.gfd.no_timestamp.value_or(!out.timestamp);
  out.output_file = flags.gfd.output_file.value_or(out.output_file);
  out.machine_type_file = flags.gfd.machine_type_file.value_or(out.machine_type_file);
  if (!flags.gfd.sleep_interval.is_null()) {
    ASSIGN(out.interval, Interval("flags.gfd.sleepInterval", JsonText(flags.gfd.sleep_interval)));
  }
  return {};
}

Result<> UseSwitch(const Given& given, std::string_view name, bool& out) {
  const auto it = given.values.find(name);
  if (it == given.values.end()) return {};
  ASSIGN(out, Bool("--" + std::string(name), it->second));
  return {};
}

}  // namespace

std::string Given::Get(std::string_view name, std::string_view otherwise) const {
  const auto it = values.find(name);
  return it == values.end() ? std::string(otherwise) : it->second;
}

Result<Given> ReadGiven(const std::vector<std::string>& args, const GetEnv& env) {
  Given out;
  for (const Flag& flag : kFlags)
    for (const char* variable : flag.variables) {
      if (variable == nullptr || out.values.contains(flag.name)) continue;
      auto value = env(variable);
      // Manifests set variables to nothing; only an output file of no name means something.
      if (value && (!value->empty() || flag.name == "output-file"))
        out.values[std::string(flag.name)] = *std::move(value);
    }
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "-h" || args[i] == "--help") {
      out.help = true;
      continue;
    }
    const auto cut = Cut(args[i], '=');
    std::string_view name = cut ? cut->first : args[i];
    const Flag* flag = nullptr;
    if (name == "-o")
      flag = FindFlag("output-file");
    else if (name.starts_with("-"))
      flag = FindFlag(name.substr(name.starts_with("--") ? 2 : 1));
    if (flag == nullptr) return Fail(Code::kInvalid, Quote(args[i]) + " is no flag of gpu-feature-discovery");
    std::string value = cut ? std::string(cut->second) : "true";
    if (!cut && !flag->is_switch) {
      if (++i == args.size()) return Fail(Code::kInvalid, fmt::format("--{} needs a value", flag->name));
      value = args[i];
    }
    out.values[std::string(flag->name)] = std::move(value);
  }
  return out;
}

Result<Options> MakeOptions(const Given& given, const PluginSettings* settings) {
  Options out;
  out.config_file = given.Get("config-file");
  if (settings != nullptr)
    if (auto used = UseSettings(*settings, out); !used)
      return std::unexpected(std::move(used).error().During(out.config_file));
  if (const std::string text = given.Get("mig-strategy"); !text.empty()) {
    const auto strategy = ParseMigStrategy(text);
    if (!strategy) return Fail(Code::kInvalid, "--mig-strategy: " + Quote(text) + " is not none, single or mixed");
    out.labels.strategy = *strategy;
  }
  const std::string discovery = given.Get("device-discovery-strategy", "auto");
  if (discovery != "auto" && discovery != "nvml")
    return Fail(Code::kUnsupported,
                "--device-discovery-strategy: only auto and nvml are served, not " + Quote(discovery));
  TRY(UseSwitch(given, "fail-on-init-error", out.fail_on_init_error));
  TRY(UseSwitch(given, "oneshot", out.oneshot));
  TRY(UseSwitch(given, "use-node-feature-api", out.use_node_feature_api));
  bool no_timestamp = !out.timestamp;
  TRY(UseSwitch(given, "no-timestamp", no_timestamp));
  out.timestamp = !no_timestamp;
  if (given.values.contains("sleep-interval")) {
    ASSIGN(out.interval, Interval("--sleep-interval", given.Get("sleep-interval")));
  }
  out.output_file = given.Get("output-file", out.output_file);
  out.machine_type_file = given.Get("machine-type-file", out.machine_type_file);
  out.kubeconfig = given.Get("kubeconfig");
  out.metrics_address = given.Get("metrics-address");
  out.ns = given.Get("namespace", out.ns);
  out.node = given.Get("node-name");
  out.pod = given.Get("pod-name");
  if (out.use_node_feature_api && out.node.empty())
    return Fail(Code::kInvalid, "--node-name (NODE_NAME) must be given with --use-node-feature-api");
  return out;
}

std::string Help() {
  std::string out = "gpu-feature-discovery: labels that tell what GPUs this node has\n\n";
  for (const Flag& flag : kFlags) out += fmt::format("  --{:<28}{} ({})\n", flag.name, flag.help, flag.variables[0]);
  return out;
}

}  // namespace gpuop::operands::gfd
