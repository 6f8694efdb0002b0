#include "sim/policy/eviction.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <map>

#include "data/json.h"
#include "data/label_selector.h"
#include "sim/crd/crd_names.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kBudgets = "policy/poddisruptionbudgets", kPods = "/pods";
constexpr const char* kRefusal = "Cannot evict pod as it would violate the pod's disruption budget.";

User Myself() { return {"system:apiserver", "", {"system:masters", "system:authenticated"}, {}}; }

json::object Parse(const Stored& stored) { return json::parse(stored.json).as_object(); }

std::string BudgetPath(const json::object& budget, const char* subresource) {
  return "/apis/policy/v1/namespaces/" + std::string(PeekString(budget, {"metadata", "namespace"})) +
         "/poddisruptionbudgets/" + std::string(PeekString(budget, {"metadata", "name"})) + subresource;
}

std::string PodPath(const json::object& pod) {
  return "/api/v1/namespaces/" + std::string(PeekString(pod, {"metadata", "namespace"})) + "/pods/" +
         std::string(PeekString(pod, {"metadata", "name"}));
}

/// Pods that no budget protects: not yet running, done, or already going.
bool IsFree(const json::object& pod) {
  const auto phase = PeekString(pod, {"status", "phase"});
  return phase == "Pending" || phase == "Succeeded" || phase == "Failed" ||
         Peek(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

std::unexpected<Status> Refuse(std::string message, int retry_after) {
  Status status = TooManyRequests(kRefusal, retry_after);
  if (!status.details) status.details = StatusDetails{};
  status.details->causes.push_back({"DisruptionBudget", std::move(message), ""});
  return std::unexpected(std::move(status));
}

bool IsDryRun(const json::object& eviction, const Request& request) {
  return request.dry_run || !PeekArray(eviction, {"deleteOptions", "dryRun"}).empty();
}

}  // namespace

Evictions::Evictions(ApiServer& server) : server_(server) {
  server_.store().Observe([weak = std::weak_ptr(self_)](std::string_view table, const Event& event) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const bool scale = table == "apps/replicasets" || table == "apps/deployments" || table == "apps/statefulsets";
    if (table == kBudgets || table == kPods || scale) (*self)->Wake(std::string(event.object->ns));
  });
  for (const StoredPtr& budget : server_.store().List(kBudgets, {}).items) Wake(std::string(budget->ns));
  server_.SetHandler("", "pods", "eviction", "create", [this](Request& request) { return Evict(request); });
}

void Evictions::Wake(std::string ns) {
  if (woken_.contains(ns)) return;
  if (server_.store().List(kBudgets, {.ns = ns, .from = {}, .limit = 1, .matches = {}}).items.empty()) return;
  woken_.insert(ns);
  server_.executor().Post([weak = std::weak_ptr(self_), ns = std::move(ns)] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    (*self)->woken_.erase(ns);
    (*self)->SyncNamespace(ns);
  });
}

void Evictions::SyncNamespace(const std::string& ns) {
  for (const StoredPtr& stored :
       server_.store().List(kBudgets, {.ns = ns, .from = {}, .limit = 0, .matches = {}}).items)
    SyncBudget(Parse(*stored));
}

std::vector<json::object> Evictions::PodsOf(const json::object& budget) const {
  const auto selector = data::LabelSelector::FromJson(Peek(budget, {"spec", "selector"}));
  std::vector<json::object> out;
  if (!selector) return out;
  const auto matches = [&](const Stored& pod) {
    return selector->MatchesBy([&](const std::string& key) { return pod.labels.Find(key); });
  };
  const std::string ns(PeekString(budget, {"metadata", "namespace"}));
  for (const StoredPtr& pod : server_.store().List(kPods, {.ns = ns, .from = {}, .limit = 0, .matches = matches}).items)
    out.push_back(Parse(*pod));
  return out;
}

std::optional<BudgetInput::Scale> Evictions::ScaleOf(std::string_view ns, const json::object& owner) const {
  static const std::map<std::string_view, std::string_view> kTables = {
      {"ReplicaSet", "apps/replicasets"},
      {"Deployment", "apps/deployments"},
      {"StatefulSet", "apps/statefulsets"},
      {"ReplicationController", "/replicationcontrollers"}};
  const auto table = kTables.find(PeekString(owner, {"kind"}));
  if (table == kTables.end()) return std::nullopt;
  const StoredPtr stored = server_.store().Get(table->second, ns, PeekString(owner, {"name"}));
  if (stored == nullptr || stored->uid != PeekString(owner, {"uid"})) return std::nullopt;
  const json::object found = Parse(*stored);
  if (table->first == "ReplicaSet")
    for (const json::value& above : PeekArray(found, {"metadata", "ownerReferences"}))
      if (PeekBool(above, {"controller"}) && PeekString(above, {"kind"}) == "Deployment")
        return ScaleOf(ns, AsObject(above));
  return BudgetInput::Scale{std::string(stored->uid), PeekInt(found, {"spec", "replicas"}, 1)};
}

