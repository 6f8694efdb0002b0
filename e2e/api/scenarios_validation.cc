// What the server refuses, in its own words; and what it fills in.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

std::string PodSpec(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
}

std::string OneContainer(const std::string& rest) {
  return R"({"automountServiceAccountToken":false,"containers":[{"name":"c","image":"i")" + rest + "}]}";
}

void Names(Session& s) {
  for (const char* name : {"Upper", "under_score", "-dash", "a..b", "trailing.", "ok.name-1", "sp ace"})
    s.Post(s.Core("configmaps"), std::string(R"({"metadata":{"name":")") + name + R"("}})");
  s.Post(s.Core("services"), R"({"metadata":{"name":"1digit"},"spec":{"ports":[{"port":80}]}})");
  for (const char* label :
       {R"("a b":"x")", R"("ok":"bad value!")",
        R"("toolong/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"x")"})
    s.Post(s.Core("configmaps"), std::string(R"({"metadata":{"name":"l","labels":{)") + label + "}}}");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"an","annotations":{"bad key":"x"}}})");
  s.Post(s.Core("configmaps"),
         R"({"metadata":{"name":"ow","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"","uid":""}]}})");
  s.Post(s.Core("configmaps"), R"({"metadata":{"name":"k"},"data":{"bad/key":"x"}})");
}

void Pods(Session& s) {
  AllowPods(s);
  const std::string pods = s.Core("pods");
  s.Post(pods, PodSpec("p1", R"({"containers":[]})"));
  s.Post(pods, PodSpec("p2", R"({"containers":[{"name":"Bad Name","image":""}]})"));
  s.Post(pods, PodSpec("p3", R"({"containers":[{"name":"a","image":"i"},{"name":"a","image":"i"}]})"));
  s.Post(pods, PodSpec("p4", OneContainer(R"(,"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}})")));
  s.Post(pods, PodSpec("p5", OneContainer(R"(,"resources":{"limits":{"nvidia.com/gpu":"1.5"}})")));
  s.Post(pods, PodSpec("p6", OneContainer(R"(,"resources":{"requests":{"nvidia.com/gpu":"1"}})")));
  s.Post(pods,
         PodSpec("p7",
                 OneContainer(R"(,"resources":{"requests":{"nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"2"}})")));
  s.Post(pods, PodSpec("p8", OneContainer(R"(,"resources":{"limits":{"cpu":"much"}})")));
  s.Post(pods, PodSpec("p9", OneContainer(R"(,"volumeMounts":[{"name":"none","mountPath":"/x"}])")));
  s.Post(pods, PodSpec("p10", OneContainer(R"(,"env":[{"name":"a=b","value":"1"},{"name":""}])")));
  s.Post(pods,
         PodSpec("p11", OneContainer(
                            R"(,"ports":[{"containerPort":0},{"containerPort":70000,"name":"waytoolongportname"}])")));
  s.Post(pods, PodSpec("p12", OneContainer(R"(,"imagePullPolicy":"Sometimes")")));
  s.Post(pods,
         PodSpec("p13", R"({"restartPolicy":"Maybe","dnsPolicy":"None","containers":[{"name":"c","image":"i"}]})"));
  s.Post(pods, PodSpec("p14", OneContainer(R"(,"livenessProbe":{})")));
  s.Post(
      pods,
      PodSpec("p15",
              OneContainer(R"(,"livenessProbe":{"exec":{"command":["x"]},"httpGet":{"port":80},"periodSeconds":-1})")));
  s.Post(
      pods,
      PodSpec(
          "p16",
          R"({"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}},{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"i"}]})"));
  s.Post(
      pods,
      PodSpec(
          "p17",
          R"({"tolerations":[{"operator":"Exists","value":"x"},{"key":"k","operator":"Near"}],"containers":[{"name":"c","image":"i"}]})"));
  s.Post(pods, PodSpec("p18", R"({"nodeSelector":{"a b":"c"},"containers":[{"name":"c","image":"i"}]})"));
  s.Post(
      pods,
      PodSpec(
          "p19",
          R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In"}]}]}}},"containers":[{"name":"c","image":"i"}]})"));
  s.Post(pods, PodSpec("p20", R"({"serviceAccountName":"absent","containers":[{"name":"c","image":"i"}]})"));
  s.Post(
      pods,
      PodSpec(
          "p21",
          R"({"priorityClassName":"absent","automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]})"));
  s.Post(
      pods,
      PodSpec(
          "p22",
          R"({"runtimeClassName":"absent","automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]})"));
  s.Post(
      pods,
      PodSpec(
          "p23",
          R"({"hostNetwork":true,"automountServiceAccountToken":false,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":81}]}]})"));
  s.Post(
      pods,
      PodSpec(
          "p24",
          R"({"initContainers":[{"name":"c","image":"i","restartPolicy":"Never"}],"containers":[{"name":"c","image":"i"}]})"));
}

