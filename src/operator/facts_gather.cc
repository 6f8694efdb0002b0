#include "operator/facts_gather.h"

#include <boost/json.hpp>

#include "data/json.h"
#include "operands/labels.h"

namespace gpuop::op {
namespace {

const kube::Resource kDaemonSets{"apps", "v1", "daemonsets", "DaemonSet", true};
const kube::Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};

/// Which group the DaemonSet of NVIDIA's plain name serves now.
std::string PrimaryOf(World& world, std::string_view daemon_set, std::string_view label) {
  const auto* cache = world.Objects(kDaemonSets);
  const auto live = cache == nullptr ? nullptr : cache->Get(world.ns(), daemon_set);
  return live == nullptr ? std::string() : std::string(live->meta.labels.Get(label));
}

data::Json TreeOf(const kube::AnyObject& object) {
  auto tree = kube::ParseObject(object.whole.text);
  return tree ? data::Json(*std::move(tree)) : data::Json();
}

/// The newest completed version's major and minor part.
std::string OpenShiftVersion(const kube::AnyObject& object) {
  const data::Json tree = TreeOf(object);
  const data::JsonArray* history = data::GetArray(tree, "status.history");
  if (history == nullptr) return {};
  for (const data::Json& entry : *history) {
    if (data::StringOr(entry, "state") != "Completed") continue;
    const std::string version(data::StringOr(entry, "version"));
    const std::size_t dot = version.find('.');
    return version.substr(0, dot == std::string::npos ? dot : version.find('.', dot + 1));
  }
  return {};
}

operands::Proxy ProxyOf(const kube::AnyObject& object) {
  const data::Json in = TreeOf(object);
  const auto text = [&in](std::string_view path) { return std::string(data::StringOr(in, path)); };
  return {text("status.httpProxy"), text("status.httpsProxy"), text("status.noProxy"), text("spec.trustedCA.name")};
}

/// The Driver Toolkit's images are the tags of its ImageStream that are called by a version of RHCOS.
void AddToolkit(const kube::AnyObject& stream, operands::OpenShift& out) {
  const data::Json tree = TreeOf(stream);
  const data::JsonArray* tags = data::GetArray(tree, "spec.tags");
  if (tags == nullptr) return;
  for (const data::Json& tag : *tags) {
    const std::string name(data::StringOr(tag, "name"));
    const std::string image(data::StringOr(tag, "from.name"));
    if (name.empty()) out.driver_toolkit_broken = true;
    if (!name.empty() && name != "latest" && !image.empty()) out.driver_toolkit_images[name] = image;
  }
}

operands::OpenShift GatherOpenShift(World& world) {
  operands::OpenShift out;
  out.present = world.IsOpenShift();
  if (!out.present) return out;
  if (const auto version = world.cluster_versions().Get("version")) out.version = OpenShiftVersion(*version);
  if (const auto proxy = world.proxies().Get("cluster")) out.proxy = ProxyOf(*proxy);
  if (const auto stream = world.image_streams().Get("openshift/driver-toolkit")) AddToolkit(*stream, out);
  return out;
}

}  // namespace

operands::Facts GatherFacts(World& world, const FleetSummary& fleet, const Surroundings& surroundings) {
  operands::Facts out;
  out.ns = world.ns();
  out.image_env = surroundings.image_env;
  out.operator_image = surroundings.operator_image;
  out.operator_pull_secrets = surroundings.operator_pull_secrets;
  for (const auto& [group, count] : fleet.groups) {
    out.groups.push_back(group);
    out.groups.back().nodes = count;
  }
  out.primary_os = PrimaryOf(world, "nvidia-driver-daemonset", operands::kOsLabel);
  out.primary_runtime = PrimaryOf(world, "nvidia-container-toolkit-daemonset", operands::kRuntimeLabel);
  // Where the host owns the toolkit.
  if (out.primary_runtime.empty())
    out.primary_runtime = PrimaryOf(world, "nvidia-device-plugin-daemonset", operands::kRuntimeLabel);
  out.openshift = GatherOpenShift(world);
  out.service_monitors = world.Serves("servicemonitors.monitoring.coreos.com");
  out.prometheus_rules = world.Serves("prometheusrules.monitoring.coreos.com");
  for (const auto& map : world.Objects(kConfigMaps)->List()) out.config_maps[map->meta.name] = map->keys;
  for (const auto& secret : world.secrets().List()) out.secrets.insert(secret->meta.name);
  return out;
}

}  // namespace gpuop::op
