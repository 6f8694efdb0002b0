#include "sim/plugins.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "sim/cluster.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

class PluginsTest : public testing::Test {
 protected:
  json::value Do(const std::string& method, const std::string& path, const json::value& body = {}) {
    const auto answer = cluster.Call(method, path, body.is_null() ? "" : json::serialize(body));
    code = answer.status;
    boost::system::error_code error;
    return json::parse(answer.body, error);
  }
  json::value DoAs(const User& user, const std::string& method, const std::string& path, const json::value& body = {}) {
    kube::ApiRequest request;
    request.method = method;
    request.path = path;
    if (!body.is_null()) request.content_type = "application/json", request.body = json::serialize(body);
    const Response answer = cluster.server().Handle(request, user);
    code = answer.status;
    return json::parse(answer.body.Join());
  }
  void Settle() { cluster.RunFor(std::chrono::seconds(1)); }

  Cluster cluster{1};
  int code = 0;
};

Credentials Bearer(std::string_view token) {
  Credentials out;
  out.authorization = "Bearer ";
  out.authorization += token;
  return out;
}

json::value ReadJson(const char* name) {
  std::ifstream in(std::string(SourceDir()) + "/testdata/crds/" + name);
  return json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST_F(PluginsTest, CustomResourcesAreHeldToTheirSchemaAsByTheRealServer) {
  const json::value fixture = ReadJson("values.json");
  Do("POST", kCrds, fixture.at("crd"));
  ASSERT_EQ(code, 201);
  Settle();
  for (const json::value& c : PeekArray(fixture, {"cases"})) {
    const std::string query(PeekString(c, {"query"}));
    const json::value got =
        Do("POST", "/apis/crdfix.example/v1/vals?dryRun=All" + (query.empty() ? "" : "&" + query), c.at("body"));
    EXPECT_EQ(code, PeekInt(c, {"code"})) << json::serialize(c.at("body")) << "\n" << json::serialize(got);
    EXPECT_EQ(PeekString(got, {"message"}), PeekString(c, {"message"})) << json::serialize(c.at("body"));
    if (code == 201) EXPECT_EQ(PeekObject(got, {"spec"}), PeekObject(c, {"spec"})) << json::serialize(got);
  }
}

TEST_F(PluginsTest, ADefinitionIsServedOnceEstablishedAndTakesItsInstancesAlong) {
  const json::value crd = ReadJson("values.json").at("crd");
  Do("POST", kCrds, crd);
  Settle();
  const std::string crd_path = std::string(kCrds) + "/vals.crdfix.example", list = "/apis/crdfix.example/v1/vals";
  const json::value established = Do("GET", crd_path);
  EXPECT_EQ(PeekString(PeekArray(established, {"status", "conditions"})[1], {"reason"}), "InitialNamesAccepted");
  EXPECT_EQ(PeekString(established, {"status", "acceptedNames", "kind"}), "Val");
  const json::object held{{"apiVersion", "crdfix.example/v1"},
                          {"kind", "Val"},
                          {"metadata", {{"name", "held"}, {"finalizers", {"example.com/hold"}}}},
                          {"spec", {{"req", "r"}}}};
  Do("POST", list, held);
  ASSERT_EQ(code, 201);
  Do("DELETE", crd_path);
  EXPECT_EQ(code, 200);
  Settle();
  EXPECT_FALSE(PeekString(Do("GET", list + "/held"), {"metadata", "deletionTimestamp"}).empty());
  json::object another = held;
  another["metadata"] = {{"name", "another"}};
  EXPECT_EQ(PeekString(Do("POST", list, another), {"message"}),
            "vals.crdfix.example \"another\" is forbidden: create not allowed while custom resource definition is "
            "terminating");
  json::value live = Do("GET", list + "/held");
  live.as_object()["metadata"].as_object().erase("finalizers");
  Do("PUT", list + "/held", live);
  Settle();
  Do("GET", crd_path);
  EXPECT_EQ(code, 404);
  Do("GET", list);
  EXPECT_EQ(code, 404);
}

TEST_F(PluginsTest, DefaultsThatComeLaterShowOnReading) {
  json::value crd = ReadJson("values.json").at("crd");
  Do("POST", kCrds, crd);
  Settle();
  Do("POST", "/apis/crdfix.example/v1/vals",
     {{"apiVersion", "crdfix.example/v1"}, {"kind", "Val"}, {"metadata", {{"name", "v"}}}, {"spec", {{"req", "r"}}}});
  const std::string path = std::string(kCrds) + "/vals.crdfix.example";
  json::value live = Do("GET", path);
  live.at_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties").as_object()["late"] = {
      {"type", "string"}, {"default", "here"}};
  Do("PUT", path, live);
  ASSERT_EQ(code, 200);
  EXPECT_EQ(PeekString(Do("GET", "/apis/crdfix.example/v1/vals/v"), {"spec", "late"}), "here");
}

