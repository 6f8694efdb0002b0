#include "operands/driver/pod.h"

#include <fmt/core.h>

#include "data/writer.h"
#include "operands/driver/containers.h"
#include "operands/driver_manager.h"
#include "operands/image.h"
#include "operands/names.h"
#include "operands/waits.h"

namespace gpuop::operands::driver {
namespace {

constexpr const char* kComponent = "app.kubernetes.io/component";

/// No two Pods of these components on one node.
data::Json KeepApart(data::JsonArray components) {
  data::JsonObject term;
  term["labelSelector"] = data::JsonObject{
      {"matchExpressions",
       data::JsonArray{data::JsonObject{{"key", kComponent}, {"operator", "In"}, {"values", std::move(components)}}}}};
  term["topologyKey"] = "kubernetes.io/hostname";
  return data::JsonObject{{"podAntiAffinity", data::JsonObject{{"requiredDuringSchedulingIgnoredDuringExecution",
                                                                data::JsonArray{std::move(term)}}}}};
}

Result<> AddSideContainers(const Settings& settings, const Facts& facts, PodSpec& pod) {
  if (settings.rdma) {
    ASSIGN(Container peermem, PeermemContainer(settings, facts, pod));
    pod.containers.push_back(std::move(peermem));
  }
  if (settings.gds) {
    ASSIGN(Container gds, GdsContainer(settings, facts, pod));
    pod.containers.push_back(std::move(gds));
  }
  if (settings.gdrcopy) {
    ASSIGN(Container gdrcopy, GdrcopyContainer(settings, facts, pod));
    pod.containers.push_back(std::move(gdrcopy));
  }
  if (settings.UsesDriverToolkit()) {
    ASSIGN(Container toolkit, ToolkitContainer(settings, facts, pod));
    pod.containers.push_back(std::move(toolkit));
  }
  return {};
}

/// What of a container is the driver's and not the operator's way of starting it.
data::JsonObject Essence(const Container& c) {
  std::vector<std::string> command = c.command;
  const auto program = std::ranges::find(command, "--");
  if (program != command.end()) command.erase(command.begin(), std::next(program));
  std::vector<Mount> mounts = c.mounts;
  std::erase_if(mounts, [](const Mount& m) { return m.name == kLauncherVolume; });
  return {{"name", c.name},
          {"image", c.image},
          {"command", data::WriteValue(command)},
          {"args", data::WriteValue(c.args)},
          {"env", data::WriteValue(c.env.vars())},
          {"envFrom", data::WriteValue(c.env_from)},
          {"mounts", data::WriteValue(mounts)}};
}

void SetDigest(const std::string& digest, PodSpec& pod) {
  for (Container& c : pod.init_containers)
    if (c.name == "k8s-driver-manager") c.env.Set("DRIVER_CONFIG_DIGEST", digest);
  for (Container& c : pod.containers)
    if (c.name == "nvidia-driver-ctr" || c.name == "openshift-driver-toolkit-ctr")
      c.env.Set("DRIVER_CONFIG_DIGEST", digest);
}

}  // namespace

std::string ConfigDigest(const PodSpec& pod, const Settings& settings) {
  data::JsonArray containers;
  for (const Container& c : pod.containers) containers.emplace_back(Essence(c));
  std::vector<Volume> volumes = pod.volumes;
  std::erase_if(volumes, [](const Volume& v) { return v.name == kLauncherVolume; });
  const data::JsonObject all{{"type", settings.type},
                             {"precompiled", settings.precompiled},
                             {"containers", std::move(containers)},
                             {"volumes", data::WriteValue(volumes)}};
  return std::to_string(Fnv1a32(data::ToJson(all)));
}

Result<> FillPod(const Settings& settings, const Facts& facts, DaemonSet& ds) {
  PodSpec& pod = ds.pod.spec;
  pod.host_pid = true;
  pod.affinity =
      settings.own_resource ? KeepApart({"nvidia-driver", "nvidia-vgpu-host-manager"}) : KeepApart({"nvidia-driver"});
  if (settings.type == "vgpu-host-manager") pod.grace_seconds = 120;
  if (settings.host_network.value_or(false)) {
    pod.host_network = true;
    pod.dns_policy = "ClusterFirstWithHostNet";
  }
  ds.strategy = {.type = "OnDelete"};
  ds.pod.meta.annotations["kubectl.kubernetes.io/default-container"] = "nvidia-driver-ctr";
  AddPullSecrets(settings.pull_secrets, pod);
  const api::ClusterPolicySpec launcher_policy = [&] {
    api::ClusterPolicySpec out;
    static_cast<api::ImageSource&>(out.validator) = settings.launcher;
    return out;
  }();
  ASSIGN(Container launcher, BringLauncher(launcher_policy, facts, pod));
  ASSIGN(Container manager, ManagerInit({.spec = settings.manager,
                                         .field = settings.field + ".manager",
                                         .evicts = true,
                                         .rdma = settings.rdma,
                                         .host_mofed = settings.host_mofed},
                                        settings.resources, facts, pod));
  pod.init_containers = {std::move(launcher), std::move(manager)};
  ASSIGN(Container driver, DriverContainer(settings, facts, pod));
  pod.containers = {std::move(driver)};
  pod.AddVolume(HostRoot(settings.paths));
  pod.AddVolume(HostVolume("host-sys", "/sys", kDirectory));
  TRY(AddSideContainers(settings, facts, pod));
  SetDigest(ConfigDigest(pod, settings), pod);
  return {};
}

Account DriverAccount(const std::string& name) {
  return {
      .name = name,
      .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "patch", "update", "watch"}},
                        {.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch"}},
                        {.groups = {""}, .resources = {"pods/eviction"}, .verbs = {"create"}},
                        {.groups = {""}, .resources = {"events"}, .verbs = {"create"}},
                        {.groups = {"apps"}, .resources = {"daemonsets"}, .verbs = {"get"}},
                        {.groups = {"resource.k8s.io"}, .resources = {"resourceclaims"}, .verbs = {"get", "list"}}},
      .reads_openshift_version = true};
}

}  // namespace gpuop::operands::driver
