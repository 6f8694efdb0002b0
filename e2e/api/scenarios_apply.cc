// Server-side apply: ownership, conflicts, force, removal, lists by key.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

std::string Map(const std::string& name, const std::string& rest) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + "\"}," + rest + "}";
}

void OwnAndRemove(Session& s) {
  const std::string path = s.Core("configmaps/a");
  s.Apply(path, Map("a", R"("data":{"x":"1","y":"2"})"), "one");
  s.Apply(path, Map("a", R"("data":{"x":"1"})"), "one");
  s.Apply(path, Map("a", R"("data":{"z":"3"})"), "two");
  s.Apply(path, Map("a", R"("data":{"z":"4"})"), "one");
  s.Apply(path, Map("a", R"("data":{"z":"4","x":"1"})"), "one", true);
  s.Apply(path, Map("a", R"("data":{"z":"4"})"), "two");
  s.Apply(path, Map("a", R"("data":{})"), "one");
  s.Apply(path, Map("a", R"("data":{"z":"4"})"), "two");
  s.Get(path);
}

void ApplyNothingNew(Session& s) {
  const std::string path = s.Core("configmaps/same");
  s.Apply(path, Map("same", R"("data":{"x":"1"})"), "one");
  s.Apply(path, Map("same", R"("data":{"x":"1"})"), "one");
  s.Apply(path, Map("same", R"("data":{"x":"1"})"), "other");
}

void UpdatesOwnToo(Session& s) {
  const std::string path = s.Core("configmaps/u");
  s.Post(s.Core("configmaps"), Map("u", R"("data":{"x":"1"})"), {{"fieldManager", "creator"}});
  s.Apply(path, Map("u", R"("data":{"x":"2"})"), "applier");
  s.Apply(path, Map("u", R"("data":{"x":"2"})"), "applier", true);
  s.MergePatch(path, R"({"data":{"x":"3","y":"1"}})", {{"fieldManager", "patcher"}});
  s.Apply(path, Map("u", R"("data":{"x":"2"})"), "applier");
  s.MergePatch(path, R"({"metadata":{"managedFields":[]}})");
  s.MergePatch(path, R"({"metadata":{"managedFields":[{}]}})");
  s.Get(path);
}

void ApplyErrors(Session& s) {
  s.Apply(s.Core("configmaps/n"), Map("other", R"("data":{})"), "one");
  s.Send({.method = "PATCH",
          .path = s.Core("configmaps/n"),
          .query = {},
          .content_type = "application/apply-patch+yaml",
          .body = Map("n", R"("data":{})")});
  s.Apply(s.Core("configmaps/n"), R"({"kind":"ConfigMap","metadata":{"name":"n"}})", "one");
  s.Apply(s.Core("configmaps/n"), R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"n"}})", "one");
  s.Apply(s.Core("configmaps/n"),
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","managedFields":[{"manager":"x"}]}})", "one");
  s.Apply(s.Core("configmaps/n"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: n\ndata:\n  from: yaml\n",
          "one");
  s.Apply(s.Core("configmaps/n"), Map("n", R"("data":{"k":5})"), "one");
  s.Apply(s.Core("configmaps/n"), Map("n", R"("bogus":{"k":5})"), "one");
  s.Apply(s.Core("configmaps/n"),
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","resourceVersion":"1"}})", "one");
}

std::string Deployment(const std::string& containers, const std::string& replicas = "") {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{)" + replicas +
         R"("selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[)" +
         containers + "]}}}}";
}

void ListsByKey(Session& s) {
  const std::string path = s.Apis("apps/v1", "deployments/d");
  s.Apply(
      path,
      Deployment(
          R"({"name":"a","image":"i:1","ports":[{"containerPort":80,"name":"http"}],"env":[{"name":"A","value":"1"}]})",
          R"("replicas":1,)"),
      "one");
  s.Apply(path, Deployment(R"({"name":"a","env":[{"name":"B","value":"2"}]})"), "two");
  s.Apply(path, Deployment(R"({"name":"b","image":"i:1"})"), "three");
  s.Apply(
      path,
      Deployment(
          R"({"name":"a","image":"i:1","ports":[{"containerPort":80,"name":"http"},{"containerPort":80,"protocol":"UDP"}]})"),
      "one");
  s.MergePatch(s.Apis("apps/v1", "deployments/d/scale"), R"({"spec":{"replicas":5}})", {{"fieldManager", "scaler"}});
  s.Apply(path, Deployment(R"({"name":"a","image":"i:2"})", R"("replicas":1,)"), "one");
  s.Apply(path, Deployment(R"({"name":"a","image":"i:2"})", R"("replicas":1,)"), "one", true);
  s.Apply(path, Deployment(R"({"name":"a","image":"i:2"},{"name":"a","image":"i:3"})"), "one");
  s.Apply(path, Deployment(R"({"name":"a"})"), "two");
  s.MergePatch(s.Apis("apps/v1", "deployments/d/status"),
               R"({"status":{"replicas":2,"conditions":[{"type":"Available","status":"True"}]}})",
               {{"fieldManager", "controller"}});
  s.Get(path);
}

void StatusApply(Session& s) {
  s.Quietly("POST", "/api/v1/nodes", R"({"metadata":{"name":"ssa-node"}})");
  s.Apply(
      "/api/v1/nodes/ssa-node/status",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"ssa-node"},"status":{"conditions":[{"type":"GpuReady","status":"True","reason":"R","message":"m","lastHeartbeatTime":null,"lastTransitionTime":null}]}})",
      "gpu");
  s.Apply(
      "/api/v1/nodes/ssa-node/status",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"ssa-node"},"spec":{"unschedulable":true},"status":{"capacity":{"example.com/x":"2"}}})",
      "plugin");
  s.Apply(
      "/api/v1/nodes/ssa-node",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"ssa-node","labels":{"l":"1"}},"spec":{"taints":[{"key":"t","effect":"NoSchedule"}]}})",
      "labels");
  s.Apply("/api/v1/nodes/ssa-node",
          R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"ssa-node","labels":{"l":"2"}}})", "others");
  s.Apply("/api/v1/nodes/ssa-node", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"ssa-node"}})", "labels");
  s.Delete("/api/v1/nodes/ssa-node");
}

void SetsAndOwners(Session& s) {
  const std::string path = s.Core("configmaps/f");
  s.Apply(path, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"f","finalizers":["a.example/1"]}})",
          "one");
  s.Apply(path, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"f","finalizers":["b.example/2"]}})",
          "two");
  s.Apply(
      path,
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"f","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"11111111-2222-3333-4444-555555555555"}]}})",
      "one");
  s.Apply(path, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"f"}})", "two");
  s.Get(path);
}

void DryRunApply(Session& s) {
  s.Send({.method = "PATCH",
          .path = s.Core("configmaps/dry"),
          .query = {{"fieldManager", "one"}, {"dryRun", "All"}},
          .content_type = "application/apply-patch+yaml",
          .body = Map("dry", R"("data":{"a":"1"})")});
  s.Get(s.Core("configmaps/dry"));
}

}  // namespace

std::vector<Scenario> ApplyScenarios() {
  return {{"apply-own-and-remove", OwnAndRemove},  {"apply-nothing-new", ApplyNothingNew},
          {"apply-beside-updates", UpdatesOwnToo}, {"apply-errors", ApplyErrors},
          {"apply-lists-by-key", ListsByKey},      {"apply-status", StatusApply},
          {"apply-sets", SetsAndOwners},           {"apply-dry-run", DryRunApply}};
}

}  // namespace gpuop::e2e
