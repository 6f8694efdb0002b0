#include "operands/testing/policies.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/testing/source_dir.h"
#include "data/patch.h"
#include "data/reader.h"
#include "data/yaml.h"

namespace gpuop::operands::testing {
namespace {

const data::Json& DefaultPolicy() {
  static const data::Json kPolicy = [] {
    std::ifstream in(std::string(SourceDir()) + "/testdata/manifests/policies/default.yaml");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    auto policy = data::ParseYaml(text);
    if (!policy || policy->is_null())
      throw std::runtime_error("testdata/manifests/policies/default.yaml cannot be read");
    return *std::move(policy);
  }();
  return kPolicy;
}

api::ClusterPolicySpec Patched(const data::Json& patch) {
  data::Json policy = DefaultPolicy();
  if (!patch.is_null()) policy = data::ApplyMergePatch(std::move(policy), patch);
  std::vector<std::string> unknown;
  auto spec = data::ReadAs<api::ClusterPolicySpec>(policy, &unknown, "spec");
  if (!spec) throw std::runtime_error(spec.error().text);
  if (!unknown.empty()) throw std::runtime_error("unknown field " + unknown.front());
  return *std::move(spec);
}

data::Json Yaml(std::string_view text) {
  auto value = data::ParseYaml(text);
  if (!value) throw std::runtime_error(value.error().text);
  return *std::move(value);
}

std::string Text(const data::Json& from, std::string_view path) { return std::string(data::StringOr(from, path)); }

std::vector<std::string> Texts(const data::Json& list) {
  std::vector<std::string> out;
  for (const data::Json& item : list.as_array()) out.emplace_back(item.as_string());
  return out;
}

StringMap TextMap(const data::Json* object) {
  StringMap out;
  if (object != nullptr)
    for (const auto& member : object->as_object()) out[member.key()] = std::string(member.value().as_string());
  return out;
}

std::vector<NodeGroup> Groups(const data::Json& list) {
  std::vector<NodeGroup> out;
  for (const data::Json& g : list.as_array())
    out.push_back({.os_id = Text(g, "osId"),
                   .os_version = Text(g, "osVersion"),
                   .kernel = Text(g, "kernel"),
                   .arch = Text(g, "arch"),
                   .runtime = Text(g, "runtime"),
                   .rhcos_version = Text(g, "rhcosVersion"),
                   .nodes = static_cast<std::int32_t>(data::IntOr(g, "nodes"))});
  return out;
}

OpenShift OpenShiftOf(const data::Json& in) {
  return {.present = true,
          .version = Text(in, "version"),
          .proxy = {.http = Text(in, "proxy.http"),
                    .https = Text(in, "proxy.https"),
                    .no_proxy = Text(in, "proxy.noProxy"),
                    .trusted_ca = Text(in, "proxy.trustedCa")},
          .driver_toolkit_images = TextMap(data::Find(in, "driverToolkitImages"))};
}

Facts FactsOf(const data::Json& in) {
  Facts out = UbuntuFacts();
  if (const auto* groups = data::Find(in, "groups")) out.groups = Groups(*groups);
  if (const auto* openshift = data::Find(in, "openshift")) out.openshift = OpenShiftOf(*openshift);
  if (const auto* maps = data::Find(in, "configMaps"))
    for (const auto& map : maps->as_object()) out.config_maps[map.key()] = Texts(map.value());
  if (const auto* secrets = data::Find(in, "secrets"))
    for (const std::string& name : Texts(*secrets)) out.secrets.insert(name);
  out.image_env = TextMap(data::Find(in, "imageEnv"));
  out.service_monitors = data::BoolOr(in, "serviceMonitors");
  out.prometheus_rules = data::BoolOr(in, "prometheusRules");
  return out;
}

std::string CasesFolder() { return std::string(SourceDir()) + "/testdata/manifests/cases"; }

}  // namespace

api::ClusterPolicySpec PolicyWith(std::string_view patch) { return Patched(Yaml(patch)); }

RenderCase ReadCase(const std::string& name) {
  std::ifstream in(CasesFolder() + "/" + name + ".yaml");
  const data::Json all = Yaml(std::string{std::istreambuf_iterator<char>(in), {}});
  if (!all.is_object()) throw std::runtime_error("testdata/manifests/cases/" + name + ".yaml cannot be read");
  const data::Json *policy = data::Find(all, "policy"), *facts = data::Find(all, "facts");
  return {.policy = Patched(policy != nullptr ? *policy : data::Json()),
          .facts = FactsOf(facts != nullptr ? *facts : data::Json())};
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(CasesFolder())) out.push_back(entry.path().stem());
  std::ranges::sort(out);
  return out;
}

Facts UbuntuFacts() {
  return {.ns = "gpu-operator",
          .owner = {.api_version = "nvidia.com/v1", .kind = "ClusterPolicy", .name = "cluster-policy", .uid = "cp-uid"},
          .operator_image = "nvcr.io/nvidia/gpu-operator:v26.7.0",
          .groups = {{.os_id = "ubuntu",
                      .os_version = "24.04",
                      .kernel = "6.8.0-60-generic",
                      .arch = "amd64",
                      .runtime = "containerd",
                      .nodes = 2}},
          .service_monitors = false};
}

Objects RenderAll(const api::ClusterPolicySpec& policy, const Facts& facts) {
  Objects out;
  for (const Operand& operand : Operands()) {
    if (!operand.enabled(policy, facts)) continue;
    auto objects = operand.render(policy, facts);
    if (!objects) throw std::runtime_error(objects.error().text);
    std::ranges::move(*objects, std::back_inserter(out));
  }
  return out;
}

const Object* FindObject(const Objects& objects, std::string_view kind, std::string_view name) {
  for (const Object& object : objects)
    if (object.resource.kind == kind && object.name() == name) return &object;
  return nullptr;
}

std::string ToYaml(const Objects& objects) {
  std::string out;
  for (const Object& object : objects) out.append("---\n").append(data::ToYaml(object.body));
  return out;
}

}  // namespace gpuop::operands::testing
