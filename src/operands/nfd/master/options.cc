#include "operands/nfd/master/options.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/duration.h"
#include "operands/nfd/gates.h"
#include "operands/nfd/program.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::array kFlags = {
    FlagText{"config", "/etc/kubernetes/node-feature-discovery/nfd-master.conf", false, "settings file"},
    FlagText{"kubeconfig", "", false, "how to reach the API outside a Pod"},
    FlagText{"port", "8080", false, "of /healthz and /metrics"},
    FlagText{"options", "", false, "settings as JSON or YAML, over the file's"},
    FlagText{"instance", "", false, "name of this master where several share nodes"},
    FlagText{"prune", "", true, "remove from all nodes what is noted as ours, and end"},
    FlagText{"no-publish", "", true, "write nothing"},
    FlagText{"enable-taints", "", true, "taints of rules count"},
    FlagText{"extra-label-ns", "", false, "namespaces of labels that are allowed besides the usual ones"},
    FlagText{"deny-label-ns", "", false, "namespaces of labels that are refused (*.x for all below x)"},
    FlagText{"label-whitelist", "", false, "expression that a label's name must contain"},
    FlagText{"resync-period", "", false, "how often all nodes are looked at without a change (1h)"},
    FlagText{"nfd-api-parallelism", "", false, "nodes worked on at once (10)"},
    FlagText{"informer-page-size", "", false, "objects per list request (200)"},
    FlagText{"removal-grace", "15s", false, "how long what an object said holds after the object has gone"},
    FlagText{"enable-leader-election", "", true, "act only while holding the lease"},
    FlagText{"feature-gates", "", false, "NodeFeatureGroupAPI, DisableAutoPrefix"},
};

using data::Json;

/// Numbers too, which YAML has without quotes.
Result<std::optional<std::string>> ReadScalar(const Json& file, std::string_view path) {
  const Json* const value = FindSetting(file, path);
  if (value != nullptr && (value->is_int64() || value->is_bool())) return data::ToJson(*value);
  return ReadText(file, path);
}

/// A list of texts, or one text with commas.
Result<> ReadSet(const Json& file, std::string_view path, TextSet& out) {
  const Json* const value = FindSetting(file, path);
  if (value == nullptr) return {};
  if (const auto* text = value->if_string()) {
    for (const std::string_view part : Split(data::AsView(*text), ','))
      if (!Trim(part).empty()) out.emplace(Trim(part));
    return {};
  }
  const auto* const list = value->if_array();
  if (list == nullptr) return Expected(path, "a list", *value);
  for (const Json& item : *list) {
    if (!item.is_string()) return Fail(Code::kInvalid, std::string(path) + ": expected a list of texts");
    out.emplace(data::AsView(item.get_string()));
  }
  return {};
}

Result<Duration> Span(std::string_view name, const std::string& text) {
  auto span = data::ParseDuration(text);
  if (!span || *span <= Duration::zero())
    return Fail(Code::kInvalid, std::string(name) + ": " + Quote(text) + " is no span of time such as 1h30m");
  return *span;
}

Result<std::int64_t> Number(std::string_view name, const std::string& text, std::int64_t most) {
  const auto number = ParseInt(text);
  if (!number || *number < 1 || *number > most)
    return Fail(Code::kInvalid, std::string(name) + ": expected 1 to " + std::to_string(most) + ", got " + Quote(text));
  return *number;
}

/// A flag's text, or else the file's at `path`; "" without either.
Result<std::string> Either(const container::FlagValues& flags, const char* flag, const Json& file,
                           std::string_view path) {
  if (flags.given(flag)) return flags.Text(flag);
  ASSIGN(const auto text, ReadScalar(file, path));
  return text.value_or("");
}

Result<> ReadNames(const container::FlagValues& flags, const Json& file, NodeSettings& out) {
  TRY(ReadSet(file, "extraLabelNs", out.names.extra_label_ns));
  TRY(ReadSet(file, "denyLabelNs", out.names.deny_label_ns));
  const auto replace = [&](const char* flag, TextSet& names) {
    if (!flags.given(flag)) return;
    const auto list = flags.List(flag);
    names = TextSet(list.begin(), list.end());
  };
  replace("extra-label-ns", out.names.extra_label_ns);
  replace("deny-label-ns", out.names.deny_label_ns);
  ASSIGN(const std::string whitelist, Either(flags, "label-whitelist", file, "labelWhiteList"));
  ASSIGN(out.names.label_whitelist, ReadPattern("labelWhiteList", whitelist));
  const auto allows = [&](const char* restriction, bool& allowed) -> Result<> {
    bool denied = !allowed;
    TRY(ReadBool(file, std::string("restrictions.") + restriction, denied));
    allowed = !denied;
    return {};
  };
  TRY(allows("disableLabels", out.labels));
  TRY(allows("disableExtendedResources", out.extended_resources));
  TRY(allows("disableAnnotations", out.annotations));
  TRY(allows("denyNodeFeatureLabels", out.node_feature_labels));
  return ReadBool(file, "restrictions.allowOverwrite", out.allow_overwrite);
}

