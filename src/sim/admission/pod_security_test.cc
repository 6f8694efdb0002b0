#include "sim/admission/pod_security.h"

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "sim/cluster.h"

namespace gpuop::sim {
namespace {

struct Case {
  const char* name;
  PodSecurityLevel level;
  const char* spec;
  const char* want;
};

constexpr auto kBaseline = PodSecurityLevel::kBaseline, kRestricted = PodSecurityLevel::kRestricted;

class PodSecurityTest : public testing::TestWithParam<Case> {};

TEST_P(PodSecurityTest, SaysWhatTheRealServerSays) {
  const Case& c = GetParam();
  EXPECT_EQ(Join(PodSecurityViolations(c.level, boost::json::parse(c.spec).as_object()), ", "), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    All, PodSecurityTest,
    testing::Values(
        Case{"PlainIsBaseline", kBaseline, R"({"containers":[{"name":"a"}]})", ""},
        Case{"EverythingIsPrivileged", PodSecurityLevel::kPrivileged, R"({"hostPID":true})", ""},
        Case{
            "Privileged", kBaseline,
            R"({"containers":[{"name":"a","securityContext":{"privileged":true}},{"name":"b","securityContext":{"privileged":true}}]})",
            R"(privileged (containers "a", "b" must not set securityContext.privileged=true))"},
        Case{"HostNamespaces", kBaseline, R"({"hostNetwork":true,"hostPID":true,"hostIPC":true})",
             "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"},
        Case{"HostPath", kBaseline, R"({"volumes":[{"name":"v","hostPath":{"path":"/"}},{"name":"w","hostPath":{}}]})",
             R"(hostPath volumes (volumes "v", "w"))"},
        Case{
            "Capabilities", kBaseline,
            R"({"containers":[{"name":"a","securityContext":{"capabilities":{"add":["SYS_ADMIN","CHOWN","NET_RAW"]}}}]})",
            R"(non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add))"},
        Case{"HostPort", kBaseline, R"({"containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":80}]}]})",
             R"(hostPort (container "a" uses hostPort 80))"},
        Case{"SeLinux", kBaseline, R"({"securityContext":{"seLinuxOptions":{"type":"foo","user":"u"}}})",
             R"(seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "foo"; user may not be set))"},
        Case{"Seccomp", kBaseline, R"({"securityContext":{"seccompProfile":{"type":"Unconfined"}}})",
             R"(seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined"))"},
        Case{"Sysctl", kBaseline,
             R"({"securityContext":{"sysctls":[{"name":"kernel.msgmax"},{"name":"net.ipv4.tcp_syncookies"}]}})",
             "forbidden sysctls (kernel.msgmax)"},
        Case{"AppArmor", kBaseline, R"({"securityContext":{"appArmorProfile":{"type":"Unconfined"}}})",
             R"(forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined"))"},
        Case{"HostProcess", kBaseline,
             R"({"hostNetwork":true,"securityContext":{"windowsOptions":{"hostProcess":true}}})",
             "host namespaces (hostNetwork=true), hostProcess (pod must not set "
             "securityContext.windowsOptions.hostProcess=true)"},
        Case{"HostProbe", kBaseline,
             R"({"containers":[{"name":"a","livenessProbe":{"httpGet":{"host":"1.1.1.1","port":1}}}]})",
             R"(probe or lifecycle host (container "a" uses probe or lifecycle host "1.1.1.1"))"},
        Case{
            "RestrictedAsksForAll", kRestricted,
            R"({"initContainers":[{"name":"c"}],"containers":[{"name":"a"},{"name":"b"}]})",
            R"(allowPrivilegeEscalation != false (containers "c", "a", "b" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers "c", "a", "b" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or containers "c", "a", "b" must set securityContext.runAsNonRoot=true), seccompProfile (pod or containers "c", "a", "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"))"},
        Case{
            "RestrictedIsMet", kRestricted,
            R"({"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"a","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]}}}],"volumes":[{"name":"v","emptyDir":{}}]})",
            ""},
        Case{
            "RestrictedRoot", kRestricted,
            R"({"securityContext":{"runAsNonRoot":true,"runAsUser":0,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"a","securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":false,"capabilities":{"drop":["ALL"]}}}]})",
            R"(runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod must not set runAsUser=0))"},
        Case{"RestrictedVolumes", kRestricted, R"({"volumes":[{"name":"v","nfs":{}},{"name":"w","gitRepo":{}}]})",
             R"(restricted volume types (volumes "v", "w" use restricted volume types "gitRepo", "nfs"))"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(PodSecurityNamespaceTest, AStricterLevelWarnsOfThePodsThatAreThere) {
  Cluster cluster(1);
  const auto call = [&](const char* method, const std::string& path, const std::string& body) {
    kube::ApiRequest request;
    request.method = method, request.path = path, request.body = body;
    request.content_type = method == std::string_view("PATCH") ? "application/merge-patch+json" : "application/json";
    return cluster.server().Handle(request, User::Admin());
  };
  call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  call("POST", "/api/v1/namespaces/n/serviceaccounts", R"({"metadata":{"name":"default"}})");
  for (const char* name : {"a", "b"})
    EXPECT_EQ(
        call("POST", "/api/v1/namespaces/n/pods",
             std::string(R"({"metadata":{"name":")") + name + R"("},"spec":{"containers":[{"name":"c","image":"x"}]}})")
            .status,
        201);
  const auto label = [&](const char* name, const std::string& value) {
    return call(
        "PATCH", "/api/v1/namespaces/n",
        std::string(R"({"metadata":{"labels":{"pod-security.kubernetes.io/)") + name + R"(":")" + value + R"("}}})");
  };
  EXPECT_EQ(label("enforce", "restricted").warnings,
            (std::vector<std::string>{
                R"(existing pods in namespace "n" violate the new PodSecurity enforce level "restricted:latest")",
                "a (and 1 other pod): allowPrivilegeEscalation != false, "
                "unrestricted capabilities, runAsNonRoot != true, "
                "seccompProfile"}));
  EXPECT_TRUE(label("enforce", "baseline").warnings.empty());
  EXPECT_TRUE(label("warn", "restricted").warnings.empty());
  EXPECT_EQ(label("enforce-version", "soon").status, 422);
}

}  // namespace
}  // namespace gpuop::sim
