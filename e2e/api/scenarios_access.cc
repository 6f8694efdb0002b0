// Who may do what; and what people see: tables and discovery.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

const char* const kRbac = "rbac.authorization.k8s.io/v1";

void Roles(Session& s) {
  const std::string user = "system:serviceaccount:" + s.ns() + ":robot";
  const std::vector<std::string> groups = {"system:serviceaccounts", "system:serviceaccounts:" + s.ns(),
                                           "system:authenticated"};
  s.Quietly("POST", s.Core("serviceaccounts"), R"({"metadata":{"name":"robot"}})");
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"named"}})");
  s.As(user, groups);
  s.Get(s.Core("configmaps"));
  s.Get("/api/v1/nodes");
  s.Get("/api/v1/nodes/n1");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"x"}})");
  s.Delete(s.Core("configmaps"));
  s.MergePatch(s.Core("configmaps/named"), R"({})");
  s.Get(s.Apis("apps/v1", "deployments/d/scale"));
  s.Get("/metrics");
  s.Get("/api/v1/namespaces/" + s.ns());
  s.As("");
  s.Quietly(
      "POST", s.Apis(kRbac, "roles"),
      R"({"metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["configmaps","namespaces"],"verbs":["get","list"]},{"apiGroups":[""],"resources":["secrets"],"resourceNames":["only"],"verbs":["get"]}]})");
  s.Quietly(
      "POST", s.Apis(kRbac, "rolebindings"),
      R"({"metadata":{"name":"reader"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"reader"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":")" +
          s.ns() + R"("}]})");
  s.As(user, groups);
  s.WaitFor(s.Core("configmaps"));
  s.Get(s.Core("configmaps/named"));
  s.Get("/api/v1/namespaces/" + s.ns());
  s.Get("/api/v1/namespaces/default");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"x"}})");
  s.Get(s.Core("secrets/only"));
  s.Get(s.Core("secrets/other"));
  s.Get(s.Core("secrets"));
  s.Post(s.Apis(kRbac, "roles"), R"({"metadata":{"name":"more"},"rules":[]})");
  s.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         R"({"spec":{"resourceAttributes":{"namespace":")" + s.ns() + R"(","verb":"list","resource":"configmaps"}}})");
  s.Post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      R"({"spec":{"resourceAttributes":{"namespace":")" + s.ns() + R"(","verb":"delete","resource":"configmaps"}}})");
  // Only one binding allows this path; where two do, the real server names either.
  s.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         R"({"spec":{"nonResourceAttributes":{"verb":"get","path":"/openapi/v2"}}})");
  s.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", R"({"spec":{}})");
  s.As("");
}

void Escalation(Session& s) {
  s.Quietly(
      "POST", s.Apis(kRbac, "roles"),
      R"({"metadata":{"name":"roles"},"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"],"verbs":["*"]}]})");
  s.Quietly(
      "POST", s.Apis(kRbac, "rolebindings"),
      R"({"metadata":{"name":"roles"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"roles"},"subjects":[{"kind":"User","name":"climber"}]})");
  s.As("climber", {"system:authenticated"});
  s.WaitFor(s.Apis(kRbac, "roles"));
  s.Post(s.Apis(kRbac, "roles"),
         R"({"metadata":{"name":"up"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get","list"]}]})");
  s.Post(
      s.Apis(kRbac, "roles"),
      R"({"metadata":{"name":"same"},"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"verbs":["get"]}]})");
  s.Post(
      s.Apis(kRbac, "rolebindings"),
      R"({"metadata":{"name":"up"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"climber"}]})");
  s.As("");
}

