// JSON patch, merge patch and strategic merge patch as clients send them.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

std::string TwoContainers(const std::string& name) {
  return R"({"metadata":{"name":")" + name +
         R"("},"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},
    "spec":{"containers":[{"name":"a","image":"i:1","env":[{"name":"E","value":"1"},{"name":"F","value":"2"}],"ports":[{"containerPort":80}]},{"name":"b","image":"i:1"}],
    "tolerations":[{"key":"k","operator":"Exists"}],"volumes":[{"name":"v","emptyDir":{}}]}}}})";
}

void JsonPatches(Session& s) {
  const std::string path = s.Core("configmaps/j");
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"j","labels":{"a/b":"1"}},"data":{"k":"v"}})");
  s.JsonPatch(path, R"([{"op":"add","path":"/data/new","value":"x"},{"op":"replace","path":"/data/k","value":"w"}])");
  s.JsonPatch(path, R"([{"op":"test","path":"/data/k","value":"nope"},{"op":"remove","path":"/data/k"}])");
  s.JsonPatch(path, R"([{"op":"remove","path":"/data/absent"}])");
  s.JsonPatch(
      path,
      R"([{"op":"move","from":"/data/new","path":"/data/moved"},{"op":"copy","from":"/data/k","path":"/data/copied"}])");
  s.JsonPatch(path, R"([{"op":"remove","path":"/metadata/labels/a~1b"}])");
  s.JsonPatch(path, R"([{"op":"replace","path":"/metadata/name","value":"other"}])");
  s.JsonPatch(path, R"([{"op":"fly","path":"/data"}])");
  s.JsonPatch(path, R"({"op":"add"})");
  s.JsonPatch(path, R"([{"op":"add","path":"/data/n","value":5}])");
  s.JsonPatch(s.Core("configmaps/absent"), R"([])");
}

void MergePatches(Session& s) {
  const std::string path = s.Apis("apps/v1", "deployments/m");
  s.Quietly("POST", s.Apis("apps/v1", "deployments"), TwoContainers("m"));
  s.MergePatch(path, R"({"metadata":{"annotations":{"a":"1","b":"2"}}})");
  s.MergePatch(path, R"({"metadata":{"annotations":{"a":null}}})");
  s.MergePatch(path, R"({"spec":{"template":{"spec":{"containers":[{"name":"only","image":"i:2"}]}}}})");
  s.MergePatch(path, R"({"metadata":{"resourceVersion":"1"}})");
  s.MergePatch(path, R"([1])");
  s.MergePatch(path, R"({"spec":null})");
  s.MergePatch(path, R"({"metadata":{"uid":"11111111-2222-3333-4444-555555555555"}})");
}

void StrategicPatches(Session& s) {
  const std::string path = s.Apis("apps/v1", "deployments/s");
  s.Quietly("POST", s.Apis("apps/v1", "deployments"), TwoContainers("s"));
  s.StrategicPatch(path, R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i:2"}]}}}})");
  s.StrategicPatch(path, R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:3"}]}}}})");
  s.StrategicPatch(path, R"({"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}}})");
  s.StrategicPatch(
      path,
      R"({"spec":{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"E","value":"9"},{"name":"F","$patch":"delete"}]}]}}}})");
  s.StrategicPatch(path, R"({"spec":{"template":{"spec":{"tolerations":[{"key":"other","operator":"Exists"}]}}}})");
  s.StrategicPatch(
      path,
      R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b","image":"i:4"}]}}}})");
  s.StrategicPatch(
      path, R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":null,"hostPath":{"path":"/x"}}]}}}})");
  s.StrategicPatch(path, R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})");
  s.StrategicPatch(
      path, R"({"spec":{"template":{"spec":{"containers":[{"$patch":"replace"},{"name":"solo","image":"i:5"}]}}}})");
  s.StrategicPatch(path, R"({"spec":{"template":{"metadata":{"labels":{"extra":"1"}}}}})");
  s.StrategicPatch(path, R"({"metadata":{"finalizers":["test.example/one"]}})");
  s.StrategicPatch(path, R"({"metadata":{"finalizers":["test.example/two"]}})");
  s.StrategicPatch(path, R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["test.example/one"]}})");
  s.StrategicPatch(path, R"({"metadata":{"finalizers":null}})");
  s.StrategicPatch(path, R"({"spec":{"template":{"spec":{"containers":[{"image":"nameless"}]}}}})");
  s.StrategicPatch(path, R"({"spec":{"$patch":"frobnicate"}})");
}

void StrategicNodePatches(Session& s) {
  s.Quietly("POST", "/api/v1/nodes", R"({"metadata":{"name":"smp-node"}})");
  const std::string path = "/api/v1/nodes/smp-node";
  s.StrategicPatch(path, R"({"spec":{"taints":[{"key":"a","value":"1","effect":"NoSchedule"}]}})");
  s.StrategicPatch(path, R"({"spec":{"taints":[{"key":"b","value":"1","effect":"NoExecute"}]}})");
  s.StrategicPatch(path, R"({"spec":{"unschedulable":true}})");
  s.StrategicPatch(path, R"({"spec":{"unschedulable":null}})");
  s.StrategicPatch(
      path + "/status",
      R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"Hostname","address":"h"}]}})");
  s.StrategicPatch(path + "/status", R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.2"}]}})");
  s.StrategicPatch(path + "/status", R"({"status":{"images":[{"names":["a"],"sizeBytes":1}]}})");
  s.Delete(path);
}

void ServicePorts(Session& s) {
  s.Quietly(
      "POST", s.Core("services"),
      R"({"metadata":{"name":"svc"},"spec":{"clusterIP":"None","selector":{"a":"b"},"ports":[{"name":"http","port":80}]}})");
  s.StrategicPatch(s.Core("services/svc"),
                   R"({"spec":{"ports":[{"name":"metrics","port":9400,"targetPort":"metrics"}]}})");
  s.StrategicPatch(s.Core("services/svc"), R"({"spec":{"ports":[{"port":80,"$patch":"delete"}]}})");
  s.MergePatch(s.Core("services/svc"), R"({"spec":{"ports":[{"port":1},{"port":2}]}})");
}

}  // namespace

std::vector<Scenario> PatchScenarios() {
  return {{"json-patch", JsonPatches},
          {"merge-patch", MergePatches},
          {"strategic-patch", StrategicPatches},
          {"strategic-node", StrategicNodePatches},
          {"service-ports", ServicePorts}};
}

}  // namespace gpuop::e2e