TEST_F(PluginsTest, NobodyGrantsWhatTheyDoNotHold) {
  Do("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
     {{"metadata", {{"name", "maker"}}},
      {"rules", json::array{{{"verbs", {"create"}},
                             {"apiGroups", {"rbac.authorization.k8s.io"}},
                             {"resources", {"roles", "rolebindings"}}}}}});
  Do("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
     {{"metadata", {{"name", "maker"}}},
      {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Role"}, {"name", "maker"}}},
      {"subjects", json::array{{{"kind", "ServiceAccount"}, {"name", "low"}, {"namespace", "default"}}}}});
  ASSERT_EQ(code, 201);
  const User low = User::ServiceAccount("default", "low");
  const json::value refused =
      DoAs(low, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
           {{"metadata", {{"name", "x"}}},
            {"rules", json::array{{{"verbs", {"get"}}, {"apiGroups", {""}}, {"resources", {"pods"}}}}}});
  EXPECT_EQ(code, 403);
  EXPECT_EQ(PeekString(refused, {"message"}),
            "roles.rbac.authorization.k8s.io \"x\" is forbidden: user \"system:serviceaccount:default:low\" "
            "(groups=[\"system:serviceaccounts\" \"system:serviceaccounts:default\" \"system:authenticated\"]) is "
            "attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], "
            "Verbs:[\"get\"]}");
  EXPECT_EQ(
      PeekString(DoAs(low, "GET", "/api/v1/nodes"), {"message"}),
      "nodes is forbidden: User \"system:serviceaccount:default:low\" cannot list resource \"nodes\" in API group "
      "\"\" at the cluster scope");
}

TEST_F(PluginsTest, ATokenSpeaksForItsAccountUntilItExpiresOrTheAccountIsGone) {
  Do("POST", "/api/v1/namespaces/default/serviceaccounts", {{"metadata", {{"name", "low"}}}});
  const json::value made = Do(
      "POST", "/api/v1/namespaces/default/serviceaccounts/low/token",
      {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", {{"expirationSeconds", 600}}}});
  ASSERT_EQ(code, 201) << json::serialize(made);
  const Credentials bearer = Bearer(PeekString(made, {"status", "token"}));
  Authenticator& who = cluster.control_plane().plugins().authenticator();
  const auto user = who.Authenticate(bearer);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "system:serviceaccount:default:low");
  EXPECT_TRUE(user->In("system:serviceaccounts:default"));
  EXPECT_EQ(who.Authenticate(Bearer("zzz")).error().code, 401);
  EXPECT_EQ(who.Authenticate({})->name, "system:anonymous");
  const json::value review = Do("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                {{"apiVersion", "authentication.k8s.io/v1"},
                                 {"kind", "TokenReview"},
                                 {"spec", {{"token", PeekString(made, {"status", "token"})}, {"audiences", {"foo"}}}}});
  EXPECT_EQ(PeekString(review, {"status", "error"}),
            "[invalid bearer token, token audiences [\"https://kubernetes.default.svc\"] is invalid for the target "
            "audiences [\"foo\"]]");
  cluster.RunFor(std::chrono::seconds(599));
  EXPECT_TRUE(who.Authenticate(bearer));
  cluster.RunFor(std::chrono::seconds(2));
  EXPECT_FALSE(who.Authenticate(bearer));
}

TEST_F(PluginsTest, BeingSomebodyElseIsAllowedForWhatIsAskedOrForEverythingAndRefusedInTheRealServersWords) {
  const auto allow = [&](const char* who, const json::array& rules) {
    Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {{"metadata", {{"name", who}}}, {"rules", rules}});
    Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
       {{"metadata", {{"name", who}}},
        {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", who}}},
        {"subjects", json::array{{{"kind", "User"}, {"name", who}, {"apiGroup", "rbac.authorization.k8s.io"}}}}});
    ASSERT_EQ(code, 201);
  };
  const auto rule = [](const char* group, const char* resource, const char* verb) {
    return json::object{{"apiGroups", {group}}, {"resources", {resource}}, {"verbs", {verb}}};
  };
  allow("carol", {rule("", "users", "impersonate")});
  allow("dave", {rule("", "namespaces", "impersonate-on:user-info:get")});
  allow("erin", {rule("", "namespaces", "impersonate-on:user-info:get"),
                 rule("authentication.k8s.io", "users", "impersonate:user-info")});
  Attributes asked;
  asked.verb = "get", asked.version = "v1", asked.resource = "namespaces", asked.ns = asked.name = "default";
  const auto outcome = [&](const char* who, Credentials as) {
    as.common_name = who;
    const auto user = cluster.control_plane().plugins().authenticator().Authenticate(as, User::Anonymous(), asked);
    return user ? "is " + user->name : user.error().message;
  };
  const auto to_be = [](const char* name) {
    Credentials as;
    as.as_user = name;
    return as;
  };
  const Credentials alice = to_be("alice");
  Credentials in_group = alice, with_uid = alice, with_extra = alice;
  in_group.as_groups = {"g"}, with_uid.as_uid = "7", with_extra.as_extra = {{"scopes", {"a"}}};
  const std::string on = "namespaces \"default\" is forbidden: User ";
  const std::string there = " resource \"namespaces\" in API group \"\" in the namespace \"default\"";
  const auto refused = [](std::string what, const char* who, const char* resource) {
    return what + " is forbidden: User \"" + who + "\" cannot impersonate:user-info resource \"" + resource +
           "\" in API group \"authentication.k8s.io\" at the cluster scope";
  };
  EXPECT_EQ(outcome("bob", alice), on + "\"bob\" cannot impersonate-on:user-info:get" + there);
  EXPECT_EQ(outcome("bob", to_be("system:serviceaccount:default:x")),
            on + "\"bob\" cannot impersonate-on:serviceaccount:get" + there);
  EXPECT_EQ(outcome("bob", to_be("system:node:n1")), on + "\"bob\" cannot impersonate-on:arbitrary-node:get" + there);
  EXPECT_EQ(outcome("carol", alice), "is alice");
  EXPECT_EQ(outcome("carol", in_group), on + "\"carol\" cannot impersonate-on:user-info:get" + there);
  EXPECT_EQ(outcome("dave", alice), refused("users.authentication.k8s.io \"alice\"", "dave", "users"));
  EXPECT_EQ(outcome("erin", alice), "is alice");
  EXPECT_EQ(outcome("erin", in_group), refused("groups.authentication.k8s.io \"g\"", "erin", "groups"));
  EXPECT_EQ(outcome("erin", with_uid), refused("uids.authentication.k8s.io \"7\"", "erin", "uids"));
  EXPECT_EQ(outcome("erin", with_extra),
            refused("userextras.authentication.k8s.io", "erin", "userextras") +
                ": impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"scopes\": must "
                "be a domain-prefixed path (such as \"acme.io/foo\")");
}