void Reviews(Session& s) {
  s.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
         R"({"spec":{"user":"nobody","resourceAttributes":{"verb":"get","resource":"nodes"}}})");
  s.Post(
      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      R"({"spec":{"user":"root","groups":["system:masters"],"resourceAttributes":{"verb":"get","resource":"nodes"}}})");
  s.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews", R"({"spec":{"user":"nobody"}})");
  s.Post(s.Apis("authorization.k8s.io/v1", "localsubjectaccessreviews"),
         R"({"spec":{"user":"nobody","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}})");
  s.Post("/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"nonsense"}})");
  s.As("someone", {"team", "system:authenticated"});
  s.Post("/apis/authentication.k8s.io/v1/selfsubjectreviews", R"({})");
  s.As("");
}

kube::ApiRequest Table(const std::string& path, const std::string& include = "") {
  kube::ApiRequest request{.path = path,
                           .query = {},
                           .accept = "application/json;as=Table;v=v1;g=meta.k8s.io",
                           .content_type = "",
                           .body = ""};
  if (!include.empty()) request.query.emplace_back("includeObject", include);
  return request;
}

void NodeTables(Session& s) {
  s.Quietly(
      "POST", "/api/v1/nodes",
      R"({"metadata":{"name":"table-node","labels":{"node-role.kubernetes.io/gpu":"","t":"1"}},"spec":{"unschedulable":true}})");
  s.Quietly(
      "PATCH", "/api/v1/nodes/table-node/status",
      R"({"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.9"}],"nodeInfo":{"kubeletVersion":"v1.36.3","osImage":"Debian","kernelVersion":"6.1","containerRuntimeVersion":"containerd://2.1","architecture":"amd64","bootID":"","machineID":"","systemUUID":"","operatingSystem":"linux","kubeProxyVersion":""}}})");
  s.Send(Table("/api/v1/nodes/table-node"));
  s.Send(Table("/api/v1/nodes/table-node", "None"));
  s.Send(Table("/api/v1/nodes/table-node", "Object"));
  s.Delete("/api/v1/nodes/table-node");
}

void PodTables(Session& s) {
  AllowPods(s);
  struct Shape {
    const char* name;
    const char* status;
  };
  const Shape shapes[] = {
      {"running",
       R"({"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"containerStatuses":[{"name":"main","image":"i","imageID":"","ready":true,"restartCount":0,"state":{"running":{}}}]})"},
      {"crash",
       R"({"phase":"Running","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})"},
      {"done",
       R"({"phase":"Succeeded","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})"},
      {"exit",
       R"({"phase":"Failed","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":3}}}]})"},
      {"signal",
       R"({"phase":"Failed","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":137,"signal":9}}}]})"},
      {"evicted", R"({"phase":"Failed","reason":"Evicted"})"},
      {"gated",
       R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]})"}};
  for (const Shape& shape : shapes) {
    s.Quietly("POST", s.Core("pods"), PodBody(shape.name));
    s.Quietly("PATCH", s.Core("pods/" + std::string(shape.name) + "/status"),
              std::string(R"({"status":)") + shape.status + "}");
  }
  s.Quietly(
      "POST", s.Core("pods"),
      R"({"metadata":{"name":"init"},"spec":{"automountServiceAccountToken":false,"initContainers":[{"name":"i1","image":"i"},{"name":"i2","image":"i"}],"containers":[{"name":"main","image":"i"}]}})");
  s.Quietly(
      "PATCH", s.Core("pods/init/status"),
      R"({"status":{"phase":"Pending","initContainerStatuses":[{"name":"i1","image":"i","imageID":"","ready":true,"restartCount":0,"state":{"terminated":{"exitCode":0}}},{"name":"i2","image":"i","imageID":"","ready":false,"restartCount":1,"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})");
  s.Send(Table(s.Core("pods"), "None"));
}

