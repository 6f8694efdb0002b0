#include "kube/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/discovery.h"
#include "kube/door_fake.h"
#include "kube/types/core.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::kube {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// A door that keeps the last request and answers what it is told.
class ScriptDoor final : public Door {
 public:
  Result<ApiResponse> Call(const ApiRequest& request, Duration, std::stop_token) override {
    requests.push_back(request);
    if (answers.empty()) return ApiResponse{200, "application/json", "{}", {}};
    auto answer = std::move(answers.front());
    answers.erase(answers.begin());
    return answer;
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::shared_ptr<StreamSink>) override {
    requests.push_back(request);
    return std::make_unique<Stream>();
  }
  /// "GET /path?a=b&c=d [content type] body" of the last request.
  std::string Last() const {
    const ApiRequest& r = requests.back();
    std::string out = r.method + " " + r.path;
    for (std::size_t i = 0; i < r.query.size(); ++i)
      out.append(i == 0 ? "?" : "&").append(r.query[i].first).append("=").append(r.query[i].second);
    if (!r.content_type.empty()) out.append(" [").append(r.content_type).append("] ").append(r.body);
    return out;
  }

  std::vector<ApiRequest> requests;
  std::vector<Result<ApiResponse>> answers;
};

TEST(Client, EachVerbIsTheRequestThatTheApiDescribes) {
  ScriptDoor door;
  const Client c(door);
  const ObjectRef pod = Ref<Pod>("x", "p");
  const json::object body{{"metadata", {{"namespace", "x"}, {"name", "p"}}}};
  ASSERT_TRUE(c.Get(pod));
  EXPECT_EQ(door.Last(), "GET /api/v1/namespaces/x/pods/p");
  ASSERT_TRUE(c.Create(Pod::kResource, body, {.dry_run = true, .field_validation = FieldValidation::kStrict}));
  EXPECT_EQ(door.Last(),
            "POST /api/v1/namespaces/x/pods?dryRun=All&fieldManager=gpu-operator&fieldValidation=Strict "
            "[application/json] {\"metadata\":{\"namespace\":\"x\",\"name\":\"p\"}}");
  ObjectRef status = pod;
  status.subresource = "status";
  ASSERT_TRUE(c.Update(status, body, {.field_manager = "me"}));
  EXPECT_TRUE(door.Last().starts_with("PUT /api/v1/namespaces/x/pods/p/status?fieldManager=me [application/json]"));
  ASSERT_TRUE(c.Patch(pod, PatchType::kStrategic, json::object{{"a", 1}}));
  EXPECT_EQ(door.Last(),
            "PATCH /api/v1/namespaces/x/pods/p?fieldManager=gpu-operator "
            "[application/strategic-merge-patch+json] {\"a\":1}");
  ASSERT_TRUE(c.Patch(pod, PatchType::kMerge, json::object{{"a", 1}}, {.only_metadata = true}));
  EXPECT_TRUE(door.requests.back().accept.starts_with("application/json;as=PartialObjectMetadata;"));
  ASSERT_TRUE(c.Apply(pod, {{"a", 1}}));
  EXPECT_EQ(door.Last(),
            "PATCH /api/v1/namespaces/x/pods/p?fieldManager=gpu-operator&force=true "
            "[application/apply-patch+yaml] {\"a\":1}");
  ASSERT_TRUE(c.Delete(pod, {.grace_seconds = 0, .propagation = Propagation::kForeground, .uid = "u"}));
  EXPECT_EQ(door.Last(),
            "DELETE /api/v1/namespaces/x/pods/p [application/json] {\"kind\":\"DeleteOptions\","
            "\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Foreground\","
            "\"preconditions\":{\"uid\":\"u\"}}");
  ASSERT_TRUE(c.DeleteCollection(Pod::kResource, {.ns = "x", .label_selector = "a=b"}));
  EXPECT_TRUE(door.Last().starts_with("DELETE /api/v1/namespaces/x/pods?labelSelector=a=b [application/json]"));
  ASSERT_TRUE(c.Evict("x", "p"));
  EXPECT_TRUE(door.Last().starts_with("POST /api/v1/namespaces/x/pods/p/eviction?fieldManager=gpu-operator"));
  ASSERT_TRUE(c.SetScale({{"apps", "v1", "deployments", "Deployment", true}, "x", "d", {}}, 3));
  EXPECT_EQ(door.Last(),
            "PATCH /apis/apps/v1/namespaces/x/deployments/d/scale?fieldManager=gpu-operator "
            "[application/merge-patch+json] {\"spec\":{\"replicas\":3}}");
  ASSERT_TRUE(c.Logs("x", "p", {.container = "c", .previous = true, .tail_lines = 5}));
  EXPECT_EQ(door.Last(), "GET /api/v1/namespaces/x/pods/p/log?container=c&previous=true&tailLines=5");
  const auto watch = c.Watch(Node::kResource, {.resource_version = "7", .timeout = 5min}, nullptr);
  EXPECT_EQ(door.Last(), "GET /api/v1/nodes?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=300");
}

