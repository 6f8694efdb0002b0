// Create, read, update: names, versions, generations, status isolation, dry run, field validation.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

std::string Version(const json::value& object) {
  return std::string(object.at("metadata").at("resourceVersion").as_string());
}

std::string Uid(const json::value& object) { return std::string(object.at("metadata").at("uid").as_string()); }

void CreateAndRead(Session& s) {
  s.Post(s.Core("configmaps"),
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"1"}},"data":{"k":"v"}})");
  s.Get(s.Core("configmaps/a"));
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"a"}})");
  s.Get(s.Core("configmaps/missing"));
  s.Get(s.Core("nosuchthings"));
  s.Get("/apis/no.such.group/v1/things");
  s.Post("/api/v1/namespaces/not-there/configmaps", R"({"metadata":{"name":"a"}})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"other","namespace":"elsewhere"}})");
  s.Post(s.Core("configmaps"), R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"wrong-kind"}})");
  s.Post(s.Core("configmaps"), R"({"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"wrong-version"}})");
}

void GenerateName(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"generateName":"gen-"},"data":{"k":"v"}})");
  s.Post(s.Core("configmaps"), R"({"metadata":{},"data":{"k":"v"}})");
}

void ServerOwnsItsMetadata(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"own","uid":"11111111-2222-3333-4444-555555555555","generation":7,
    "creationTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x"}})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"own2","resourceVersion":"5"}})");
}

void Update(Session& s) {
  json::value made = s.Post(s.Core("configmaps"), R"({"metadata":{"name":"u"},"data":{"k":"1"}})");
  const std::string old = Version(made);
  s.Put(s.Core("configmaps/u"), R"({"metadata":{"name":"u","resourceVersion":")" + old + R"("},"data":{"k":"2"}})");
  s.Put(s.Core("configmaps/u"), R"({"metadata":{"name":"u","resourceVersion":")" + old + R"("},"data":{"k":"3"}})");
  s.Put(s.Core("configmaps/u"), R"({"metadata":{"name":"u"},"data":{"k":"4"}})");
  s.Put(s.Core("configmaps/u"), R"({"metadata":{"name":"u"},"data":{"k":"4"}})");
  s.Put(s.Core("configmaps/u"), R"({"metadata":{"name":"v"},"data":{}})");
  s.Put(s.Core("configmaps/u"), R"({"metadata":{"name":"u","uid":"11111111-2222-3333-4444-555555555555"},"data":{}})");
  s.Put(s.Core("configmaps/absent"), R"({"metadata":{"name":"absent"},"data":{}})");
  s.Put(s.Core("configmaps/absent"), R"({"metadata":{"name":"absent","resourceVersion":"1"},"data":{}})");
  s.Get(s.Core("configmaps/u"));
}

void GenerationCountsSpecChanges(Session& s) {
  s.Post(s.Apis("apps/v1", "deployments"), DeploymentBody("gen", 1));
  s.MergePatch(s.Apis("apps/v1", "deployments/gen"), R"({"metadata":{"labels":{"only":"meta"}}})");
  s.MergePatch(s.Apis("apps/v1", "deployments/gen"), R"({"spec":{"replicas":2}})");
  s.MergePatch(s.Apis("apps/v1", "deployments/gen"), R"({"spec":{"replicas":2}})");
  s.MergePatch(s.Apis("apps/v1", "deployments/gen"), R"({"status":{"replicas":9}})");
  s.MergePatch(s.Apis("apps/v1", "deployments/gen/status"),
               R"({"spec":{"replicas":5},"status":{"replicas":3,"observedGeneration":2}})");
  s.Get(s.Apis("apps/v1", "deployments/gen/status"));
}

void ScaleSubresource(Session& s) {
  s.Post(s.Apis("apps/v1", "deployments"), DeploymentBody("sc", 1));
  s.Get(s.Apis("apps/v1", "deployments/sc/scale"));
  s.MergePatch(s.Apis("apps/v1", "deployments/sc/scale"), R"({"spec":{"replicas":4}})");
  s.Put(s.Apis("apps/v1", "deployments/sc/scale"),
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"sc","namespace":")" + s.ns() +
            R"("},"spec":{"replicas":6}})");
  s.Put(s.Apis("apps/v1", "deployments/sc/scale"),
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"sc","namespace":")" + s.ns() +
            R"("},"spec":{"replicas":-1}})");
  s.Get(s.Apis("apps/v1", "deployments/none/scale"));
}

void DryRun(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"dry"},"data":{"k":"v"}})", {{"dryRun", "All"}});
  s.Get(s.Core("configmaps/dry"));
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"dry"},"data":{"k":"v"}})");
  s.MergePatch(s.Core("configmaps/dry"), R"({"data":{"k":"w"}})", {{"dryRun", "All"}});
  s.Delete(s.Core("configmaps/dry"), "", {{"dryRun", "All"}});
  s.Get(s.Core("configmaps/dry"));
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"bad-dry"}})", {{"dryRun", "Some"}});
}