TEST_F(PluginsTest, AnEvictionSpendsTheBudgetAndTheNextOneWaits) {
  const auto make_pod = [&](const char* name) {
    const std::string pods = "/api/v1/namespaces/default/pods";
    Do("POST", pods,
       {{"metadata", {{"name", name}, {"labels", {{"app", "a"}}}}},
        {"spec", {{"nodeName", "n1"}, {"containers", json::array{{{"name", "c"}, {"image", "i"}}}}}}});
    json::value pod = Do("GET", pods + "/" + name);
    pod.as_object()["status"] = {{"phase", "Running"},
                                 {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}};
    Do("PUT", pods + "/" + name + "/status", pod);
    ASSERT_EQ(code, 200);
  };
  for (const char* name : {"p1", "p2"}) make_pod(name);
  Do("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
     {{"metadata", {{"name", "pdb-a"}}},
      {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "a"}}}}}}}});
  ASSERT_EQ(code, 201);
  const auto evict = [&](const std::string& name) {
    return Do("POST", "/api/v1/namespaces/default/pods/" + name + "/eviction",
              {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}});
  };
  const json::value early = evict("p1");
  EXPECT_EQ(code, 429);
  EXPECT_EQ(PeekString(PeekArray(early, {"details", "causes"})[0], {"message"}),
            "The disruption budget pdb-a is still being processed by the server.");
  Settle();
  EXPECT_EQ(PeekString(evict("p1"), {"status"}), "Success");
  EXPECT_EQ(code, 201);
  const json::value refused = evict("p2");
  EXPECT_EQ(code, 429);
  EXPECT_EQ(PeekString(refused, {"message"}), "Cannot evict pod as it would violate the pod's disruption budget.");
  Settle();
  EXPECT_EQ(PeekString(PeekArray(evict("p2"), {"details", "causes"})[0], {"message"}),
            "The disruption budget pdb-a needs 1 healthy pods and has 1 currently");
}

