#include "operands/device_plugin/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/reader.h"

namespace gpuop::operands::device_plugin {
namespace {

/// flags.plugin of the settings file.
struct PluginFlags {
  std::optional<bool> pass_device_specs;
  data::Json device_list_strategy;
  std::optional<std::string> device_id_strategy, cdi_annotation_prefix, nvidia_ctk_path, container_driver_root,
      shared_devices_allocation_policy;
  template <class V>
  void Visit(V& v) {
    v("passDeviceSpecs", pass_device_specs);
    v("deviceListStrategy", device_list_strategy);
    v("deviceIDStrategy", device_id_strategy);
    v("cdiAnnotationPrefix", cdi_annotation_prefix);
    v("nvidiaCTKPath", nvidia_ctk_path);
    v("containerDriverRoot", container_driver_root);
    v("sharedDevicesAllocationPolicy", shared_devices_allocation_policy);
  }
};

struct Imex {
  std::vector<std::int64_t> channel_ids;
  std::optional<bool> required;
  template <class V>
  void Visit(V& v) {
    v("channelIDs", channel_ids);
    v("required", required);
  }
};

/// One of a few words.
template <class T>
using Word = data::EnumName<T>;

template <class T, std::size_t N>
Result<T> Choose(const std::string& where, std::string_view text, const std::array<Word<T>, N>& words) {
  std::string known;
  for (const Word<T>& word : words) {
    if (word.name == text) return word.value;
    known.append(known.empty() ? "" : ", ").append(word.name);
  }
  return Fail(Code::kInvalid, where + ": " + Quote(text) + " is none of " + known);
}

constexpr std::array kMigWords = std::to_array<Word<MigStrategy>>(
    {{"none", MigStrategy::kNone}, {"single", MigStrategy::kSingle}, {"mixed", MigStrategy::kMixed}});
constexpr std::array kListWords = std::to_array<Word<ListStrategy>>({{"envvar", ListStrategy::kEnvvar},
                                                                     {"volume-mounts", ListStrategy::kVolumeMounts},
                                                                     {"cdi-annotations", ListStrategy::kCdiAnnotations},
                                                                     {"cdi-cri", ListStrategy::kCdiCri}});
constexpr std::array kIdWords =
    std::to_array<Word<IdStrategy>>({{"uuid", IdStrategy::kUuid}, {"index", IdStrategy::kIndex}});
constexpr std::array kSpreadWords =
    std::to_array<Word<Spread>>({{"distributed", Spread::kDistributed}, {"packed", Spread::kPacked}});

/// A setting that flags and file have both: where its value comes from, for messages.
class Sources {
 public:
  explicit Sources(const container::FlagValues& flags) : flags_(flags) {}

  /// The flag's value, else the file's, else `out` stays.
  void Take(const char* flag, const std::optional<std::string>& file, std::string& out) const {
    if (flags_.given(flag))
      out = flags_.Text(flag);
    else if (file)
      out = *file;
  }
  void Take(const char* flag, const std::optional<bool>& file, bool& out) const {
    if (flags_.given(flag))
      out = flags_.On(flag);
    else
      out = file.value_or(out);
  }
  template <class T, std::size_t N>
  Result<> Take(const char* flag, const char* path, const std::optional<std::string>& file,
                const std::array<Word<T>, N>& words, T& out) const {
    if (flags_.given(flag)) {
      ASSIGN(out, Choose(flag, flags_.Text(flag), words));
    } else if (file) {
      ASSIGN(out, Choose(path, *file, words));
    }
    return {};
  }