void FieldValidation(Session& s) {
  const std::string body = R"({"metadata":{"name":"fv","colour":"red"},"data":{"k":"v"},"extra":1})";
  s.Post(s.Core("configmaps"), body, {{"fieldValidation", "Strict"}});
  s.Post(s.Core("configmaps"), body, {{"fieldValidation", "Ignore"}});
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"fv2"},"data":{"k":"v","k":"w"}})",
         {{"fieldValidation", "Strict"}});
  s.Post(
      s.Apis("apps/v1", "deployments"),
      R"({"metadata":{"name":"fv"},"spec":{"replicaz":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","imagePullPolice":"x"}]}}}})",
      {{"fieldValidation", "Strict"}});
  s.Post(s.Core("configmaps"), body, {{"fieldValidation", "Maybe"}});
}

void WrongTypes(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"t"},"data":{"k":1}})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"t"},"data":["k"]})");
  s.Post(s.Core("configmaps"), R"({"metadata":"t"})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"t")");
  s.Post(s.Core("configmaps"), R"([])");
  s.Post(s.Apis("apps/v1", "deployments"), R"({"metadata":{"name":"t"},"spec":{"replicas":"three"}})");
  s.Post(s.Core("secrets"), R"({"metadata":{"name":"t"},"data":{"k":"not base64!"}})");
}

void StatusOfNodes(Session& s) {
  s.Post(
      "/api/v1/nodes",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-status","labels":{"zone":"a"}},"status":{"capacity":{"cpu":"4"}}})");
  s.MergePatch("/api/v1/nodes/node-status/status",
               R"({"status":{"capacity":{"cpu":"8","nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"0.5"}}})");
  s.StrategicPatch(
      "/api/v1/nodes/node-status/status",
      R"({"status":{"capacity":{"cpu":"8000m","memory":"1.5Gi","nvidia.com/gpu":"8"},"allocatable":{"cpu":"0.5","nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}})");
  s.StrategicPatch("/api/v1/nodes/node-status/status",
                   R"({"status":{"conditions":[{"type":"MemoryPressure","status":"False"}]}})");
  s.MergePatch("/api/v1/nodes/node-status", R"({"spec":{"unschedulable":true}})");
  s.MergePatch("/api/v1/nodes/node-status", R"({"spec":{"taints":[{"key":"a","value":"b","effect":"NoSchedule"}]}})");
  s.MergePatch("/api/v1/nodes/node-status", R"({"spec":{"taints":[{"key":"a","value":"b","effect":"Sometimes"}]}})");
  s.MergePatch("/api/v1/nodes/node-status", R"({"spec":{"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"]}})");
  s.Delete("/api/v1/nodes/node-status");
  s.Get("/api/v1/nodes/node-status");
}

void SecretsAndStringData(Session& s) {
  s.Post(s.Core("secrets"), R"({"metadata":{"name":"sec"},"stringData":{"user":"me"},"data":{"key":"dmFsdWU="}})");
  s.MergePatch(s.Core("secrets/sec"), R"({"type":"other"})");
  s.MergePatch(s.Core("secrets/sec"), R"({"immutable":true})");
  s.MergePatch(s.Core("secrets/sec"), R"({"data":{"key":"bmV3"}})");
  s.Post(s.Core("secrets"), R"({"metadata":{"name":"tls"},"type":"kubernetes.io/tls"})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"im"},"immutable":true,"data":{"a":"b"}})");
  s.MergePatch(s.Core("configmaps/im"), R"({"data":{"a":"c"}})");
}

void PodBinding(Session& s) {
  AllowPods(s);
  s.Post(s.Core("pods"), PodBody("bind"));
  s.Post(
      s.Core("pods/bind/binding"),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"bind"},"target":{"apiVersion":"v1","kind":"Node","name":"some-node"}})");
  s.Post(
      s.Core("pods/bind/binding"),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"bind"},"target":{"apiVersion":"v1","kind":"Node","name":"other-node"}})");
  s.Post(
      s.Core("pods/absent/binding"),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"absent"},"target":{"kind":"Node","name":"some-node"}})");
  s.StrategicPatch(
      s.Core("pods/bind/status"),
      R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}]}})");
  s.MergePatch(s.Core("pods/bind"), R"({"status":{"phase":"Failed"}})");
  s.Get(s.Core("pods/bind"));
}

