#include "sim/crd/crd_controller.h"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "base/text.h"
#include "data/json.h"
#include "sim/crd/crd_names.h"
#include "sim/crd/crd_resources.h"
#include "sim/deleter.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kGroup = "apiextensions.k8s.io", kPlural = "customresourcedefinitions";
constexpr std::string_view kTable = "apiextensions.k8s.io/customresourcedefinitions";
constexpr std::string_view kFinalizer = "customresourcecleanup.apiextensions.k8s.io";
constexpr std::string_view kPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

User Myself() { return {"system:apiserver", "", {"system:masters", "system:authenticated"}, {}}; }

json::object Parse(const Stored& stored) { return json::parse(stored.json).as_object(); }

std::string InstanceTable(const json::object& crd) {
  return std::string(PeekString(crd, {"spec", "group"})) + "/" +
         std::string(PeekString(crd, {"spec", "names", "plural"}));
}

bool IsTerminating(const json::object& crd) { return Peek(crd, {"metadata", "deletionTimestamp"}) != nullptr; }

bool HasFinalizer(const json::object& crd) {
  const json::array& list = PeekArray(crd, {"metadata", "finalizers"});
  return std::ranges::any_of(list, [](const json::value& f) { return AsString(f) == kFinalizer; });
}

}  // namespace

CrdController::CrdController(ApiServer& server) : server_(server) {
  std::set<std::string> groups;
  for (const StoredPtr& stored : server_.store().List(kTable, {}).items) {
    const json::object crd = Parse(*stored);
    Serve(crd);
    groups.emplace(PeekString(crd, {"spec", "group"}));
  }
  for (const std::string& group : groups) Wake(group);
  server_.store().Observe([weak = std::weak_ptr(self_)](std::string_view table, const Event& event) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    if (table == kTable) return (*self)->See(event);
    if (event.type != Event::Type::kDeleted) return;
    const auto waiting = (*self)->terminating_.find(table);
    if (waiting != (*self)->terminating_.end()) (*self)->Wake(waiting->second);
  });
  server_.SetHandler(kGroup, kPlural, "", "delete", [this](Request& request) { return HandleDelete(request); });
  server_.AddCheck([this](Request& request, json::object*, const json::object* old) {
    return RefuseCreateWhileTerminating(request, old);
  });
}

void CrdController::See(const Event& event) {
  const json::object crd = Parse(*event.object);
  if (event.type == Event::Type::kDeleted) {
    Withdraw(std::string(event.object->name));
    terminating_.erase(InstanceTable(crd));
  } else {
    Serve(crd);
  }
  Wake(std::string(PeekString(crd, {"spec", "group"})));
}

void CrdController::Serve(const json::object& crd) {
  const std::string name(PeekString(crd, {"metadata", "name"})), group(PeekString(crd, {"spec", "group"}));
  if (IsTerminating(crd)) terminating_[InstanceTable(crd)] = group;
  std::set<std::string> now;
  if (HasCondition(crd, "Established"))
    for (ResourceInfo& info : ResourcesOf(crd)) {
      now.insert(info.version);
      if (info.version == info.storage_version) server_.store().SetSelectable(info.table, info.selectable);
      server_.registry().Add(std::move(info));
    }
  const std::string_view plural = PeekString(crd, {"spec", "names", "plural"});
  for (const std::string& version : served_[name])
    if (!now.contains(version)) server_.registry().Remove(group, version, plural);
  served_[name] = std::move(now);
}

void CrdController::Withdraw(const std::string& name) {
  const auto it = served_.find(name);
  if (it == served_.end()) return;
  const auto dot = name.find('.');
  for (const std::string& version : it->second)
    server_.registry().Remove(name.substr(dot + 1), version, name.substr(0, dot));
  served_.erase(it);
}

void CrdController::Wake(std::string group) {
  if (!woken_.insert(group).second) return;
  server_.executor().Post([weak = std::weak_ptr(self_), group = std::move(group)] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    (*self)->woken_.erase(group);
    (*self)->SyncGroup(group);
  });
}

void CrdController::SyncGroup(const std::string& group) {
  for (const StoredPtr& stored : server_.store().List(kTable, {}).items) {
    if (!stored->name.ends_with("." + group)) continue;
    json::object crd = Parse(*stored);
    if (!IsTerminating(crd))
      SyncNames(crd);
    else if (HasFinalizer(crd))
      Finalize(std::move(crd));
  }
}

