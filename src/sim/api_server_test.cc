#include "sim/api_server.h"

#include "sim/api_server_fixture_test.h"

namespace gpuop::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ApiServerTest, CreateSetsWhatTheServerOwns) {
  const value made = Do("POST", kMaps,
                        R"({"metadata":{"name":"a","uid":"mine","creationTimestamp":"2020-01-01T00:00:00Z",)"
                        R"("selfLink":"x"},"data":{"k":"v"}})");
  EXPECT_EQ(status_, 201);
  EXPECT_EQ(At(made, "kind"), "ConfigMap");
  EXPECT_EQ(At(made, "apiVersion"), "v1");
  EXPECT_EQ(At(made, "metadata.namespace"), "default");
  EXPECT_EQ(At(made, "metadata.uid").size(), 36u);
  EXPECT_EQ(At(made, "metadata.creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(At(made, "metadata.selfLink"), "");
  EXPECT_EQ(Get(std::string(kMaps) + "/a"), made);
}

TEST_F(ApiServerTest, GeneratesNamesThatAreFree) {
  const value a = Do("POST", kMaps, R"({"metadata":{"generateName":"x-"}})");
  const value b = Do("POST", kMaps, R"({"metadata":{"generateName":"x-"}})");
  EXPECT_THAT(At(a, "metadata.name"), testing::MatchesRegex("x-[a-z0-9]{5}"));
  EXPECT_NE(At(a, "metadata.name"), At(b, "metadata.name"));
}

struct Refusal {
  const char *name, *method, *path, *body, *type;
  int status;
  const char *reason, *message;
};

class RefusalTest : public ApiServerTest, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusalTest, IsToldInTheRealServersWords) {
  Make("there");
  const Refusal& c = GetParam();
  const value answer = Do(c.method, c.path, c.body, c.type);
  EXPECT_EQ(status_, c.status);
  EXPECT_EQ(At(answer, "kind"), "Status");
  EXPECT_EQ(At(answer, "reason"), c.reason);
  std::string want = c.message;
  if (const auto at = want.find("$NOW"); at != std::string::npos)
    want.replace(at, 4, std::to_string(cluster_.store().revision()));
  EXPECT_EQ(Message(answer), want);
}

constexpr char kJson[] = "application/json";
constexpr char kThere[] = "/api/v1/namespaces/default/configmaps/there";

INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    testing::Values(
        Refusal{"NoSuchObject", "GET", "/api/v1/nodes/n", "", "", 404, "NotFound", "nodes \"n\" not found"},
        Refusal{"NoSuchGroupedObject", "GET", "/apis/apps/v1/namespaces/default/deployments/d", "", "", 404, "NotFound",
                "deployments.apps \"d\" not found"},
        Refusal{"NoSuchResource", "GET", "/api/v1/foos", "", "", 404, "NotFound",
                "the server could not find the requested resource"},
        Refusal{"ClusterResourceInANamespace", "GET", "/api/v1/namespaces/default/nodes", "", "", 404, "NotFound",
                "the server could not find the requested resource"},
        Refusal{"PostToAName", "POST", kThere, "{}", kJson, 405, "MethodNotAllowed",
                "the server does not allow this method on the requested resource"},
        Refusal{"PostWithoutANamespace", "POST", "/api/v1/configmaps", "{}", kJson, 405, "MethodNotAllowed",
                "the server does not allow this method on the requested resource"},
        Refusal{"DeleteAllNamespaces", "DELETE", "/api/v1/namespaces", "", "", 405, "MethodNotAllowed",
                "the server does not allow this method on the requested resource"},
        Refusal{"StrangeBody", "POST", kMaps, "{}", "text/plain", 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: application/json, "
                "application/yaml, application/vnd.kubernetes.protobuf"},
        Refusal{"StrangePatch", "PATCH", kThere, "{}", kJson, 415, "UnsupportedMediaType",
                "415: Unsupported Media Type"},
        Refusal{"Again", "POST", kMaps, R"({"metadata":{"name":"there"}})", kJson, 409, "AlreadyExists",
                "configmaps \"there\" already exists"},
        Refusal{"NoName", "POST", kMaps, R"({"metadata":{}})", kJson, 422, "Invalid",
                "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"},
        Refusal{"OtherNamespace", "POST", kMaps, R"({"metadata":{"name":"a","namespace":"b"}})", kJson, 400,
                "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
        Refusal{"NoSuchNamespace", "POST", "/api/v1/namespaces/none/configmaps", R"({"metadata":{"name":"a"}})", kJson,
                404, "NotFound", "namespaces \"none\" not found"},
        Refusal{
            "OtherKind", "POST", kMaps, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})", kJson, 400,
            "BadRequest",
            "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown "
            "conversion"},
        Refusal{
            "StaleUpdate", "PUT", kThere, R"({"metadata":{"name":"there","resourceVersion":"1"}})", kJson, 409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"there\": the object has been modified; please apply your "
            "changes to the latest version and try again"},
        Refusal{"OtherNameOnUrl", "PUT", kThere, R"({"metadata":{"name":"other"}})", kJson, 400, "BadRequest",
                "the name of the object (other) does not match the name on the URL (there)"},
        Refusal{"NoNameInBody", "PUT", kThere, R"({"metadata":{}})", kJson, 400, "BadRequest",
                "the name of the object (there based on URL) was undeterminable: name must be provided"},
        Refusal{"UpdateOfNothing", "PUT", "/api/v1/namespaces/default/configmaps/no", R"({"metadata":{"name":"no"}})",
                kJson, 404, "NotFound", "configmaps \"no\" not found"},
        Refusal{"LeaseWithoutRevision", "DELETE", "/api/v1/namespaces/default", "", "", 403, "Forbidden",
                "namespaces \"default\" is forbidden: this namespace may not be deleted"},
        Refusal{"ImmutableUid", "PATCH", kThere, R"({"metadata":{"uid":"zz"}})", kMerge, 422, "Invalid",
                "ConfigMap \"there\" is invalid: metadata.uid: Invalid value: \"zz\": field is immutable"},
        Refusal{"PatchThatIsAList", "PATCH", kThere, "[1]", kMerge, 400, "BadRequest",
                "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"},
        Refusal{"JsonPatchThatFails", "PATCH", kThere, R"([{"op":"remove","path":"/data/zz"}])",
                "application/json-patch+json", 422, "Invalid",
                "the server rejected our request due to an error in our request"},
        Refusal{"DryRunOfSomethingElse", "POST", "/api/v1/namespaces/default/configmaps?dryRun=Foo",
                R"({"metadata":{"name":"x"}})", kJson, 422, "Invalid",
                "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Foo\"]: supported values: "
                "\"All\""},
        Refusal{"ApplyWithoutManager", "PATCH", kThere, "{}", "application/apply-patch+yaml", 422, "Invalid",
                "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"},
        Refusal{"BadPropagation", "DELETE", kThere, R"({"propagationPolicy":"Foo"})", kJson, 422, "Invalid",
                "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": supported "
                "values: "
                "\"Foreground\", \"Background\", \"Orphan\", \"nil\""},
        Refusal{"UnknownField", "GET", "/api/v1/namespaces/default/configmaps?fieldSelector=data.x%3Db", "", "", 400,
                "BadRequest",
                "\"data.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
        Refusal{"MatchWithoutRevision", "GET", "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact", "",
                "", 422, "Invalid",
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is "
                "forbidden "
                "unless resourceVersion is provided"},
        Refusal{"FutureRevision", "GET", "/api/v1/namespaces/default/configmaps?resourceVersion=99999", "", "", 504,
                "Timeout", "Timeout: Too large resource version: 99999, current: $NOW"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST_F(ApiServerTest, AConflictOfPreconditionsNamesBothSides) {
  const value made = Make("a");
  const value answer = Do("DELETE", std::string(kMaps) + "/a", R"({"preconditions":{"uid":"abc"}})");
  EXPECT_EQ(status_, 409);
  EXPECT_EQ(Message(answer),
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (abc) does not "
            "match the UID in record (" +
                At(made, "metadata.uid") + "). The object might have been deleted and then recreated");
}

TEST_F(ApiServerTest, ListsPageOverASnapshot) {
  for (const char* name : {"a", "b", "c", "d"}) Make(name);
  const value first = Get(std::string(kMaps) + "?limit=2");
  EXPECT_THAT(Names(first), ElementsAre("a", "b"));
  EXPECT_EQ(data::IntOr(first, "metadata.remainingItemCount"), 2);
  Make("bb");
  Do("DELETE", std::string(kMaps) + "/d");
  const value second = Get(std::string(kMaps) + "?limit=9&continue=" + At(first, "metadata.continue"));
  EXPECT_THAT(Names(second), ElementsAre("c", "d"));
  EXPECT_EQ(At(second, "metadata.resourceVersion"), At(first, "metadata.resourceVersion"));
  EXPECT_EQ(At(second, "metadata.continue"), "");
}

TEST_F(ApiServerTest, AnExpiredPageOffersToGoOnInconsistently) {
  for (const char* name : {"a", "b", "c"}) Make(name);
  const value first = Get(std::string(kMaps) + "?limit=1");
  Make("bb");
  cluster_.store().Compact(cluster_.store().revision());
  const value expired = Get(std::string(kMaps) + "?limit=1&continue=" + At(first, "metadata.continue"));
  EXPECT_EQ(status_, 410);
  EXPECT_EQ(At(expired, "reason"), "Expired");
  const value rest = Get(std::string(kMaps) + "?continue=" + At(expired, "metadata.continue"));
  EXPECT_THAT(Names(rest), ElementsAre("b", "bb", "c"));
}

TEST_F(ApiServerTest, ItemsOfBuiltInListsSayNoKind) {
  Make("a");
  const value list = Get(kMaps);
  EXPECT_EQ(At(list, "kind"), "ConfigMapList");
  EXPECT_FALSE(list.at("items").at(0).as_object().contains("kind"));
}

TEST_F(ApiServerTest, SelectsByLabelsAndFields) {
  Make("a", R"(,"labels":{"x":"1"})");
  Make("b", R"(,"labels":{"x":"2"})");
  EXPECT_THAT(Names(Get(std::string(kMaps) + "?labelSelector=x%3D2")), ElementsAre("b"));
  EXPECT_THAT(Names(Get(std::string(kMaps) + "?fieldSelector=metadata.name%3Da")), ElementsAre("a"));
  EXPECT_THAT(Names(Get("/api/v1/configmaps?fieldSelector=metadata.name!%3Da")), ElementsAre("b"));
}

TEST_F(ApiServerTest, AnUpdateThatChangesNothingKeepsTheRevision) {
  const value made = Make("a");
  const value same = Do("PUT", std::string(kMaps) + "/a", data::ToJson(made));
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(At(same, "metadata.resourceVersion"), At(made, "metadata.resourceVersion"));
  EXPECT_EQ(cluster_.store().revision(), static_cast<std::uint64_t>(std::stoll(At(made, "metadata.resourceVersion"))));
}

constexpr char kDeployments[] = "/apis/apps/v1/namespaces/default/deployments";
constexpr char kDeployment[] =
    R"({"metadata":{"name":"d","labels":{"l":"1"}},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},)"
    R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},)"
    R"("status":{"replicas":7}})";

TEST_F(ApiServerTest, StatusAndSpecAreWrittenApart) {
  value d = Do("POST", kDeployments, kDeployment);
  EXPECT_EQ(status_, 201);
  EXPECT_EQ(data::IntOr(d, "status.replicas", -1), -1);
  EXPECT_EQ(data::IntOr(d, "metadata.generation"), 1);
  const std::string one = std::string(kDeployments) + "/d";
  d = Do("PATCH", one, R"({"spec":{"replicas":2},"status":{"replicas":5}})", kMerge);
  EXPECT_EQ(data::IntOr(d, "metadata.generation"), 2);
  EXPECT_EQ(data::IntOr(d, "status.replicas", -1), -1);
  d = Do("PATCH", one + "/status", R"({"metadata":{"labels":{"l":"2"}},"spec":{"replicas":9},"status":{"replicas":5}})",
         kMerge);
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(data::IntOr(d, "metadata.generation"), 2);
  EXPECT_EQ(data::IntOr(d, "spec.replicas"), 2);
  EXPECT_EQ(data::IntOr(d, "status.replicas"), 5);
  EXPECT_EQ(At(d, "metadata.labels.l"), "1");
  d = Do("PATCH", one, R"({"metadata":{"labels":{"x":"y"}}})", kMerge);
  EXPECT_EQ(data::IntOr(d, "metadata.generation"), 2);
  // Deployments count changes of annotations too.
  d = Do("PATCH", one, R"({"metadata":{"annotations":{"x":"y"}}})", kMerge);
  EXPECT_EQ(data::IntOr(d, "metadata.generation"), 3);
}

TEST_F(ApiServerTest, ScaleIsAViewOfReplicas) {
  Do("POST", kDeployments, kDeployment);
  const std::string scale = std::string(kDeployments) + "/d/scale";
  const value before = Get(scale);
  EXPECT_EQ(At(before, "kind"), "Scale");
  EXPECT_EQ(At(before, "status.selector"), "a=b");
  const value after = Do("PATCH", scale, R"({"spec":{"replicas":4}})", kMerge);
  EXPECT_EQ(data::IntOr(after, "spec.replicas"), 4);
  EXPECT_EQ(data::IntOr(Get(std::string(kDeployments) + "/d"), "spec.replicas"), 4);
  const value refused = Do("PATCH", scale, R"({"spec":{"replicas":-1}})", kMerge);
  EXPECT_EQ(Message(refused),
            "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0");
}

TEST_F(ApiServerTest, StrategicPatchesMergeListsByKey) {
  Do("POST", kDeployments, kDeployment);
  const value d = Do("PATCH", std::string(kDeployments) + "/d",
                     R"({"spec":{"template":{"spec":{"containers":[{"name":"c2","image":"j"}]}}}})",
                     "application/strategic-merge-patch+json");
  EXPECT_EQ(data::GetArray(d, "spec.template.spec.containers")->size(), 2u);
}

TEST_F(ApiServerTest, DryRunChangesNothing) {
  const std::uint64_t before = cluster_.store().revision();
  Do("POST", std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(status_, 201);
  Get(std::string(kMaps) + "/a");
  EXPECT_EQ(status_, 404);
  EXPECT_EQ(cluster_.store().revision(), before);
}

TEST_F(ApiServerTest, FinalizersHoldAnObjectUntilTheLastIsGone) {
  Make("a", R"(,"finalizers":["x.y/z"])");
  const std::string one = std::string(kMaps) + "/a";
  const value marked = Do("DELETE", one);
  EXPECT_EQ(At(marked, "metadata.deletionTimestamp"), "2026-01-01T00:00:00Z");
  const value refused = Do("PATCH", one, R"({"metadata":{"finalizers":["x.y/z","q/r"]}})", kMerge);
  EXPECT_EQ(status_, 422);
  EXPECT_THAT(Message(refused), HasSubstr("no new finalizers can be added if the object is being deleted, found new "
                                          "finalizers []string{\"q/r\"}"));
  Do("PATCH", one, R"({"metadata":{"finalizers":null}})", kMerge);
  EXPECT_EQ(status_, 200);
  Get(one);
  EXPECT_EQ(status_, 404);
}

TEST_F(ApiServerTest, PropagationPoliciesBecomeFinalizers) {
  Make("a");
  const value foreground = Do("DELETE", std::string(kMaps) + "/a", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(foreground.at("metadata").at("finalizers"), value(boost::json::array{"foregroundDeletion"}));
  Make("b");
  const value orphan = Do("DELETE", std::string(kMaps) + "/b", R"({"propagationPolicy":"Orphan"})");
  EXPECT_EQ(orphan.at("metadata").at("finalizers"), value(boost::json::array{"orphan"}));
  Make("c");
  const value gone = Do("DELETE", std::string(kMaps) + "/c", R"({"propagationPolicy":"Background"})");
  EXPECT_EQ(At(gone, "status"), "Success");
  EXPECT_EQ(At(gone, "details.kind"), "configmaps");
}

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kPod[] = R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})";

TEST_F(ApiServerTest, PodsAreGivenTimeToStop) {
  Do("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"default"}})");
  Do("POST", kPods, kPod);
  ASSERT_EQ(status_, 201);
  const std::string one = std::string(kPods) + "/p";
  value p = Do("DELETE", one, R"({"gracePeriodSeconds":7})");
  EXPECT_EQ(At(p, "metadata.deletionTimestamp"), "2026-01-01T00:00:07Z");
  EXPECT_EQ(data::IntOr(p, "metadata.generation"), 2);
  p = Do("DELETE", one, R"({"gracePeriodSeconds":3})");
  EXPECT_EQ(At(p, "metadata.deletionTimestamp"), "2026-01-01T00:00:03Z");
  p = Do("DELETE", one, R"({"gracePeriodSeconds":9})");
  EXPECT_EQ(data::IntOr(p, "metadata.deletionGracePeriodSeconds"), 3);
  Do("DELETE", one, R"({"gracePeriodSeconds":0})");
  Get(one);
  EXPECT_EQ(status_, 404);
}

TEST_F(ApiServerTest, BindingSetsTheNodeOnce) {
  Do("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"default"}})");
  Do("POST", kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  const std::string bind = std::string(kPods) + "/p/binding",
                    body = R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})";
  Do("POST", bind, body);
  EXPECT_EQ(status_, 201);
  EXPECT_EQ(At(Get(std::string(kPods) + "/p"), "spec.nodeName"), "n");
  EXPECT_EQ(Message(Do("POST", bind, body)),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\"");
}