void ImmutablePods(Session& s) {
  AllowPods(s);
  s.Quietly("POST", s.Core("pods"), PodBody("im"));
  s.MergePatch(s.Core("pods/im"), R"({"spec":{"nodeSelector":{"a":"b"}}})");
  s.MergePatch(s.Core("pods/im"), R"({"spec":{"restartPolicy":"Never"}})");
  s.StrategicPatch(s.Core("pods/im"), R"({"spec":{"containers":[{"name":"main","image":"registry.test/app:2"}]}})");
  s.StrategicPatch(s.Core("pods/im"), R"({"spec":{"tolerations":[{"key":"new","operator":"Exists"}]}})");
  s.MergePatch(s.Core("pods/im"), R"({"metadata":{"labels":{"a":"b"}}})");
}

void Workloads(Session& s) {
  const std::string apps = s.Apis("apps/v1", "deployments");
  s.Post(
      apps,
      R"({"metadata":{"name":"w1"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      apps,
      R"({"metadata":{"name":"w2"},"spec":{"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      apps,
      R"({"metadata":{"name":"w3"},"spec":{"replicas":-1,"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      apps,
      R"({"metadata":{"name":"w4"},"spec":{"strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}},"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Quietly("POST", apps, DeploymentBody("ok", 1));
  s.MergePatch(apps + "/ok", R"({"spec":{"selector":{"matchLabels":{"other":"x"}}}})");
  const std::string sets = s.Apis("apps/v1", "daemonsets");
  s.Post(
      sets,
      R"({"metadata":{"name":"d1"},"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0}},"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      sets,
      R"({"metadata":{"name":"d2"},"spec":{"updateStrategy":{"type":"Whenever"},"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const std::string jobs = s.Apis("batch/v1", "jobs");
  s.Post(jobs, R"({"metadata":{"name":"j1"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      jobs,
      R"({"metadata":{"name":"j2"},"spec":{"completions":-1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
}

