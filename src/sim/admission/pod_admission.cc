#include "sim/admission/pod_admission.h"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "base/check.h"
#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kTokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::int64_t kTokenSeconds = 3607;

std::unexpected<Status> Refuse(const Request& request, const json::object& pod, std::string_view why) {
  return std::unexpected(Forbidden(*request.resource, PeekString(pod, {"metadata", "name"}), why));
}

std::optional<json::object> Find(const Store& store, std::string_view table, std::string_view ns,
                                 std::string_view name) {
  const StoredPtr stored = store.Get(table, ns, name);
  if (stored == nullptr) return std::nullopt;
  return json::parse(stored->json).as_object();
}

json::array& EnsureArray(json::object& in, std::string_view field) {
  json::value& v = in[field];
  if (!v.is_array()) v.emplace_array();
  return v.get_array();
}

json::object TokenVolume(const std::string& name) {
  json::array sources{
      {{"serviceAccountToken", {{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}},
      {{"configMap",
        {{"items", json::array{json::object{{"key", "ca.crt"}, {"path", "ca.crt"}}}}, {"name", "kube-root-ca.crt"}}}},
      {{"downwardAPI",
        {{"items", json::array{json::object{{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}},
                                            {"path", "namespace"}}}}}}}};
  return {{"name", name}, {"projected", {{"defaultMode", 420}, {"sources", std::move(sources)}}}};
}

/// Mounts the token into every container that has nothing there yet; false when none needed it.
bool MountToken(json::object& spec, const std::string& volume) {
  bool mounted = false;
  for (const char* list : {"initContainers", "containers"}) {
    if (spec.if_contains(list) == nullptr) continue;
    for (json::value& container : EnsureArray(spec, list)) {
      if (!container.is_object()) continue;
      json::array& mounts = EnsureArray(container.get_object(), "volumeMounts");
      const bool taken =
          std::ranges::any_of(mounts, [](const json::value& m) { return PeekString(m, {"mountPath"}) == kTokenPath; });
      if (taken) continue;
      mounts.push_back({{"mountPath", kTokenPath}, {"name", volume}, {"readOnly", true}});
      mounted = true;
    }
  }
  return mounted;
}

json::object Toleration(std::string_view key) {
  return {{"effect", "NoExecute"}, {"key", key}, {"operator", "Exists"}, {"tolerationSeconds", 300}};
}

bool Tolerates(const json::array& tolerations, std::string_view key) {
  return std::ranges::any_of(tolerations, [&](const json::value& t) {
    const auto its_key = PeekString(t, {"key"}), effect = PeekString(t, {"effect"});
    return (its_key == key || its_key.empty()) && (effect == "NoExecute" || effect.empty());
  });
}

/// The class that holds when a Pod names none; nullopt for priority 0.
std::optional<json::object> GlobalDefault(const Store& store) {
  std::optional<json::object> best;
  for (const StoredPtr& stored : store.List("scheduling.k8s.io/priorityclasses", {}).items) {
    json::object found = json::parse(stored->json).as_object();
    if (!PeekBool(found, {"globalDefault"})) continue;
    if (!best || PeekInt(found, {"value"}) < PeekInt(*best, {"value"})) best = std::move(found);
  }
  return best;
}

Answer<> MergeScheduling(const Request& request, const json::object& runtime_class, json::object& pod) {
  json::object& spec = Ensure(pod, {"spec"});
  for (const auto& [key, value] : PeekObject(runtime_class, {"scheduling", "nodeSelector"})) {
    json::value& own = Ensure(spec, {"nodeSelector"})[key];
    if (!own.is_null() && own != value) {
      const std::string field = ".nodeSelector[" + std::string(key) + "] = ";
      return Refuse(request, pod,
                    "conflict: runtimeClass.scheduling" + field + std::string(AsString(value)) + "; pod.spec" + field +
                        std::string(AsString(own)));
    }
    own = value;
  }
  const json::array& more = PeekArray(runtime_class, {"scheduling", "tolerations"});
  if (more.empty()) return {};
  json::array& tolerations = EnsureArray(spec, "tolerations");
  for (const json::value& t : more)
    if (std::ranges::find(tolerations, t) == tolerations.end()) tolerations.push_back(t);
  return {};
}

/// The controller that gives each namespace its account is never late here: an account that is missing is made now.
void EnsureDefaultAccount(ApiServer& server, const Request& request) {
  if (server.store().Get("/serviceaccounts", request.ns(), "default") != nullptr) return;
  // When the namespace is missing or going away, this is refused, and so is the Pod.
  (void)server.Handle({.method = "POST",
                       .path = "/api/v1/namespaces/" + request.ns() + "/serviceaccounts",
                       .query = {},
                       .content_type = "application/json",
                       .body = R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})"},
                      User{"system:serviceaccount:kube-system:service-account-controller", "", {"system:masters"}, {}});
}

}  // namespace

Answer<> AdmitServiceAccount(const Store& store, Rng& rng, const Request& request, json::object& pod) {
  json::object& spec = Ensure(pod, {"spec"});
  if (PeekString(spec, {"serviceAccountName"}).empty()) spec["serviceAccountName"] = "default";
  const std::string name(PeekString(spec, {"serviceAccountName"}));
  spec["serviceAccount"] = name;
  const auto account = Find(store, "/serviceaccounts", request.ns(), name);
  if (!account)
    return Refuse(request, pod,
                  "error looking up service account " + request.ns() + "/" + name + ": serviceaccount " + Quote(name) +
                      " not found");
  const json::array& secrets = PeekArray(*account, {"imagePullSecrets"});
  if (!secrets.empty() && PeekArray(spec, {"imagePullSecrets"}).empty()) spec["imagePullSecrets"] = secrets;
  const bool by_account = PeekBool(*account, {"automountServiceAccountToken"}, true);
  if (!PeekBool(spec, {"automountServiceAccountToken"}, by_account)) return {};
  const std::string volume = "kube-api-access-" + NameSuffix(rng);
  if (MountToken(spec, volume)) EnsureArray(spec, "volumes").push_back(TokenVolume(volume));
  return {};
}