TEST(Client, ListsPageByPage) {
  VirtualExecutor executor(1);
  FakeDoor fake(executor);
  CountingDoor door(fake);
  for (int i = 0; i < 5; ++i) fake.Put(Node::kResource, {{"metadata", {{"name", "n" + std::to_string(i)}}}});
  const auto nodes = Client(door).List<Node>({.limit = 2});
  ASSERT_TRUE(nodes) << nodes.error().text;
  EXPECT_EQ(nodes->size(), 5U);
  EXPECT_EQ(nodes->back().meta.name, "n4");
  EXPECT_EQ(door.Answered({"list", "nodes"}, "200"), 3U);
}

TEST(Client, AConflictIsTheCallersAndIsNotRepeated) {
  ScriptDoor door;
  door.answers.push_back(Modified(Pod::kResource, "p").ToResponse());
  Client::Options o;
  o.wait = [](Duration, const std::stop_token&) { return true; };
  const auto r = Client(door, o).Patch(Ref<Pod>("x", "p"), PatchType::kMerge, json::object());
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::kConflict);
  EXPECT_EQ(door.requests.size(), 1U);
}

struct RetryCase {
  const char* name;
  const char* method;
  Result<ApiResponse> first;
  std::size_t requests;
};

TEST(Client, RepeatsOnlyWhatIsSafe) {
  const Result<ApiResponse> lost = Fail(Code::kIo, "connection reset");
  const RetryCase cases[] = {
      {"a refused write that says when", "POST", TooManyRequests("slow", 2).ToResponse(), 2},
      {"a refused write that does not", "POST", TooManyRequests("slow", 0).ToResponse(), 1},
      {"longer than the caller waits", "GET", Unavailable("busy", 3600).ToResponse(), 1},
      {"a read without an answer", "GET", lost, 2},
      {"a write without an answer", "POST", lost, 1},
      {"a time-out", "GET", Fail(Code::kTimeout, "late"), 1},
      {"a plain refusal", "GET", NotFound(Pod::kResource, "p").ToResponse(), 1},
  };
  for (const RetryCase& c : cases) {
    ScriptDoor door;
    door.answers.push_back(c.first);
    std::vector<Duration> waits;
    Client::Options o;
    o.wait = [&waits](Duration d, const std::stop_token&) {
      waits.push_back(d);
      return true;
    };
    ApiRequest request;
    request.method = c.method;
    request.path = "/api/v1/pods";
    EXPECT_EQ(Client(door, o).Send(request).has_value(), c.requests == 2) << c.name;
    EXPECT_EQ(door.requests.size(), c.requests) << c.name;
    if (c.first && c.requests == 2) EXPECT_EQ(waits, std::vector<Duration>{2s}) << c.name;
  }
}

TEST(Client, AttemptsAreBounded) {
  ScriptDoor door;
  for (int i = 0; i < 10; ++i) door.answers.push_back(Unavailable("busy", 1).ToResponse());
  Client::Options o;
  o.wait = [](Duration, const std::stop_token&) { return true; };
  const auto r = Client(door, o).Get(Ref<Pod>("x", "p"));
  EXPECT_EQ(door.requests.size(), 4U);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error(), (Error{Code::kUnavailable, "busy"}));
}

TEST(Client, AStopEndsTheWaiting) {
  std::stop_source stop;
  std::jthread later([&stop] { stop.request_stop(); });
  EXPECT_FALSE(BlockingWait(1h, stop.get_token()));
  EXPECT_TRUE(BlockingWait(1ms, std::stop_token()));
}

TEST(Client, AnAnswerThatIsNoJsonNamesTheRequest) {
  ScriptDoor door;
  door.answers.push_back(ApiResponse{200, "text/html", "<html>", {}});
  const auto r = Client(door).Get(Ref<Pod>("x", "p"));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::kInvalid);
  EXPECT_TRUE(r.error().text.starts_with("GET /api/v1/namespaces/x/pods/p: bad JSON")) << r.error().text;
}