void Leases(Session& s) {
  json::value made = s.Post(
      s.Apis("coordination.k8s.io/v1", "leases"),
      R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2026-01-01T00:00:00.000000Z","renewTime":"2026-01-01T00:00:00.000000Z","leaseTransitions":0}})");
  s.Put(s.Apis("coordination.k8s.io/v1", "leases/l"),
        R"({"metadata":{"name":"l","resourceVersion":")" + Version(made) +
            R"("},"spec":{"holderIdentity":"b","leaseDurationSeconds":15,"leaseTransitions":1}})");
  s.Put(s.Apis("coordination.k8s.io/v1", "leases/l"),
        R"({"metadata":{"name":"l","resourceVersion":")" + Version(made) + R"("},"spec":{"holderIdentity":"a"}})");
  s.Post(s.Apis("coordination.k8s.io/v1", "leases"),
         R"({"metadata":{"name":"bad"},"spec":{"leaseDurationSeconds":0}})");
}

void Events(Session& s) {
  s.Post(
      s.Core("events"),
      R"({"metadata":{"name":"e1"},"involvedObject":{"kind":"Pod","name":"p","namespace":")" + s.ns() +
          R"(","uid":"u1"},"reason":"Started","message":"m","type":"Normal","count":1,"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z","source":{"component":"kubelet"}})");
  s.Get(s.Apis("events.k8s.io/v1", "events/e1"));
  s.Get(s.Core("events"), {{"fieldSelector", "involvedObject.name=p,reason=Started"}});
  s.Get(s.Core("events"), {{"fieldSelector", "involvedObject.name=q"}});
  s.Post(s.Core("events"),
         R"({"metadata":{"name":"e2"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"r"})");
  s.MergePatch(s.Core("events/e1"), R"({"count":2})");
}

void Namespaces(Session& s) {
  s.Post("/api/v1/namespaces", R"({"metadata":{"name":"extra-ns","labels":{"a":"b"}}})");
  s.Post("/api/v1/namespaces", R"({"metadata":{"name":"Extra_NS"}})");
  s.MergePatch("/api/v1/namespaces/extra-ns", R"({"metadata":{"labels":{"kubernetes.io/metadata.name":"zzz"}}})");
  s.Post("/api/v1/namespaces/extra-ns/configmaps", R"({"metadata":{"name":"inside"}})");
  json::value gone = s.Delete("/api/v1/namespaces/extra-ns");
  s.Get("/api/v1/namespaces/extra-ns");
  s.Post("/api/v1/namespaces/extra-ns/configmaps", R"({"metadata":{"name":"late"}})");
  s.Put("/api/v1/namespaces/extra-ns/finalize",
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"extra-ns","uid":")" + Uid(gone) +
            R"("},"spec":{"finalizers":[]}})");
  s.Get("/api/v1/namespaces/extra-ns");
  s.Delete("/api/v1/namespaces/default");
}

void Partial(Session& s) {
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"part","labels":{"x":"1"}},"data":{"k":"v"}})");
  const std::string accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  s.Send({.path = s.Core("configmaps/part"), .query = {}, .accept = accept, .content_type = "", .body = ""});
  const std::string list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  s.Send({.path = s.Core("configmaps"), .query = {}, .accept = list, .content_type = "", .body = ""});
}

void Methods(Session& s) {
  s.Send(
      {.method = "PUT", .path = s.Core("configmaps"), .query = {}, .content_type = "application/json", .body = "{}"});
  s.Send({.method = "PATCH",
          .path = s.Core("configmaps"),
          .query = {},
          .content_type = "application/merge-patch+json",
          .body = "{}"});
  s.Send({.method = "POST", .path = s.Core("configmaps"), .query = {}, .content_type = "text/plain", .body = "hello"});
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"m"}})");
  s.Send({.method = "PATCH",
          .path = s.Core("configmaps/m"),
          .query = {},
          .content_type = "application/json",
          .body = "{}"});
  s.Send({.method = "GET",
          .path = s.Core("configmaps/m"),
          .query = {},
          .accept = "image/png",
          .content_type = "",
          .body = ""});
  s.Get("/api/v1/namespaces/" + s.ns() + "/configmaps/m/status");
  s.Get("/nothing/here");
  s.Get("/version/nothing");
}

}  // namespace

std::vector<Scenario> ObjectScenarios() {
  return {{"create-and-read", CreateAndRead},
          {"generate-name", GenerateName},
          {"server-metadata", ServerOwnsItsMetadata},
          {"update", Update},
          {"generation", GenerationCountsSpecChanges},
          {"scale", ScaleSubresource},
          {"dry-run", DryRun},
          {"field-validation", FieldValidation},
          {"wrong-types", WrongTypes},
          {"node-status", StatusOfNodes},
          {"secrets", SecretsAndStringData},
          {"binding", PodBinding},
          {"leases", Leases},
          {"events", Events},
          {"namespaces", Namespaces},
          {"partial-metadata", Partial},
          {"methods", Methods}};
}

}  // namespace gpuop::e2e