 private:
  const container::FlagValues& flags_;
};

Result<std::set<ListStrategy>> ReadLists(const std::string& where, const std::vector<std::string>& words) {
  std::set<ListStrategy> out;
  for (const std::string& word : words) {
    ASSIGN(const ListStrategy one, Choose(where, word, kListWords));
    out.insert(one);
  }
  if (out.empty()) return Fail(Code::kInvalid, where + ": names no strategy");
  return out;
}

Result<> TakeLists(const container::FlagValues& flags, const data::Json& file, Settings& out) {
  constexpr const char *kFlag = "--device-list-strategy", *kPath = "flags.plugin.deviceListStrategy";
  if (flags.given(kFlag)) {
    ASSIGN(out.lists, ReadLists(kFlag, flags.List(kFlag)));
    return {};
  }
  if (file.is_null()) return {};
  std::vector<std::string> words;
  if (file.is_string()) {
    for (const std::string_view word : Split(data::AsView(file.get_string()), ',')) words.emplace_back(Trim(word));
  } else if (file.is_array()) {
    for (const data::Json& word : file.get_array()) {
      if (!word.is_string())
        return Fail(Code::kInvalid, std::string(kPath) + ": expected a list of strings, got one holding " +
                                        std::string(data::KindName(word)));
      words.emplace_back(data::AsView(word.get_string()));
    }
  } else {
    return Fail(Code::kInvalid, std::string(kPath) + ": expected a string or a list of strings, got " +
                                    std::string(data::KindName(file)));
  }
  ASSIGN(out.lists, ReadLists(kPath, words));
  return {};
}

/// Only channel 0 can be given out so far.
Result<> SetChannels(const std::string& where, const std::vector<std::int64_t>& ids, Settings& out) {
  if (ids.empty()) return {};
  if (ids.size() > 1 || ids.front() != 0)
    return Fail(Code::kInvalid, where + ": only channel 0, or none, can be given to containers");
  out.imex_channels = {0};
  return {};
}

Result<> TakeImex(const container::FlagValues& flags, const data::Json& file, Settings& out) {
  constexpr const char* kFlag = "--imex-channel-ids";
  ASSIGN(const Imex imex, ReadSection<Imex>(file, "imex"));
  if (flags.given(kFlag)) {
    std::vector<std::int64_t> ids;
    for (const std::string& word : flags.List(kFlag)) {
      const auto id = ParseInt(word);
      if (!id) return Fail(Code::kInvalid, std::string(kFlag) + ": " + Quote(word) + " is no number");
      ids.push_back(*id);
    }
    TRY(SetChannels(kFlag, ids, out));
  } else {
    TRY(SetChannels("imex.channelIDs", imex.channel_ids, out));
  }
  out.imex_required = flags.given("--imex-required") ? flags.On("--imex-required") : imex.required.value_or(false);
  return {};
}

Result<> UseFile(const container::FlagValues& flags, const PluginSettings& file, Settings& out) {
  const Sources sources(flags);
  const PluginSettings::Flags& f = file.flags;
  ASSIGN(const PluginFlags plugin, ReadSection<PluginFlags>(f.plugin, "flags.plugin"));
  TRY(sources.Take("--mig-strategy", "flags.migStrategy", f.mig_strategy, kMigWords, out.mig));
  TRY(sources.Take("--device-id-strategy", "flags.plugin.deviceIDStrategy", plugin.device_id_strategy, kIdWords,
                   out.ids));
  TRY(sources.Take("--shared-devices-allocation-policy", "flags.plugin.sharedDevicesAllocationPolicy",
                   plugin.shared_devices_allocation_policy, kSpreadWords, out.spread));
  TRY(TakeLists(flags, plugin.device_list_strategy, out));
  TRY(TakeImex(flags, file.imex, out));
  sources.Take("--fail-on-init-error", f.fail_on_init_error, out.fail_on_init_error);
  sources.Take("--driver-root", f.driver_root, out.driver_root);
  sources.Take("--dev-root", f.dev_root, out.dev_root);
  sources.Take("--driver-root-ctr-path", plugin.container_driver_root, out.container_driver_root);
  sources.Take("--pass-device-specs", plugin.pass_device_specs, out.pass_device_specs);
  sources.Take("--gdrcopy-enabled", f.gdrcopy, out.gdrcopy);
  sources.Take("--gds-enabled", f.gds, out.gds);
  sources.Take("--mofed-enabled", f.mofed, out.mofed);
  sources.Take("--cdi-annotation-prefix", plugin.cdi_annotation_prefix, out.cdi_annotation_prefix);
  sources.Take("--nvidia-cdi-hook-path", plugin.nvidia_ctk_path, out.cdi_hook);
  sources.Take("--mps-root", f.mps_root, out.mps_root);
  std::string discovery = "auto";
  sources.Take("--device-discovery-strategy", f.discovery, discovery);
  if (discovery != "auto" && discovery != "nvml")
    return Fail(Code::kUnsupported,
                "--device-discovery-strategy: only auto and nvml are served, not " + Quote(discovery));
  out.names = file.resources;
  out.sharing = file.sharing;
  return {};
}

/// What goes together.
Result<> Check(const Settings& settings) {
  if (settings.node.empty() && (settings.tell_node || settings.gate.enabled()))
    return Fail(Code::kInvalid, "--node-name (NODE_NAME) must be given for --gpu-condition and the readiness gate");
  if (StrategyOf(settings.sharing) == SharingStrategy::kMps) {
    if (settings.mig == MigStrategy::kMixed)
      return Fail(Code::kInvalid, "sharing.mps: MPS does not go together with --mig-strategy=mixed");
    if (settings.mps_root.empty())
      return Fail(Code::kInvalid, "sharing.mps: needs --mps-root (MPS_ROOT), the MPS daemon's folder on the host");
  }
  for (const auto& [flag, path] :
       {std::pair("--driver-root", &settings.driver_root), std::pair("--dev-root", &settings.dev_root),
        std::pair("--driver-root-ctr-path", &settings.container_driver_root)})
    if (!path->starts_with('/'))
      return Fail(Code::kInvalid, std::string(flag) + ": " + Quote(*path) + " is not an absolute path");
  if (!settings.kubelet_socket.empty() && !settings.kubelet_socket.starts_with('/'))
    return Fail(Code::kInvalid, "--kubelet-socket: " + Quote(settings.kubelet_socket) + " is not an absolute path");
  return {};
}

std::set<std::string> SetOf(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

}  // namespace

Result<Settings> MakeSettings(const container::FlagValues& flags, const GetEnv& env, const PluginSettings* file) {
  Settings out;
  const PluginSettings none;
  const auto variable = [&](const char* name) {
    const char* const value = env(name);
    return std::string(value == nullptr ? "" : value);
  };
  out.dev_root.clear();
  const auto make = [&]() -> Result<> {
    TRY(UseFile(flags, file == nullptr ? none : *file, out));
    ASSIGN(out.xids, XidPolicy::Make(file == nullptr ? data::Json() : file->health, variable("DP_DISABLE_HEALTHCHECKS"),
                                     variable("DP_ENABLE_HEALTHCHECKS")));
    return {};
  };
  out.config_file = flags.Text("--config-file");
  if (auto made = make(); !made) {
    // A field's path says by itself that it is the file's; a flag's name that it is not.
    const bool of_file = file != nullptr && !made.error().text.starts_with("--");
    return std::unexpected(of_file ? std::move(made).error().During(out.config_file) : std::move(made).error());
  }
  if (out.dev_root.empty()) out.dev_root = out.driver_root;
  out.kubelet_socket = flags.Text("--kubelet-socket");
  // The flag's reader takes an empty variable for one that is not set; here it says something.
  if (const char* const socket = env("KUBELET_SOCKET"); socket != nullptr && *socket == '\0')
    out.kubelet_socket.clear();
  out.cdi_features = SetOf(flags.List("--cdi-feature-flags"));
  out.cdi_disabled_hooks = SetOf(flags.List("--cdi-disable-hooks"));
  out.metrics_address = flags.Text("--metrics-address");
  out.node = flags.Text("--node-name");
  out.kubeconfig = flags.Text("--kubeconfig");
  out.tell_node = flags.On("--gpu-condition");
  ASSIGN(out.gate, ParseGateSettings(flags.Text("--readiness-taint"), flags.Text("--readiness-condition")));
  TRY(Check(out));
  return out;
}

}  // namespace gpuop::operands::device_plugin
