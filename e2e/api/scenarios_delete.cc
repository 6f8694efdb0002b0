// Deletion: preconditions, finalizers, propagation, grace, collections, eviction.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

void Preconditions(Session& s) {
  json::value made = s.Post(s.Core("configmaps"), R"({"metadata":{"name":"p"}})");
  const std::string uid(made.at("metadata").at("uid").as_string());
  s.Delete(s.Core("configmaps/p"), R"({"preconditions":{"uid":"11111111-2222-3333-4444-555555555555"}})");
  s.Delete(s.Core("configmaps/p"), R"({"preconditions":{"resourceVersion":"1"}})");
  s.Delete(s.Core("configmaps/p"),
           R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":")" + uid + R"("}})");
  s.Delete(s.Core("configmaps/p"));
}

void Finalizers(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"f","finalizers":["test.example/hold"]}})");
  s.Delete(s.Core("configmaps/f"));
  s.Get(s.Core("configmaps/f"));
  s.Delete(s.Core("configmaps/f"));
  s.MergePatch(s.Core("configmaps/f"), R"({"data":{"still":"editable"}})");
  s.MergePatch(s.Core("configmaps/f"), R"({"metadata":{"finalizers":["test.example/hold","test.example/new"]}})");
  s.MergePatch(s.Core("configmaps/f"), R"({"metadata":{"deletionTimestamp":null}})");
  s.MergePatch(s.Core("configmaps/f"), R"({"metadata":{"finalizers":[]}})");
  s.Get(s.Core("configmaps/f"));
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"g","finalizers":["bad finalizer"]}})");
}

void Propagation(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"fg"}})");
  s.Delete(s.Core("configmaps/fg"), R"({"propagationPolicy":"Foreground"})");
  s.Get(s.Core("configmaps/fg"));
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"or"}})");
  s.Delete(s.Core("configmaps/or"), R"({"propagationPolicy":"Orphan"})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"bg"}})");
  s.Delete(s.Core("configmaps/bg"), R"({"propagationPolicy":"Background"})");
  s.Delete(s.Core("configmaps/bg"), R"({"propagationPolicy":"Sideways"})");
  s.Delete(s.Core("configmaps/or"), R"({"propagationPolicy":"Orphan","orphanDependents":true})");
}

void PodGrace(Session& s) {
  AllowPods(s);
  s.Quietly("POST", s.Core("pods"), PodBody("unbound"));
  s.Delete(s.Core("pods/unbound"));
  s.Get(s.Core("pods/unbound"));
  s.Quietly("POST", s.Core("pods"), PodBody("bound"));
  s.Quietly("POST", s.Core("pods/bound/binding"),
            R"({"metadata":{"name":"bound"},"target":{"kind":"Node","name":"some-node"}})");
  s.Delete(s.Core("pods/bound"));
  s.Delete(s.Core("pods/bound"), R"({"gracePeriodSeconds":5})");
  s.Get(s.Core("pods/bound"));
  s.Delete(s.Core("pods/bound"), R"({"gracePeriodSeconds":0})");
  s.Get(s.Core("pods/bound"));
  s.Quietly("POST", s.Core("pods"), PodBody("query"));
  s.Quietly("POST", s.Core("pods/query/binding"),
            R"({"metadata":{"name":"query"},"target":{"kind":"Node","name":"some-node"}})");
  s.Delete(s.Core("pods/query"), "", {{"gracePeriodSeconds", "0"}});
  s.Delete(s.Core("pods/query"), R"({"gracePeriodSeconds":-7})");
}

void Collections(Session& s) {
  for (const char* name : {"a", "b", "c"})
    s.Quietly("POST", s.Core("configmaps"),
              std::string(R"({"metadata":{"name":")") + name + R"(","labels":{"n":")" + name + R"("}}})");
  s.Delete(s.Core("configmaps"), "", {{"labelSelector", "n in (a,b)"}});
  s.Get(s.Core("configmaps"));
  s.Delete(s.Core("configmaps"), "", {{"fieldSelector", "metadata.name=zzz"}});
  s.Delete(s.Core("configmaps"));
  s.Get(s.Core("configmaps"));
}

void ReadyPod(Session& s, const std::string& name) {
  s.Quietly("POST", s.Core("pods"), PodBody(name, R"(,"labels":{"app":"guarded"})"));
  s.Quietly("POST", s.Core("pods/" + name + "/binding"),
            R"({"metadata":{"name":")" + name + R"("},"target":{"kind":"Node","name":"some-node"}})");
  s.Quietly("PATCH", s.Core("pods/" + name + "/status"),
            R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
}

std::string Eviction(const std::string& name) {
  return R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + name + R"("}})";
}

void Evictions(Session& s) {
  AllowPods(s);
  ReadyPod(s, "e1");
  ReadyPod(s, "e2");
  s.Post(s.Core("pods/absent/eviction"), Eviction("absent"));
  s.Post(s.Core("pods/e1/eviction"), Eviction("other"));
  s.Post(s.Core("pods/e1/eviction"), Eviction("e1"));
  s.Get(s.Core("pods/e1"));
  s.Quietly("POST", s.Apis("policy/v1", "poddisruptionbudgets"),
            R"({"metadata":{"name":"pdb"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"guarded"}}}})");
  s.Quietly(
      "PATCH", s.Apis("policy/v1", "poddisruptionbudgets/pdb/status"),
      R"({"status":{"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}})");
  s.Post(s.Core("pods/e2/eviction"), Eviction("e2"));
  s.Quietly(
      "PATCH", s.Apis("policy/v1", "poddisruptionbudgets/pdb/status"),
      R"({"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2}})");
  s.Post(s.Core("pods/e2/eviction"), Eviction("e2"));
  s.Post(s.Core("pods/e2/eviction"),
         R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"e2"},"deleteOptions":{"dryRun":["All"]}})");
}

}  // namespace

std::vector<Scenario> DeleteScenarios() {
  return {{"delete-preconditions", Preconditions},
          {"finalizers", Finalizers},
          {"propagation", Propagation},
          {"pod-grace", PodGrace},
          {"delete-collection", Collections},
          {"eviction", Evictions}};
}

}  // namespace gpuop::e2e
