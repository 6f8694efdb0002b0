#include "operands/nfd/worker/settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/duration.h"
#include "data/yaml.h"
#include "operands/nfd/program.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::array kFlags = {
    FlagText{"config", "/etc/kubernetes/node-feature-discovery/nfd-worker.conf", false, "settings file"},
    FlagText{"kubeconfig", "", false, "how to reach the API outside a Pod"},
    FlagText{"port", "8080", false, "of /healthz and /metrics"},
    FlagText{"options", "", false, "settings as JSON or YAML, over the file's"},
    FlagText{"oneshot", "", true, "publish once and end"},
    FlagText{"no-publish", "", true, "write nothing"},
    FlagText{"no-publish-features", "", true, "publish labels only"},
    FlagText{"publish-all-features", "", true, "publish what no rule uses too"},
    FlagText{"label-node", "", true, "label the own node, without nfd-master"},
    FlagText{"owner-refs", "", false, "what owns the object: node, or pod,ds (node)"},
    FlagText{"no-owner-refs", "", true, "nothing owns the object"},
    FlagText{"feature-sources", "", false, "sources that are asked: all, names, -name for all but it"},
    FlagText{"label-sources", "", false, "sources whose labels count"},
    FlagText{"feature-gates", "", false, "accepted"},
    FlagText{"host", "", false, "folder that holds the host's files (those mounted at /host-*, or the root)"},
};

using data::Json;

Result<> ReadList(const Json& root, std::string_view path, std::vector<std::string>& out) {
  const Json* const value = FindSetting(root, path);
  if (value == nullptr) return {};
  const auto* const list = value->if_array();
  if (list == nullptr) return Expected(path, "a list", *value);
  out.clear();
  for (const Json& item : *list) {
    // 0300 without quotes is a number to YAML: no class code can be told from it.
    if (!item.is_string()) return Expected(std::string(path) + "[]", "a text (in quotes)", item);
    out.emplace_back(data::AsView(item.get_string()));
  }
  return {};
}

/// "all", names, and "-name" for what is left out. Those that nobody knows are passed over.
TextSet ChooseSources(const std::vector<std::string>& words) {
  TextSet all = {"custom"};
  for (const Source& source : Sources())
    if (source.name != "fake") all.emplace(source.name);
  TextSet out;
  if (std::ranges::all_of(words, [](const std::string& word) { return word.starts_with('-'); })) out = all;
  for (const std::string& word : words) {
    if (word == "all")
      out.insert(all.begin(), all.end());
    else if (word.starts_with('-'))
      out.erase(word.substr(1));
    else if (word == "custom" || std::ranges::any_of(Sources(), [&](const Source& s) { return s.name == word; }))
      out.insert(word);
  }
  return out;
}

Result<> ReadOwners(const std::vector<std::string>& words, std::vector<Owner>& out) {
  out.clear();
  for (const std::string& word : words) {
    if (word == "node") {
      out.push_back(Owner::kNode);
    } else if (word == "pod") {
      out.push_back(Owner::kPod);
    } else if (word == "ds") {
      out.push_back(Owner::kDaemonSet);
    } else if (!word.empty()) {
      return Fail(Code::kInvalid, "ownerRefs: " + Quote(word) + " is not node, pod or ds");
    }
  }
  return {};
}

/// core.noPublishFeatures: true for all, or a list of names.
Result<> ReadUnpublished(const Json& root, WorkerSettings& out) {
  const Json* const value = FindSetting(root, "core.noPublishFeatures");
  if (value == nullptr) return {};
  if (value->is_bool()) {
    out.publish_features = !value->get_bool();
    return {};
  }
  std::vector<std::string> names;
  TRY(ReadList(root, "core.noPublishFeatures", names));
  out.unpublished = TextSet(names.begin(), names.end());
  return {};
}

Result<> ReadCore(const Json& root, WorkerSettings& out) {
  std::vector<std::string> features = {"all"}, labels = {"all"}, owners = {"node"}, extra;
  TRY(ReadList(root, "core.featureSources", features));
  TRY(ReadList(root, "core.labelSources", labels));
  out.feature_sources = ChooseSources(features);
  out.label_sources = ChooseSources(labels);
  bool no_publish = false, no_owners = false;
  TRY(ReadBool(root, "core.noPublish", no_publish));
  TRY(ReadBool(root, "core.noOwnerRefs", no_owners));
  TRY(ReadList(root, "core.ownerRefs", owners));
  TRY(ReadOwners(owners, out.owners));
  if (no_owners) out.owners.clear();
  out.publish = !no_publish;
  TRY(ReadUnpublished(root, out));
  TRY(ReadBool(root, "core.publishAllFeatures", out.publish_all));
  TRY(ReadBool(root, "core.labelNode", out.label_node));
  TRY(ReadList(root, "core.extraLabelNs", extra));
  out.extra_label_ns = TextSet(extra.begin(), extra.end());
  ASSIGN(const auto whitelist, ReadText(root, "core.labelWhiteList"));
  ASSIGN(out.label_whitelist, ReadPattern("core.labelWhiteList", whitelist.value_or("")));
  ASSIGN(const auto interval, ReadText(root, "core.sleepInterval"));
  if (interval && !interval->empty()) {
    auto span = data::ParseDuration(*interval);
    if (!span) return std::unexpected(std::move(span).error().During("core.sleepInterval"));
    out.interval =
        *span <= Duration::zero() ? std::nullopt : std::optional(std::max<Duration>(*span, std::chrono::seconds(1)));
  }
  return {};
}