void CrdController::SyncNames(const json::object& crd) {
  std::vector<json::object> parsed;
  for (const StoredPtr& stored : server_.store().List(kTable, {}).items) {
    if (stored->name == PeekString(crd, {"metadata", "name"})) continue;
    json::object other = Parse(*stored);
    if (PeekString(other, {"spec", "group"}) == PeekString(crd, {"spec", "group"})) parsed.push_back(std::move(other));
  }
  std::vector<const json::object*> others;
  for (const json::object& other : parsed) others.push_back(&other);
  json::object wanted = crd;
  AcceptNames(wanted, others, server_.executor().Wall());
  if (wanted != crd) Write(wanted, "/status");
}

void CrdController::Finalize(json::object crd) {
  const std::string table = InstanceTable(crd);
  const json::object before = crd;
  SetCondition(crd, "Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress",
               server_.executor().Wall());
  // The write wakes the group again.
  if (crd != before) return Write(crd, "/status");
  DeleteInstances(crd, table);
  if (server_.store().Count(table) > 0) return;
  json::array& finalizers = crd["metadata"].as_object()["finalizers"].as_array();
  finalizers.erase(std::ranges::find(finalizers, json::value(kFinalizer)));
  Write(crd, "");
}

void CrdController::DeleteInstances(const json::object& crd, const std::string& table) {
  const std::string name(PeekString(crd, {"metadata", "name"}));
  const auto served = served_.find(name);
  for (const StoredPtr& instance : server_.store().List(table, {}).items) {
    if (served == served_.end() || served->second.empty()) {
      // No version is served, so that nobody can be asked to take finalizers off.
      (void)server_.store().Delete(table, instance->ns, instance->name);
      continue;
    }
    if (AsObject(json::parse(instance->json)).at("metadata").as_object().contains("deletionTimestamp")) continue;
    std::string path = "/apis/" + std::string(PeekString(crd, {"spec", "group"})) + "/" + *served->second.begin();
    if (!instance->ns.empty()) path += "/namespaces/" + std::string(instance->ns);
    path += "/" + std::string(PeekString(crd, {"spec", "names", "plural"})) + "/" + std::string(instance->name);
    (void)server_.Handle({.method = "DELETE", .path = path, .query = {}, .content_type = {}, .body = {}}, Myself());
  }
}

void CrdController::Write(const json::object& crd, std::string_view subresource) {
  // A conflict means that somebody wrote in between: that write has woken the group.
  const std::string path = std::string(kPath).append(PeekString(crd, {"metadata", "name"})).append(subresource);
  (void)server_.Handle({.method = "PUT",
                        .path = path,
                        .query = {},
                        .content_type = "application/json",
                        .body = data::ToJson(json::value(crd)),
                        .user_agent = "kube-apiserver"},
                       Myself());
}

Answer<Response> CrdController::HandleDelete(Request& request) {
  ASSIGN(const json::object options, Deleter::ReadOptions(server_, request));
  const StoredPtr stored = server_.store().Get(kTable, "", request.name());
  if (stored == nullptr || request.dry_run || IsTerminating(Parse(*stored))) return server_.Delete(request, options);
  // What would be refused is refused; the deletion itself begins with a mark, and ends when the instances are gone.
  request.dry_run = true;
  ASSIGN(const Response would, server_.Delete(request, options));
  if (would.status >= 400) return would;
  request.dry_run = false;
  json::object crd = Parse(*stored);
  const WallTime now = server_.executor().Wall();
  Ensure(crd, {"metadata"})["deletionTimestamp"] = FormatTime(now);
  if (!HasFinalizer(crd)) {
    json::value& finalizers = Ensure(crd, {"metadata"})["finalizers"];
    if (!finalizers.is_array()) finalizers.emplace_array();
    finalizers.get_array().emplace_back(kFinalizer);
  }
  SetCondition(crd, "Terminating", true, "InstanceDeletionPending",
               "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon", now);
  ASSIGN(const StoredPtr marked, server_.store().Put(kTable, crd));
  ASSIGN(const Form form, Negotiate(request.http->accept));
  return server_.EncoderFor(request, form).Object(marked);
}

Answer<> CrdController::RefuseCreateWhileTerminating(Request& request, const json::object* old) const {
  if (old != nullptr || request.verb() != "create" || !request.resource->custom || request.subresource != nullptr)
    return {};
  if (!terminating_.contains(request.resource->table)) return {};
  return std::unexpected(Forbidden(*request.resource, request.name(),
                                   "create not allowed while custom resource definition is terminating"));
}

}  // namespace gpuop::sim