TEST_F(ApiServerTest, ATerminatingNamespaceTakesNothingNewAndGoesWhenFinalized) {
  Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"t","finalizers":[]}})");
  const value deleted = Do("DELETE", "/api/v1/namespaces/t");
  EXPECT_EQ(At(deleted, "status.phase"), "Terminating");
  const value refused = Do("POST", "/api/v1/namespaces/t/configmaps", R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(
      Message(refused),
      "configmaps \"x\" is forbidden: unable to create new content in namespace t because it is being terminated");
  EXPECT_EQ(At(refused.at("details").at("causes").at(0), "reason"), "NamespaceTerminating");
  Do("PUT", "/api/v1/namespaces/t/finalize",
     R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"t"},"spec":{"finalizers":[]}})");
  EXPECT_EQ(status_, 200);
  Get("/api/v1/namespaces/t");
  EXPECT_EQ(status_, 404);
}

TEST_F(ApiServerTest, EventsAreOneThingInTwoGroups) {
  Do("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
     R"({"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","reason":"R","note":"N","action":"A",)"
     R"("reportingController":"c","reportingInstance":"i","type":"Normal","regarding":{"kind":"Pod","name":"p"}})");
  ASSERT_EQ(status_, 201);
  const value core = Get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp");
  EXPECT_EQ(At(core.at("items").at(0), "message"), "N");
  const value other = Get("/apis/events.k8s.io/v1/namespaces/default/events/e");
  EXPECT_EQ(At(other, "note"), "N");
  EXPECT_EQ(At(other, "apiVersion"), "events.k8s.io/v1");
}