Result<> ReadSources(const Json& root, SourceSettings& out) {
  TRY(ReadList(root, "sources.cpu.cpuid.attributeBlacklist", out.cpu.blacklist));
  TRY(ReadList(root, "sources.cpu.cpuid.attributeWhitelist", out.cpu.whitelist));
  ASSIGN(auto config_file, ReadText(root, "sources.kernel.kconfigFile"));
  out.kernel.config_file = std::move(config_file).value_or("");
  TRY(ReadList(root, "sources.kernel.configOpts", out.kernel.config_options));
  TRY(ReadList(root, "sources.pci.deviceClassWhitelist", out.pci.classes));
  TRY(ReadList(root, "sources.pci.deviceLabelFields", out.pci.fields));
  TRY(ReadList(root, "sources.usb.deviceClassWhitelist", out.usb.classes));
  TRY(ReadList(root, "sources.usb.deviceLabelFields", out.usb.fields));
  if (const Json* rules = FindSetting(root, "sources.custom")) {
    if (!rules->is_array()) return Expected("sources.custom", "a list of rules", *rules);
    out.custom.push_back(ReadRules("sources.custom", *rules));
  }
  return {};
}

/// Files of custom.d and of the folders in it: a list of rules each.
Result<> ReadCustomFolder(const os::Fs& fs, const std::string& folder, int depth, SourceSettings& out) {
  const auto names = fs.List(folder);
  if (!names || depth > 2) return {};
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;
    const std::string path = folder + "/" + name;
    const auto text = fs.Read(path);
    if (!text) {
      TRY(ReadCustomFolder(fs, path, depth + 1, out));
      continue;
    }
    auto rules = data::ParseYaml(*text);
    if (!rules) return std::unexpected(std::move(rules).error().During(path));
    if (!rules->is_null() && !rules->is_array()) return Expected(path, "a list of rules", *rules);
    out.custom.push_back(ReadRules(path, *rules));
  }
  return {};
}

Result<> UseFlags(const container::FlagValues& flags, WorkerSettings& out) {
  if (flags.given("feature-sources")) out.feature_sources = ChooseSources(flags.List("feature-sources"));
  if (flags.given("label-sources")) out.label_sources = ChooseSources(flags.List("label-sources"));
  if (flags.given("no-publish")) out.publish = !flags.On("no-publish");
  if (flags.given("no-publish-features")) out.publish_features = !flags.On("no-publish-features");
  if (flags.given("publish-all-features")) out.publish_all = flags.On("publish-all-features");
  if (flags.given("label-node")) out.label_node = flags.On("label-node");
  if (flags.given("owner-refs")) TRY(ReadOwners(flags.List("owner-refs"), out.owners));
  if (flags.On("no-owner-refs")) out.owners.clear();
  return {};
}

}  // namespace

std::span<const FlagText> WorkerFlags() { return kFlags; }

Result<WorkerProgram> MakeWorkerProgram(const container::FlagValues& flags,
                                        const std::function<std::string(const char*)>& env) {
  WorkerProgram out;
  out.config_file = flags.Text("config");
  out.kubeconfig = flags.Text("kubeconfig");
  out.oneshot = flags.On("oneshot");
  out.host_root = flags.Text("host");
  ASSIGN(out.port, ReadPort(flags.Text("port")));
  out.node = env("NODE_NAME");
  out.pod = env("POD_NAME");
  out.pod_uid = env("POD_UID");
  out.ns = env("KUBERNETES_NAMESPACE").empty() ? "default" : env("KUBERNETES_NAMESPACE");
  if (out.node.empty()) return Fail(Code::kInvalid, "the environment variable NODE_NAME must name the node");
  return out;
}

Result<WorkerSettings> ReadWorkerSettings(const container::FlagValues& flags, const os::Fs& fs) {
  ASSIGN(const Json root, ReadSettings(flags, fs));
  WorkerSettings out;
  auto read = ReadCore(root, out);
  if (read) read = ReadSources(root, out.sources);
  if (!read) return std::unexpected(std::move(read).error().During(flags.Text("config")));
  TRY(ReadCustomFolder(fs, kCustomFolder, 0, out.sources));
  TRY(UseFlags(flags, out));
  return out;
}

}  // namespace gpuop::operands::nfd