Answer<> AdmitPriority(const Store& store, const Request& request, json::object& pod) {
  json::object& spec = Ensure(pod, {"spec"});
  const std::string name(PeekString(spec, {"priorityClassName"}));
  std::optional<json::object> found;
  if (name.empty()) {
    found = GlobalDefault(store);
    if (found) spec["priorityClassName"] = PeekString(*found, {"metadata", "name"});
  } else {
    found = Find(store, "scheduling.k8s.io/priorityclasses", "", name);
    if (!found) return Refuse(request, pod, "no PriorityClass with name " + name + " was found");
  }
  const std::int64_t value = found ? PeekInt(*found, {"value"}) : 0;
  if (const json::value* given = Peek(spec, {"priority"}); given != nullptr && AsInt(given) != value)
    return Refuse(request, pod,
                  "the integer value of priority (" + std::to_string(AsInt(given)) +
                      ") must not be provided in pod spec; priority admission controller computed " +
                      std::to_string(value) + " from the given PriorityClass name");
  spec["priority"] = value;
  const auto policy = found ? PeekString(*found, {"preemptionPolicy"}) : std::string_view();
  spec["preemptionPolicy"] = policy.empty() ? "PreemptLowerPriority" : policy;
  return {};
}

Answer<> AdmitRuntimeClass(const Store& store, const Request& request, json::object& pod) {
  const std::string name(PeekString(pod, {"spec", "runtimeClassName"}));
  const json::value* overhead = Peek(pod, {"spec", "overhead"});
  if (name.empty()) {
    if (overhead == nullptr) return {};
    return Refuse(request, pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  }
  const auto found = Find(store, "node.k8s.io/runtimeclasses", "", name);
  if (!found) return Refuse(request, pod, "pod rejected: RuntimeClass " + Quote(name) + " not found");
  const json::value* fixed = Peek(*found, {"overhead", "podFixed"});
  if (overhead != nullptr && (fixed == nullptr || *overhead != *fixed))
    return Refuse(request, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  if (fixed != nullptr) Ensure(pod, {"spec"})["overhead"] = *fixed;
  return MergeScheduling(request, *found, pod);
}

void AdmitTolerations(json::object& pod) {
  json::array& tolerations = EnsureArray(Ensure(pod, {"spec"}), "tolerations");
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    if (!Tolerates(tolerations, key)) tolerations.push_back(Toleration(key));
}

void AdmitNode(json::object& node) {
  constexpr std::string_view kKey = "node.kubernetes.io/not-ready", kEffect = "NoSchedule";
  json::array& taints = EnsureArray(Ensure(node, {"spec"}), "taints");
  const bool there = std::ranges::any_of(taints, [&](const json::value& t) {
    return PeekString(t, {"key"}) == kKey && PeekString(t, {"effect"}) == kEffect;
  });
  if (!there) taints.push_back({{"effect", kEffect}, {"key", kKey}});
}

void AddPodAdmission(ApiServer& server) {
  server.AddMutation([&server](Request& request, json::object* object, const json::object* old) -> Answer<> {
    if (object == nullptr || request.subresource != nullptr || !request.resource->group.empty()) return {};
    if (request.resource->kind == "Node" && old == nullptr) AdmitNode(*object);
    if (request.resource->kind != "Pod") return {};
    if (old != nullptr) {
      AdmitTolerations(*object);
      return {};
    }
    const auto account = PeekString(*object, {"spec", "serviceAccountName"});
    if (account.empty() || account == "default") EnsureDefaultAccount(server, request);
    const Store& store = server.store();
    TRY(AdmitServiceAccount(store, server.rng(), request, *object));
    TRY(AdmitPriority(store, request, *object));
    AdmitTolerations(*object);
    return AdmitRuntimeClass(store, request, *object);
  });
}

void EnsurePriorityClasses(Store& store, WallTime now, Rng& rng) {
  constexpr std::string_view kTable = "scheduling.k8s.io/priorityclasses";
  struct Class {
    const char* name;
    std::int64_t value;
    const char* description;
  };
  for (const auto& [name, value, description] :
       {Class{"system-cluster-critical", 2'000'000'000,
              "Used for system critical pods that must run in the cluster, but can be moved to another node if "
              "necessary."},
        Class{"system-node-critical", 2'000'001'000,
              "Used for system critical pods that must not be moved from their current node."}}) {
    if (store.Get(kTable, "", name) != nullptr) continue;
    json::object object{
        {"apiVersion", "scheduling.k8s.io/v1"},
        {"kind", "PriorityClass"},
        {"metadata",
         {{"name", name}, {"uid", NewUuid(rng)}, {"generation", 1}, {"creationTimestamp", FormatTime(now)}}},
        {"value", value},
        {"description", description},
        {"preemptionPolicy", "PreemptLowerPriority"}};
    GPUOP_CHECK(store.Put(kTable, object));
  }
}

}  // namespace gpuop::sim