void Others(Session& s) {
  s.Post(s.Core("services"), R"({"metadata":{"name":"s1"},"spec":{"ports":[]}})");
  s.Post(s.Core("services"), R"({"metadata":{"name":"s2"},"spec":{"ports":[{"port":80},{"port":81}]}})");
  s.Post(s.Core("services"),
         R"({"metadata":{"name":"s3"},"spec":{"type":"Odd","ports":[{"port":80,"protocol":"ICMP"}]}})");
  s.Post("/apis/node.k8s.io/v1/runtimeclasses", R"({"metadata":{"name":"Bad_Name"},"handler":"x"})");
  s.Post("/apis/node.k8s.io/v1/runtimeclasses", R"({"metadata":{"name":"rc-e2e"},"handler":"Not Valid"})");
  s.Post("/apis/node.k8s.io/v1/runtimeclasses", R"({"metadata":{"name":"rc-e2e"},"handler":"nvidia"})");
  s.MergePatch("/apis/node.k8s.io/v1/runtimeclasses/rc-e2e", R"({"handler":"other"})");
  s.Delete("/apis/node.k8s.io/v1/runtimeclasses/rc-e2e");
  s.Post("/apis/scheduling.k8s.io/v1/priorityclasses", R"({"metadata":{"name":"pc-e2e"},"value":2000000000})");
  s.Post("/apis/scheduling.k8s.io/v1/priorityclasses", R"({"metadata":{"name":"system-mine"},"value":5})");
  s.Post("/apis/scheduling.k8s.io/v1/priorityclasses", R"({"metadata":{"name":"pc-e2e"},"value":5})");
  s.MergePatch("/apis/scheduling.k8s.io/v1/priorityclasses/pc-e2e", R"({"value":6})");
  s.Delete("/apis/scheduling.k8s.io/v1/priorityclasses/pc-e2e");
  s.Post(s.Apis("policy/v1", "poddisruptionbudgets"),
         R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"maxUnavailable":1,"selector":{}}})");
  s.Post(s.Apis("policy/v1", "poddisruptionbudgets"), R"({"metadata":{"name":"b"},"spec":{"minAvailable":"150%"}})");
  s.Post(s.Apis("rbac.authorization.k8s.io/v1", "rolebindings"),
         R"({"metadata":{"name":"rb"},"roleRef":{"kind":"Role","name":""},"subjects":[{"kind":"User"}]})");
  s.Post(s.Apis("rbac.authorization.k8s.io/v1", "roles"),
         R"({"metadata":{"name":"r"},"rules":[{"verbs":[],"resources":["pods"]}]})");
  s.Post(
      s.Apis("rbac.authorization.k8s.io/v1", "rolebindings"),
      R"({"metadata":{"name":"rb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"x"}]})");
  s.Post(
      s.Apis("rbac.authorization.k8s.io/v1", "rolebindings"),
      R"({"metadata":{"name":"rb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"x","namespace":"y"}]})");
  s.MergePatch(s.Apis("rbac.authorization.k8s.io/v1", "rolebindings/rb"),
               R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r2"}})");
}

