// Groups that people meet beside the core's: autoscaling in its two versions, and the list of what is served.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

std::string Autoscaler(const std::string& name, const std::string& spec) {
  return R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
}

constexpr const char* kTarget = R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"})";

void Autoscalers(Session& s) {
  const std::string v1 = "autoscaling/v1", v2 = "autoscaling/v2", all = "horizontalpodautoscalers";
  s.Post(s.Apis(v2, all), Autoscaler("cpu", std::string("{") + kTarget + R"(,"maxReplicas":3})"));
  s.Get(s.Apis(v1, all + "/cpu"));
  s.Post(s.Apis(v1, all),
         Autoscaler("old", std::string("{") + kTarget + R"(,"maxReplicas":3,"targetCPUUtilizationPercentage":70})"));
  s.Get(s.Apis(v2, all + "/old"));
  s.Post(
      s.Apis(v2, all),
      Autoscaler(
          "many",
          std::string("{") + kTarget +
              R"(,"maxReplicas":5,"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"100Mi"}}},{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},{"type":"Pods","pods":{"metric":{"name":"qps"},"target":{"type":"AverageValue","averageValue":"1k"}}},{"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"s"},"metric":{"name":"hits","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"Value","value":"10"}}},{"type":"External","external":{"metric":{"name":"queue","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"30"}}},{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":60}}}],"behavior":{"scaleDown":{"stabilizationWindowSeconds":60}}})"));
  s.Get(s.Apis(v1, all + "/many"));
  s.MergePatch(s.Apis(v1, all + "/many"), R"({"spec":{"maxReplicas":6}})");
  s.Get(s.Apis(v2, all + "/many"));
  s.MergePatch(
      s.Apis(v2, all + "/many/status"),
      R"({"status":{"currentReplicas":2,"desiredReplicas":3,"conditions":[{"type":"AbleToScale","status":"True"}]}})");
  s.Get(s.Apis(v1, all + "/many"));
  const std::string table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  s.Send(
      {.path = s.Apis(v2, all), .query = {{"includeObject", "None"}}, .accept = table, .content_type = "", .body = ""});
  s.Delete(s.Apis(v1, all + "/cpu"));
  s.Get(s.Apis(v2, all + "/cpu"));
}

void WrongAutoscalers(Session& s) {
  const std::string all = s.Apis("autoscaling/v2", "horizontalpodautoscalers");
  s.Post(
      all,
      R"({"metadata":{"name":"bad"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"","name":""},"minReplicas":0,"maxReplicas":0,"metrics":[{"type":"Resource","resource":{"name":"","target":{"type":"Foo"}}},{"type":"Nope"},{"type":"Pods"}]}})");
  s.Post(
      all,
      R"({"metadata":{"name":"bad"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"x"},"minReplicas":4,"maxReplicas":2,"behavior":{"scaleUp":{"stabilizationWindowSeconds":4000}}}})");
  s.Post(
      all,
      R"({"metadata":{"name":"bad"},"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"Deployment","name":"x"},"maxReplicas":2,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":0}}},{"type":"External","external":{"metric":{"name":""},"target":{"type":""}}}],"behavior":{"scaleDown":{"policies":[{"type":"Some","value":0,"periodSeconds":9000}]}}}})");
  s.Post(
      all,
      R"({"metadata":{"name":"bad"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"},"maxReplicas":2,"behavior":{"scaleUp":{"policies":[]},"scaleDown":{"policies":[]}}}})");
}

void ServedGroups(Session& s) {
  for (const char* name : {"v1.", "v1.apps", "v2.autoscaling", "v1.apiregistration.k8s.io"})
    s.Get(std::string("/apis/apiregistration.k8s.io/v1/apiservices/") + name);
  const std::string table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  s.Send({.path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.batch",
          .query = {{"includeObject", "None"}},
          .accept = table,
          .content_type = "",
          .body = ""});
  s.Quietly(
      "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      R"({"metadata":{"name":"lamps.served.test"},"spec":{"group":"served.test","scope":"Cluster","names":{"plural":"lamps","kind":"Lamp"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  s.WaitFor("/apis/apiregistration.k8s.io/v1/apiservices/v1.served.test");
  s.Get("/apis/apiregistration.k8s.io/v1/apiservices/v1.served.test");
  s.Quietly("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lamps.served.test");
}

}  // namespace

std::vector<Scenario> GroupScenarios() {
  return {{"autoscalers", Autoscalers}, {"autoscalers-refused", WrongAutoscalers}, {"served-groups", ServedGroups}};
}

}  // namespace gpuop::e2e