void Evictions::SyncBudget(const json::object& budget) {
  const WallTime now = server_.executor().Wall();
  const std::vector<json::object> pods = PodsOf(budget);
  const std::string ns(PeekString(budget, {"metadata", "namespace"}));
  json::object status = BudgetStatus({.budget = budget,
                                      .pods = pods,
                                      .scale_of = [&](const json::object& owner) { return ScaleOf(ns, owner); },
                                      .now = now});
  if (status.contains("disruptedPods"))
    server_.executor().PostAfter(kDisruptedFor, [weak = std::weak_ptr(self_), ns] {
      if (const auto self = weak.lock()) (*self)->Wake(ns);
    });
  if (status == PeekObject(budget, {"status"})) return;
  json::object wanted = budget;
  wanted["status"] = std::move(status);
  // A conflict means that somebody wrote in between, and that write has woken the namespace.
  (void)server_.Handle({.method = "PUT",
                        .path = BudgetPath(budget, "/status"),
                        .query = {},
                        .content_type = "application/json",
                        .body = data::ToJson(json::value(std::move(wanted)))},
                       Myself());
}

Answer<> Evictions::Spend(const json::object& pod, bool dry_run) {
  const std::string ns(PeekString(pod, {"metadata", "namespace"}));
  const json::object& labels = PeekObject(pod, {"metadata", "labels"});
  std::vector<json::object> covering;
  for (const StoredPtr& stored :
       server_.store().List(kBudgets, {.ns = ns, .from = {}, .limit = 0, .matches = {}}).items) {
    json::object budget = Parse(*stored);
    const auto selector = data::LabelSelector::FromJson(Peek(budget, {"spec", "selector"}));
    if (selector && selector->Matches(&labels)) covering.push_back(std::move(budget));
  }
  if (covering.empty()) return {};
  if (covering.size() > 1)
    return std::unexpected(Status{
        .code = 500,
        .reason = "",
        .message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        .details = {},
        .continue_token = {}});
  return SpendFrom(std::move(covering.front()), pod, dry_run);
}

Answer<> Evictions::SpendFrom(json::object budget, const json::object& pod, bool dry_run) {
  const std::string name(PeekString(budget, {"metadata", "name"}));
  const std::int64_t healthy = PeekInt(budget, {"status", "currentHealthy"});
  const std::int64_t desired = PeekInt(budget, {"status", "desiredHealthy"});
  if (!IsPodReady(pod)) {
    // An unhealthy pod costs nothing: always, or (by default) while the application has all the healthy ones it needs.
    if (PeekString(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return {};
    if (healthy >= desired && desired > 0) return {};
  }
  if (PeekInt(budget, {"status", "observedGeneration"}) < PeekInt(budget, {"metadata", "generation"}))
    return Refuse("The disruption budget " + name + " is still being processed by the server.", 10);
  const std::int64_t allowed = PeekInt(budget, {"status", "disruptionsAllowed"});
  if (allowed <= 0)
    return Refuse("The disruption budget " + name + " needs " + std::to_string(desired) + " healthy pods and has " +
                      std::to_string(healthy) + " currently",
                  0);
  if (dry_run) return {};
  json::object& status = Ensure(budget, {"status"});
  status["disruptionsAllowed"] = allowed - 1;
  Ensure(status, {"disruptedPods"})[PeekString(pod, {"metadata", "name"})] = FormatTime(server_.executor().Wall());
  (void)server_.Handle({.method = "PUT",
                        .path = BudgetPath(budget, "/status"),
                        .query = {},
                        .content_type = "application/json",
                        .body = data::ToJson(json::value(std::move(budget)))},
                       Myself());
  return {};
}

Answer<Response> Evictions::Evict(Request& request) {
  ASSIGN(const json::object eviction, server_.DecodeBody(request));
  const auto named = PeekString(eviction, {"metadata", "name"});
  if (!named.empty() && named != request.name())
    return std::unexpected(BadRequest("name in URL does not match name in Eviction object"));
  const StoredPtr stored = server_.store().Get(kPods, request.ns(), request.name());
  if (stored == nullptr) return std::unexpected(NotFound(*request.resource, request.name()));
  json::object pod = Parse(*stored);
  const bool dry_run = IsDryRun(eviction, request);
  if (!IsFree(pod)) {
    TRY(Spend(pod, dry_run));
    if (!dry_run) {
      SetCondition(pod, "DisruptionTarget", true, "EvictionByEvictionAPI", "Eviction API: evicting",
                   server_.executor().Wall());
      for (json::value& condition : pod["status"].as_object()["conditions"].as_array())
        condition.as_object().emplace("lastProbeTime", nullptr);  // a Pod's conditions always say it
      TRY(server_.store().Put(kPods, pod));                       // past field ownership: nobody owns this condition
    }
  }
  json::object options = PeekObject(eviction, {"deleteOptions"});
  options["kind"] = "DeleteOptions";
  options["apiVersion"] = "v1";
  kube::ApiRequest deletion{.method = "DELETE",
                            .path = PodPath(pod),
                            .query = {},
                            .content_type = "application/json",
                            .body = data::ToJson(json::value(std::move(options)))};
  if (dry_run) deletion.query.emplace_back("dryRun", "All");
  Response deleted = server_.Handle(deletion, Myself());
  if (deleted.status >= 400) return deleted;
  return Response::Json(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})", 201);
}

}  // namespace gpuop::sim