void Defaults(Session& s) {
  AllowPods(s);
  s.Post(s.Core("pods"), PodBody("plain"));
  s.Post(s.Core("pods"),
         PodSpec("rich", R"({"automountServiceAccountToken":false,"hostNetwork":true,"nodeSelector":{"a":"b"},
    "initContainers":[{"name":"init","image":"i:latest","command":["x"]}],
    "containers":[{"name":"c","image":"i@sha256:0000000000000000000000000000000000000000000000000000000000000000","ports":[{"containerPort":80}],
      "env":[{"name":"N","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}],"resources":{"limits":{"nvidia.com/gpu":"1","cpu":"0.5","memory":"1.5Gi"}},
      "livenessProbe":{"httpGet":{"port":80}},"readinessProbe":{"tcpSocket":{"port":"http"}},"startupProbe":{"exec":{"command":["x"]}},
      "lifecycle":{"preStop":{"exec":{"command":["y"]}}},"volumeMounts":[{"name":"h","mountPath":"/h"}]}],
    "volumes":[{"name":"h","hostPath":{"path":"/run"}},{"name":"c","configMap":{"name":"c"}},{"name":"s","secret":{"secretName":"s"}},
      {"name":"d","downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}}]}},{"name":"p","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]})"));
  s.Post(
      s.Core("pods"),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"token"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  s.Post(s.Apis("apps/v1", "deployments"), DeploymentBody("d", 2));
  s.Post(
      s.Apis("apps/v1", "daemonsets"),
      R"({"metadata":{"name":"ds"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      s.Apis("apps/v1", "daemonsets"),
      R"({"metadata":{"name":"ods"},"spec":{"updateStrategy":{"type":"OnDelete"},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      s.Apis("apps/v1", "replicasets"),
      R"({"metadata":{"name":"rs"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      s.Apis("apps/v1", "statefulsets"),
      R"({"metadata":{"name":"ss"},"spec":{"serviceName":"x","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(
      s.Apis("batch/v1", "jobs"),
      R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  s.Post(s.Core("services"), R"({"metadata":{"name":"headless"},"spec":{"clusterIP":"None","ports":[{"port":80}]}})");
  s.Post(s.Core("serviceaccounts"), R"({"metadata":{"name":"sa"}})");
  s.Post(s.Apis("policy/v1", "poddisruptionbudgets"),
         R"({"metadata":{"name":"pdb"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"a":"b"}}}})");
  s.Post(s.Apis("rbac.authorization.k8s.io/v1", "roles"),
         R"({"metadata":{"name":"r"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  s.Post("/apis/apps/v1/namespaces/" + s.ns() + "/controllerrevisions",
         R"({"metadata":{"name":"cr"},"revision":1,"data":{"a":{"b":1}}})");
  s.Post("/api/v1/nodes", R"({"metadata":{"name":"default-node"},"spec":{"podCIDR":"10.0.0.0/24"}})");
  s.Delete("/api/v1/nodes/default-node");
}

/// Addresses and node ports that a cluster gives out once.
void ServiceAddresses(Session& s) {
  const std::string path = s.Core("services");
  const auto service = [](const std::string& name, const std::string& spec, const std::string& port = "") {
    return R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + R"("ports":[{"port":80)" + port + "}]}}";
  };
  s.Post(path, service("first", R"("clusterIP":"10.96.33.4",)"));
  s.Post(path, service("taken", R"("clusterIP":"10.96.33.4",)"));
  s.Post(path, service("outside", R"("clusterIP":"10.97.3.4",)"));
  s.Post(path, service("broadcast", R"("clusterIP":"10.96.255.255",)"));
  s.Post(path, service("no-address", R"("clusterIP":"10.96.3.400",)"));
  s.Post(path, service("two", R"("clusterIPs":["10.96.33.6","10.96.33.7"],)"));
  s.Post(path, service("differ", R"("clusterIP":"10.96.33.6","clusterIPs":["10.96.33.7"],)"));
  s.Post(path, service("external", R"("type":"ExternalName","externalName":"a.b","clusterIP":"10.96.33.9",)"));
  s.MergePatch(path + "/first", R"({"spec":{"clusterIP":"10.96.33.5"}})");
  s.MergePatch(path + "/first", R"({"metadata":{"labels":{"a":"b"}}})");
  s.Delete(path + "/first");
  s.Post(path, service("again", R"("clusterIP":"10.96.33.4",)"));
  s.Post(path, service("port", R"("type":"NodePort",)", R"(,"nodePort":30777)"));
  s.Post(path, service("port-taken", R"("type":"NodePort",)", R"(,"nodePort":30777)"));
  s.Post(path, service("port-outside", R"("type":"NodePort",)", R"(,"nodePort":80)"));
  s.MergePatch(path + "/port", R"({"metadata":{"labels":{"a":"b"}}})");
  s.Delete(path + "/port");
  s.Delete(path + "/again");
}

void Gates(Session& s) {
  AllowPods(s);
  s.Post(
      s.Core("pods"),
      R"({"metadata":{"name":"gated"},"spec":{"schedulingGates":[{"name":"example.com/wait"}],"containers":[{"name":"main","image":"a"}]}})");
  s.MergePatch(s.Core("pods/gated"), R"({"spec":{"schedulingGates":[{"name":"example.com/other"}]}})");
  s.MergePatch(s.Core("pods/gated"), R"({"spec":{"schedulingGates":[]}})");
  s.Delete(s.Core("pods/gated"), R"({"gracePeriodSeconds":0})");
}

}  // namespace

std::vector<Scenario> ValidationScenarios() {
  return {{"invalid-names", Names},         {"invalid-pods", Pods},     {"immutable-pods", ImmutablePods},
          {"invalid-workloads", Workloads}, {"invalid-others", Others}, {"service-addresses", ServiceAddresses},
          {"scheduling-gates", Gates}};
}

std::vector<Scenario> DefaultScenarios() { return {{"defaults", Defaults}}; }

}  // namespace gpuop::e2e