void OtherTables(Session& s) {
  s.Quietly("POST", s.Apis("apps/v1", "deployments"), DeploymentBody("t", 2));
  s.Quietly(
      "POST", s.Apis("apps/v1", "daemonsets"),
      R"({"metadata":{"name":"t"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"x":"y"},"containers":[{"name":"c","image":"i:1"}]}}}})");
  s.Quietly(
      "POST", s.Apis("batch/v1", "jobs"),
      R"({"metadata":{"name":"t"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"t"},"data":{"a":"1","b":"2"}})");
  s.Quietly("POST", s.Core("secrets"), R"({"metadata":{"name":"t"},"stringData":{"a":"1"}})");
  s.Quietly(
      "POST", s.Core("services"),
      R"({"metadata":{"name":"t"},"spec":{"clusterIP":"None","selector":{"a":"b"},"ports":[{"port":80,"name":"x"},{"port":9400,"protocol":"UDP","name":"y"}]}})");
  s.Quietly(
      "POST", s.Core("events"),
      R"({"metadata":{"name":"t"},"involvedObject":{"kind":"Pod","name":"p","namespace":")" + s.ns() +
          R"("},"reason":"Started","message":"a message","type":"Normal","count":1,"source":{"component":"kubelet"}})");
  s.Quietly("POST", s.Apis("coordination.k8s.io/v1", "leases"),
            R"({"metadata":{"name":"t"},"spec":{"holderIdentity":"me"}})");
  s.Quietly("POST", s.Apis("policy/v1", "poddisruptionbudgets"),
            R"({"metadata":{"name":"t"},"spec":{"minAvailable":"50%","selector":{"matchLabels":{"a":"b"}}}})");
  s.Quietly("POST", s.Apis("rbac.authorization.k8s.io/v1", "roles"), R"({"metadata":{"name":"t"},"rules":[]})");
  for (const char* path : {"deployments", "daemonsets"}) s.Send(Table(s.Apis("apps/v1", path), "None"));
  s.Send(Table(s.Apis("batch/v1", "jobs"), "None"));
  for (const char* path : {"configmaps", "secrets", "services", "events", "serviceaccounts"})
    s.Send(Table(s.Core(path), "None"));
  s.Send(Table(s.Apis("coordination.k8s.io/v1", "leases"), "None"));
  s.Send(Table(s.Apis("policy/v1", "poddisruptionbudgets"), "None"));
  s.Send(Table(s.Apis("rbac.authorization.k8s.io/v1", "roles"), "None"));
  s.Send(Table("/api/v1/namespaces/" + s.ns(), "None"));
  s.Send(Table("/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin", "None"));
}

/// The parts of the server's own documents that this product and its clients rely on.
void Discovery(Session& s) {
  s.Get("/healthz");
  s.Get("/livez");
  s.Get("/readyz");
  s.Note("core versions", json::serialize(s.Quietly("GET", "/api").at("versions")));  // the rest is an address
  for (const char* group : {"apps", "batch", "coordination.k8s.io", "policy", "node.k8s.io",
                            "rbac.authorization.k8s.io", "apiextensions.k8s.io", "absent.example"})
    s.Get(std::string("/apis/") + group);
  json::value core = s.Quietly("GET", "/api/v1");
  for (const json::value& resource : core.at("resources").as_array()) {
    const std::string name(resource.at("name").as_string());
    for (const char* wanted :
         {"nodes", "nodes/status", "pods", "pods/eviction", "pods/binding", "pods/log", "pods/status", "namespaces",
          "namespaces/finalize", "configmaps", "serviceaccounts/token", "events", "services"})
      if (name == wanted) s.Note("core resource", json::serialize(resource));
  }
  json::value apps = s.Quietly("GET", "/apis/apps/v1");
  for (const json::value& resource : apps.at("resources").as_array())
    s.Note("apps resource", json::serialize(resource));
}

}  // namespace

std::vector<Scenario> AccessScenarios() { return {{"roles", Roles}, {"escalation", Escalation}, {"reviews", Reviews}}; }

std::vector<Scenario> TableScenarios() {
  return {
      {"node-table", NodeTables}, {"pod-table", PodTables}, {"other-tables", OtherTables}, {"discovery", Discovery}};
}

}  // namespace gpuop::e2e