TEST_F(PluginsTest, ANewPodGetsAccountTokenPriorityAndTolerations) {
  const json::value pod = Do("POST", "/api/v1/namespaces/default/pods",
                             {{"metadata", {{"name", "p"}}},
                              {"spec",
                               {{"priorityClassName", "system-node-critical"},
                                {"containers", json::array{{{"name", "c"}, {"image", "i"}}}}}}});
  ASSERT_EQ(code, 201) << json::serialize(pod);
  EXPECT_EQ(PeekString(pod, {"spec", "serviceAccountName"}), "default");
  EXPECT_EQ(PeekInt(pod, {"spec", "priority"}), 2'000'001'000);
  EXPECT_EQ(PeekArray(pod, {"spec", "tolerations"}).size(), 2U);
  const json::value& volume = PeekArray(pod, {"spec", "volumes"})[0];
  EXPECT_TRUE(PeekString(volume, {"name"}).starts_with("kube-api-access-"));
  EXPECT_EQ(PeekString(PeekArray(PeekArray(pod, {"spec", "containers"})[0], {"volumeMounts"})[0], {"mountPath"}),
            "/var/run/secrets/kubernetes.io/serviceaccount");
  const auto refused = [&](const char* field, const char* value) {
    return std::string(
        PeekString(Do("POST", "/api/v1/namespaces/default/pods",
                      {{"metadata", {{"name", "x"}}},
                       {"spec", {{field, value}, {"containers", json::array{{{"name", "c"}, {"image", "i"}}}}}}}),
                   {"message"}));
  };
  EXPECT_EQ(refused("serviceAccountName", "zz"),
            "pods \"x\" is forbidden: error looking up service account default/zz: serviceaccount \"zz\" not found");
  EXPECT_EQ(refused("priorityClassName", "zz"), "pods \"x\" is forbidden: no PriorityClass with name zz was found");
  EXPECT_EQ(refused("runtimeClassName", "zz"), "pods \"x\" is forbidden: pod rejected: RuntimeClass \"zz\" not found");
}

TEST_F(PluginsTest, AggregatedRolesFollowTheRolesTheyCollect) {
  Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
     {{"metadata", {{"name", "more"}, {"labels", {{"rbac.authorization.k8s.io/aggregate-to-view", "true"}}}}},
      {"rules", json::array{{{"verbs", {"get"}}, {"apiGroups", {"x.example"}}, {"resources", {"foos"}}}}}});
  ASSERT_EQ(code, 201);
  Settle();
  for (const char* role : {"view", "edit", "admin"}) {
    const json::value found = Do("GET", std::string("/apis/rbac.authorization.k8s.io/v1/clusterroles/") + role);
    EXPECT_TRUE(json::serialize(found).contains("x.example")) << role;
  }
}

}  // namespace
}  // namespace gpuop::sim
