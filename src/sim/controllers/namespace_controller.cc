#include "sim/controllers/namespace_controller.h"

#include <algorithm>

#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr const char* kRootCertificate = "kube-root-ca.crt";

struct Head {
  kube::ObjectMeta meta;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
  }
};

json::object Condition(const kube::Namespace& ns, std::string_view type, bool trouble, std::string_view reason,
                       const std::string& message, WallTime now) {
  const char* status = trouble ? "True" : "False";
  const kube::Condition* have = kube::FindCondition(ns.status.conditions, type);
  const bool stays = have != nullptr && have->status == status;
  return {{"type", type},
          {"status", status},
          {"lastTransitionTime", FormatTime(stays ? have->last_transition : now)},
          {"reason", reason},
          {"message", message}};
}

std::string Listed(const std::map<std::string, int>& counts, std::string_view verb) {
  std::string out;
  for (const auto& [what, count] : counts)
    out += (out.empty() ? "" : ", ") + what + " " + std::string(verb) + " " + std::to_string(count) +
           " resource instances";
  return out;
}

}  // namespace

NamespaceController::NamespaceController(ControllerParts parts, SharedCaches& caches, ResourceList resources,
                                         std::string root_certificate)
    : parts_(std::move(parts)),
      caches_(caches),
      resources_(std::move(resources)),
      root_certificate_(std::move(root_certificate)),
      controller_(parts_.executor, parts_.log, {.name = "namespace", .seed = parts_.seed + 5},
                  [this](const std::string& key) { return Reconcile(key); }) {
  controller_.Needs(caches_.namespaces);
  controller_.Needs(caches_.service_accounts);
  controller_.Needs(caches_.root_certificates);
  caches_.namespaces.OnChange(
      [this](const kube::Change<kube::Namespace>& change) { controller_.Add(change.any().meta.name); });
  caches_.service_accounts.OnChange([this](const kube::Change<kube::ServiceAccount>& change) {
    if (!change.now) controller_.Add(change.old->meta.ns);
  });
  caches_.root_certificates.OnChange(
      [this](const kube::Change<kube::ConfigMap>& change) { controller_.Add(change.any().meta.ns); });
}

Result<kube::Next> NamespaceController::Reconcile(const std::string& name) {
  const auto ns = caches_.namespaces.Get(name);
  if (ns == nullptr) return kube::Next{};
  if (ns->meta.deleting()) return Empty(*ns);
  TRY(Furnish(name));
  return kube::Next{};
}

