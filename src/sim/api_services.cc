#include "sim/api_services.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "data/json.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kTable = "apiregistration.k8s.io/apiservices", kGroup = "apiregistration.k8s.io";
constexpr const char* kManaged = "kube-aggregator.kubernetes.io/automanaged";

/// groupPriorityMinimum of the built-in groups, as the real server has it; custom ones have 1000.
struct Priority {
  std::string_view group;
  int value;
};
constexpr std::array kPriorities = {
    Priority{"", 18000},
    Priority{"admissionregistration.k8s.io", 16700},
    Priority{"apiextensions.k8s.io", 16700},
    Priority{"apps", 17800},
    Priority{"authentication.k8s.io", 17700},
    Priority{"authorization.k8s.io", 17600},
    Priority{"autoscaling", 17500},
    Priority{"batch", 17400},
    Priority{"coordination.k8s.io", 16500},
    Priority{"discovery.k8s.io", 16200},
    Priority{"events.k8s.io", 17750},
    Priority{"networking.k8s.io", 17200},
    Priority{"node.k8s.io", 16300},
    Priority{"policy", 17100},
    Priority{"rbac.authorization.k8s.io", 17000},
    Priority{"resource.k8s.io", 16200},
    Priority{"scheduling.k8s.io", 16600},
    Priority{"storage.k8s.io", 16800},
};

/// versionPriority: three built-in versions differ from the others' 15.
int VersionPriority(std::string_view group, std::string_view version, bool built_in) {
  if (!built_in) return 100;
  if (group.empty()) return 1;
  if (group == "autoscaling" && version == "v2") return 30;
  return group == "resource.k8s.io" ? 21 : 15;
}

/// What the server's aggregator says it owns of it.
json::object Ownership(bool has_group, const std::string& time) {
  json::object spec{
      {"f:groupPriorityMinimum", json::object()}, {"f:version", json::object()}, {"f:versionPriority", json::object()}};
  if (has_group) spec["f:group"] = json::object();
  const json::object labels{{".", json::object()}, {std::string("f:") + kManaged, json::object()}};
  return {{"manager", "kube-apiserver"},
          {"operation", "Update"},
          {"apiVersion", "apiregistration.k8s.io/v1"},
          {"time", time},
          {"fieldsType", "FieldsV1"},
          {"fieldsV1", {{"f:metadata", {{"f:labels", labels}}}, {"f:spec", std::move(spec)}}}};
}

json::object Make(std::string_view name, std::string_view group, std::string_view version, const std::string& time,
                  Rng& rng) {
  const auto known = std::ranges::find(kPriorities, group, &Priority::group);
  const bool built_in = known != kPriorities.end();
  json::object spec;
  if (!group.empty()) spec["group"] = group;
  spec["version"] = version;
  spec["groupPriorityMinimum"] = built_in ? known->value : 1000;
  spec["versionPriority"] = VersionPriority(group, version, built_in);
  return {{"kind", "APIService"},
          {"apiVersion", "apiregistration.k8s.io/v1"},
          {"metadata",
           {{"name", name},
            {"uid", NewUuid(rng)},
            {"creationTimestamp", time},
            {"labels", {{kManaged, built_in ? "onstart" : "true"}}},
            {"managedFields", json::array{Ownership(!group.empty(), time)}}}},
          {"spec", std::move(spec)},
          {"status",
           {{"conditions", json::array{{{"type", "Available"},
                                        {"status", "True"},
                                        {"lastTransitionTime", time},
                                        {"reason", "Local"},
                                        {"message", "Local APIServices are always available"}}}}}}};
}

}  // namespace

ApiServices::ApiServices(ApiServer& server) : server_(server), self_(std::make_shared<ApiServices*>(this)) {
  server_.registry().OnChange([weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (self == nullptr || !(*self)->started_ || std::exchange((*self)->scheduled_, true)) return;
    (*self)->server_.executor().Post([weak] {
      if (const auto alive = weak.lock()) (*alive)->Sync();
    });
  });
}

void ApiServices::Start() {
  started_ = true;
  Sync();
}

void ApiServices::Sync() {
  scheduled_ = false;
  std::map<std::string, ResourcePtr> wanted;
  for (const ResourcePtr& info : server_.registry().All())
    if (info->group != kGroup) wanted.emplace(info->version + "." + info->group, info);
  Store& store = server_.store();
  for (const StoredPtr& stored : store.List(kTable, {}).items) {
    if (wanted.erase(std::string(stored->name)) != 0) continue;
    const auto object = data::ParseJson(stored->json);
    if (object && PeekString(object->as_object(), {"metadata", "labels", kManaged}) == "true")
      GPUOP_CHECK(store.Delete(kTable, "", stored->name));
  }
  const std::string time = FormatTime(server_.executor().Wall());
  for (const auto& [name, info] : wanted) {
    json::object object = Make(name, info->group, info->version, time, server_.rng());
    GPUOP_CHECK(store.Put(kTable, object));
  }
}

}  // namespace gpuop::sim