TEST_F(ApiServerTest, FaultsStrikeAtTheDoor) {
  FaultRule rule;
  rule.verb = "get", rule.resource = "configmaps", rule.code = 503, rule.times = 2;
  cluster_.faults().Add(rule);
  kube::ApiRequest get;
  get.path = std::string(kMaps) + "/a";
  const auto call = [&] { return cluster_.door().Call(get, std::chrono::seconds(1), {})->status; };
  EXPECT_EQ(call(), 503);
  EXPECT_EQ(call(), 503);
  EXPECT_EQ(call(), 404);
  EXPECT_EQ(cluster_.faults().struck(), 2u);
  cluster_.faults().AddConflictStorm("", "configmaps", 1, std::nullopt);
  get.method = "PUT";
  const auto conflict = cluster_.door().Call(get, std::chrono::seconds(1), {});
  EXPECT_EQ(conflict->status, 409);
  EXPECT_THAT(conflict->body, HasSubstr("the object has been modified"));
  FaultRule slow;
  slow.delay = std::chrono::seconds(2);
  cluster_.faults().Clear();
  cluster_.faults().Add(slow);
  EXPECT_EQ(cluster_.door().Call(get, std::chrono::seconds(1), {}).error().code, Code::kTimeout);
}

TEST(ClusterTest, EqualSeedsGiveEqualRuns) {
  const auto run = [](std::uint64_t seed) {
    Cluster cluster(seed);
    for (int i = 0; i < 20; ++i) cluster.Call("POST", kMaps, R"({"metadata":{"generateName":"x-"}})");
    return cluster.executor().TraceHash();
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(run(seed), run(seed));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace gpuop::sim