Result<> NamespaceController::Furnish(const std::string& ns) {
  const auto made = [](Result<json::object> r) -> Result<> {
    if (r || r.error().code == Code::kAlreadyExists || r.error().code == Code::kForbidden) return {};
    return std::unexpected(std::move(r).error());
  };
  if (caches_.service_accounts.Get(ns, "default") == nullptr) {
    const json::object account{
        {"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "default"}, {"namespace", ns}}}};
    TRY(made(parts_.client.Create(kube::ServiceAccount::kResource, account)));
  }
  const auto have = caches_.root_certificates.Get(ns, kRootCertificate);
  const json::object data{{"ca.crt", root_certificate_}};
  if (have == nullptr) {
    const json::object map{
        {"apiVersion", "v1"},
        {"kind", "ConfigMap"},
        {"metadata",
         {{"name", kRootCertificate},
          {"namespace", ns},
          {"annotations",
           {{"kubernetes.io/description",
             "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as "
             "the "
             "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
             "Kubernetes clusters."}}}}},
        {"data", data}};
    return made(parts_.client.Create(kube::ConfigMap::kResource, map));
  }
  const std::string* certificate = have->Find("ca.crt");
  if (have->data.size() == 1 && certificate != nullptr && *certificate == root_certificate_) return {};
  ASSIGN(json::object live, parts_.client.Get(kube::Ref<kube::ConfigMap>(ns, kRootCertificate)));
  live["data"] = data;
  TRY(parts_.client.Update(kube::Ref<kube::ConfigMap>(ns, kRootCertificate), live));
  return {};
}

Result<kube::Next> NamespaceController::Empty(const kube::Namespace& ns) {
  if (ns.status.phase != "Terminating") {
    kube::ObjectRef ref = kube::Ref<kube::Namespace>(ns.meta.name);
    ref.subresource = "status";
    TRY(MergePatch(parts_.client, ref, {{"status", {{"phase", "Terminating"}}}}));
  }
  if (ns.spec.finalizers.empty()) return kube::Next{};
  ASSIGN(const Remains remains, DeleteContent(ns.meta.name));
  TRY(WriteConditions(ns, remains));
  if (!remains.count.empty())  // as long as the longest grace period may last, as the real one estimates
    return kube::Next{.again = std::chrono::seconds(remains.longest_grace / 2 + 1)};
  kube::ObjectRef ref = kube::Ref<kube::Namespace>(ns.meta.name);
  auto live = parts_.client.Get(ref);
  if (!live && live.error().code == Code::kNotFound) return kube::Next{};
  if (!live) return std::unexpected(std::move(live).error());
  json::array rest;
  for (const Interned& f : ns.spec.finalizers)
    if (f != "kubernetes") rest.emplace_back(f.view());
  (*live)["spec"] = json::object{{"finalizers", std::move(rest)}};
  ref.subresource = "finalize";
  auto done = parts_.client.Update(ref, *live);
  if (!done && done.error().code != Code::kNotFound) return std::unexpected(std::move(done).error().During("finalize"));
  return kube::Next{};
}

Result<NamespaceController::Remains> NamespaceController::DeleteContent(const std::string& ns) {
  Remains remains;
  for (const kube::Resource& resource : resources_()) {
    if (!resource.namespaced) continue;
    const std::string label = resource.plural + "." + resource.group;
    const auto each = [&](const json::object& object) -> Result<> {
      ASSIGN(const Head head, kube::Decode<Head>(object));
      if (!head.meta.deleting()) {
        auto r = parts_.client.Delete({resource, ns, head.meta.name, {}},
                                      {.propagation = kube::Propagation::kBackground, .uid = head.meta.uid});
        if (!r && r.error().code != Code::kNotFound && r.error().code != Code::kConflict)
          return std::unexpected(std::move(r).error());
      }
      return {};
    };
    if (auto r = parts_.client.List(resource, {.ns = ns}, each); !r && r.error().code != Code::kNotFound)
      return std::unexpected(std::move(r).error().During("delete " + label));
    const auto left = [&](const json::object& object) -> Result<> {
      ASSIGN(const Head head, kube::Decode<Head>(object));
      ++remains.count[label];
      for (const Interned& f : head.meta.finalizers) ++remains.finalizers[std::string(f.view())];
      remains.longest_grace = std::max(remains.longest_grace, head.meta.deletion_grace_seconds.value_or(0));
      return {};
    };
    if (auto r = parts_.client.List(resource, {.ns = ns}, left); !r && r.error().code != Code::kNotFound)
      return std::unexpected(std::move(r).error().During("count " + label));
  }
  return remains;
}

Result<> NamespaceController::WriteConditions(const kube::Namespace& ns, const Remains& remains) {
  const WallTime now = parts_.executor.Wall();
  const bool content = !remains.count.empty(), held = !remains.finalizers.empty();
  json::array conditions{
      Condition(ns, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                "All resources successfully discovered", now),
      Condition(ns, "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                "All legacy kube types successfully parsed", now),
      Condition(ns, "NamespaceDeletionContentFailure", false, "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization", now),
      Condition(ns, "NamespaceContentRemaining", content, content ? "SomeResourcesRemain" : "ContentRemoved",
                content ? "Some resources are remaining: " + Listed(remains.count, "has")
                        : "All content successfully removed",
                now),
      Condition(ns, "NamespaceFinalizersRemaining", held, held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
                held ? "Some content in the namespace has finalizers remaining: " + Listed(remains.finalizers, "in")
                     : "All content-preserving finalizers finished",
                now)};
  const auto same = [&](const json::value& c) {
    const kube::Condition* have = kube::FindCondition(ns.status.conditions, std::string_view(c.at("type").as_string()));
    return have != nullptr && have->message == std::string_view(c.at("message").as_string());
  };
  if (std::ranges::all_of(conditions, same)) return {};
  kube::ObjectRef ref = kube::Ref<kube::Namespace>(ns.meta.name);
  ref.subresource = "status";
  auto r = MergePatch(parts_.client, ref, {{"status", {{"conditions", std::move(conditions)}}}});
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace gpuop::sim