TEST(CountingDoor, TellsVerbsResourcesAndCodes) {
  VirtualExecutor executor(1);
  FakeDoor fake(executor);
  MetricRegistry metrics;
  CountingDoor door(fake, &metrics);
  const Client c(door);
  const CallScope calls(door);
  EXPECT_EQ(calls.ToString(), "");
  EXPECT_FALSE(c.Get(Ref<Node>("n")));
  ASSERT_TRUE(c.Create(Node::kResource, {{"metadata", {{"name", "n"}}}}));
  ASSERT_TRUE(c.Apply(Ref<Node>("n"), {{"metadata", {{"name", "n"}, {"labels", {{"a", "b"}}}}}}));
  EXPECT_EQ(calls.ToString(), "1 apply nodes, 1 create nodes, 1 get nodes");
  EXPECT_EQ(calls.Writes(), 2U);
  EXPECT_EQ(calls.Reads(), 1U);
  EXPECT_EQ(door.Answered({"get", "nodes"}, "404"), 1U);
  EXPECT_NE(metrics.Text().find("kube_requests_total{verb=\"create\",resource=\"nodes\",code=\"201\"} 1\n"),
            std::string::npos)
      << metrics.Text();
}

TEST(Discovery, ReadsTheAggregatedForm) {
  ScriptDoor door;
  door.answers.push_back(ApiResponse{200,
                                     "",
                                     R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
    {"version":"v1","resources":[{"resource":"nodes","responseKind":{"group":"","version":"","kind":"Node"},
    "scope":"Cluster","singularResource":"node","verbs":["get","list"],"shortNames":["no"],
    "subresources":[{"subresource":"status"}]}]}]}]})",
                                     {}});
  door.answers.push_back(ApiResponse{200,
                                     "",
                                     R"({"kind":"APIGroupDiscoveryList","items":[
    {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"daemonsets",
    "responseKind":{"kind":"DaemonSet"},"scope":"Namespaced","verbs":["get"]}]}]}]})",
                                     {}});
  VirtualExecutor clock(1);
  Discovery d(Client(door), clock);
  const auto node = d.FindKind("", "v1", "Node");
  ASSERT_TRUE(node) << node.error().text;
  EXPECT_EQ(node->resource, (Resource{"", "v1", "nodes", "Node", false}));
  EXPECT_TRUE(node->subresources.contains("status"));
  EXPECT_EQ(d.FindPlural("apps", "", "daemonsets")->resource,
            (Resource{"apps", "v1", "daemonsets", "DaemonSet", true}));
  EXPECT_EQ(d.FindFor({{"apiVersion", "apps/v1"}, {"kind", "DaemonSet"}})->resource.plural, "daemonsets");
  EXPECT_EQ(door.requests.size(), 2U);
}

ApiResponse Plain(const std::string& path, bool with_crd) {
  std::string body;
  if (path == "/api") body = R"({"kind":"APIVersions","versions":["v1"]})";
  if (path == "/apis")
    body = std::string(R"({"kind":"APIGroupList","groups":[)") +
           (with_crd ? R"({"name":"nvidia.com","versions":[{"groupVersion":"nvidia.com/v1"}]},)" : "") +
           R"({"name":"down.example.com","versions":[{"groupVersion":"down.example.com/v1"}]}]})";
  if (path == "/api/v1")
    body = R"({"groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["get"]},
      {"name":"pods/status","kind":"Pod","namespaced":true}]})";
  if (path == "/apis/nvidia.com/v1")
    body = R"({"groupVersion":"nvidia.com/v1","resources":[{"name":"clusterpolicies","kind":"ClusterPolicy"}]})";
  return body.empty() ? Unavailable("down").ToResponse() : ApiResponse{200, "application/json", body, {}};
}

TEST(Discovery, FallsBackToPlainListsAndLooksAgainForWhatIsUnknown) {
  VirtualExecutor executor(1);
  FakeDoor fake(executor);
  CountingDoor door(fake);
  bool with_crd = false;
  fake.Intercept([&](const ApiRequest& r) { return Result<ApiResponse>(Plain(r.path, with_crd)); });
  Discovery d(Client(door), executor);
  EXPECT_TRUE(d.FindKind("", "v1", "Pod")->subresources.contains("status"));
  const auto unknown = d.FindKind("nvidia.com", "v1", "ClusterPolicy");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_EQ(unknown.error().text, "the server does not serve nvidia.com/v1 ClusterPolicy");
  with_crd = true;
  const CallScope calls(door);
  EXPECT_FALSE(d.FindKind("nvidia.com", "v1", "ClusterPolicy"));
  EXPECT_EQ(calls.ToString(), "");  // asked a moment ago
  executor.RunFor(10s);
  EXPECT_EQ(d.FindKind("nvidia.com", "v1", "ClusterPolicy")->resource.plural, "clusterpolicies");
}

}  // namespace
}  // namespace gpuop::kube