Result<> ReadMaster(const container::FlagValues& flags, const Json& file, Master::Options& out) {
  ASSIGN(const std::string resync, Either(flags, "resync-period", file, "resyncPeriod"));
  if (!resync.empty()) {
    ASSIGN(out.resync, Span("resyncPeriod", resync));
  }
  ASSIGN(out.grace, Span("-removal-grace", flags.Text("removal-grace")));
  ASSIGN(const std::string parallelism, Either(flags, "nfd-api-parallelism", file, "nfdApiParallelism"));
  if (!parallelism.empty()) {
    ASSIGN(const auto number, Number("nfdApiParallelism", parallelism, 100));
    out.parallelism = static_cast<std::size_t>(number);
  }
  ASSIGN(const std::string page, Either(flags, "informer-page-size", file, "informerPageSize"));
  if (!page.empty()) {
    ASSIGN(const auto number, Number("informerPageSize", page, 10000));
    out.page = static_cast<int>(number);
  }
  if (const Json* selector = FindSetting(file, "restrictions.nodeFeatureNamespaceSelector")) {
    auto parsed = data::LabelSelector::FromJson(selector);
    if (!parsed) return std::unexpected(std::move(parsed).error().During("restrictions.nodeFeatureNamespaceSelector"));
    out.namespaces = *std::move(parsed);
  }
  bool no_publish = false;
  TRY(ReadBool(file, "noPublish", no_publish));
  if (flags.given("no-publish")) no_publish = flags.On("no-publish");
  out.publish = !no_publish;
  return {};
}

Result<> ReadLease(const Json& file, MasterProgramOptions& out) {
  const auto span = [&](const char* path, Duration& to) -> Result<> {
    ASSIGN(const auto text, ReadScalar(file, path));
    if (text) {
      ASSIGN(to, Span(path, *text));
    }
    return {};
  };
  TRY(span("leaderElection.leaseDuration", out.lease));
  TRY(span("leaderElection.renewDeadline", out.renew));
  TRY(span("leaderElection.retryPeriod", out.retry));
  if (out.renew >= out.lease || out.retry >= out.renew)
    return Fail(Code::kInvalid,
                "leaderElection: retryPeriod must be below renewDeadline, and that below leaseDuration");
  return {};
}

}  // namespace

std::span<const FlagText> MasterFlags() { return kFlags; }

Result<MasterProgramOptions> MakeMasterOptions(const container::FlagValues& flags, const os::Fs& fs,
                                               const std::function<std::string(const char*)>& env) {
  MasterProgramOptions out;
  out.config_file = flags.Text("config");
  out.kubeconfig = flags.Text("kubeconfig");
  ASSIGN(out.port, ReadPort(flags.Text("port")));
  ASSIGN(const Json file, ReadSettings(flags, fs));
  out.prune = flags.On("prune");
  out.leader_election = flags.On("enable-leader-election");
  out.master.ns = env("KUBERNETES_NAMESPACE").empty() ? "default" : env("KUBERNETES_NAMESPACE");
  out.lease_ns = out.master.ns;
  out.identity = env("POD_NAME").empty() ? "nfd-master" : env("POD_NAME");
  ASSIGN(const std::string instance, Either(flags, "instance", file, "instance"));
  if (!instance.empty()) out.node.instance_prefix = instance + ".";
  TRY(ReadBool(file, "enableTaints", out.node.enable_taints));
  if (flags.given("enable-taints")) out.node.enable_taints = flags.On("enable-taints");
  ASSIGN(const FeatureGates gates, ReadGates(flags.Text("feature-gates")));
  out.node.names.auto_prefix = !gates.disable_auto_prefix;
  out.master.groups = gates.node_feature_groups;
  TRY(ReadNames(flags, file, out.node));
  TRY(ReadMaster(flags, file, out.master));
  TRY(ReadLease(file, out));
  return out;
}

}  // namespace gpuop::operands::nfd
