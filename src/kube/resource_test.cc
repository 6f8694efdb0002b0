#include "kube/resource.h"

#include <gtest/gtest.h>

#include "kube/list_text.h"
#include "kube/status.h"

namespace gpuop::kube {
namespace {

const Resource kPods{"", "v1", "pods", "Pod", true};
const Resource kDaemonSets{"apps", "v1", "daemonsets", "DaemonSet", true};

TEST(Resource, PathsAreBuiltAsTheApiServesThem) {
  EXPECT_EQ(PathOf({kPods, "default", "", ""}), "/api/v1/namespaces/default/pods");
  EXPECT_EQ(PathOf({kPods, "", "", ""}), "/api/v1/pods");
  EXPECT_EQ(PathOf({kDaemonSets, "x", "a b", "status"}), "/apis/apps/v1/namespaces/x/daemonsets/a%20b/status");
}

struct PathCase {
  const char* path;
  RequestPath want;
};

TEST(Resource, PathsAreTakenApartAsTheApiServerDoes) {
  const PathCase cases[] = {
      {"/api/v1", {"", "v1", "", "", "", "", ""}},
      {"/api/v1/nodes/n1", {"", "v1", "", "nodes", "n1", "", ""}},
      {"/api/v1/namespaces", {"", "v1", "", "namespaces", "", "", ""}},
      {"/api/v1/namespaces/x", {"", "v1", "x", "namespaces", "x", "", ""}},
      {"/api/v1/namespaces/x/status", {"", "v1", "x", "namespaces", "x", "status", ""}},
      {"/api/v1/namespaces/x/finalize", {"", "v1", "x", "namespaces", "x", "finalize", ""}},
      {"/api/v1/namespaces/x/pods", {"", "v1", "x", "pods", "", "", ""}},
      {"/apis/apps/v1/namespaces/x/daemonsets/d/scale", {"apps", "v1", "x", "daemonsets", "d", "scale", ""}},
      {"/api/v1/nodes/n1/proxy/metrics/cadvisor", {"", "v1", "", "nodes", "n1", "proxy", "metrics/cadvisor"}},
      {"/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
       {"rbac.authorization.k8s.io", "v1", "", "clusterroles", "system:node", "", ""}},
  };
  for (const PathCase& c : cases) {
    const auto path = ParsePath(c.path);
    ASSERT_TRUE(path) << c.path;
    EXPECT_TRUE(*path == c.want) << c.path;
  }
  for (const char* bad : {"/", "/api", "/apis", "/apis/apps", "/version", "/api/v1/nodes/%4"})
    EXPECT_FALSE(ParsePath(bad)) << bad;
}

TEST(Resource, KeysSplitAsTheyWereJoined) {
  EXPECT_EQ(KeyOf("a", "b"), "a/b");
  EXPECT_EQ(KeyOf("", "b"), "b");
  EXPECT_EQ(SplitKey("a/b").second, "b");
  EXPECT_EQ(SplitKey("b").first, "");
}

TEST(Status, ComesBackAsItWasSent) {
  const ApiResponse sent = TooManyRequests("slow down", 3).ToResponse();
  EXPECT_EQ(sent.retry_after, std::chrono::seconds(3));
  const Status got = ReadStatus(sent);
  EXPECT_EQ(got.code, 429);
  EXPECT_EQ(got.retry_after_s, 3);
  EXPECT_EQ(got.ToError(), (Error{Code::kTooManyRequests, "slow down"}));
}

TEST(Status, SaysWhatTheApiServerSays) {
  EXPECT_EQ(NotFound(kDaemonSets, "d").message, "daemonsets.apps \"d\" not found");
  EXPECT_EQ(Modified(kPods, "p").message,
            "Operation cannot be fulfilled on pods \"p\": the object has been modified; please apply your changes to "
            "the latest version and try again");
  EXPECT_EQ(Invalid(kDaemonSets, "d", {{"FieldValueRequired", "Required value", "spec.selector"}}).message,
            "DaemonSet.apps \"d\" is invalid: spec.selector: Required value");
}

TEST(Status, AProxysPageIsQuotedAndKeepsItsNumber) {
  const Status s = ReadStatus(ApiResponse{502, "text/html", "<h1>Bad Gateway</h1>\n", {}});
  EXPECT_EQ(s.ToError(), (Error{Code::kUnavailable, "HTTP 502: <h1>Bad Gateway</h1>"}));
}

TEST(ListText, DelimitsItemsWithoutJudgingThem) {
  const std::string body = R"({ "kind":"NodeList", "metadata":{"resourceVersion":"12","continue":"abc",
    "remainingItemCount":3}, "items":[ {"a":"}]\"\\"}, {"b":{"c":[1,{}]}} , 7 ], "more":null })";
  const auto list = SplitList(body);
  ASSERT_TRUE(list) << list.error().text;
  EXPECT_EQ(list->resource_version, "12");
  EXPECT_EQ(list->continue_token, "abc");
  EXPECT_EQ(list->remaining, 3);
  ASSERT_EQ(list->items.size(), 3U);
  EXPECT_EQ(list->items[0], R"({"a":"}]\"\\"})");
  EXPECT_EQ(list->items[1], R"({"b":{"c":[1,{}]}})");
  EXPECT_EQ(list->items[2], "7");
}

TEST(ListText, AnObjectIsReadWithoutItsManagedFields) {
  const auto text = [](std::string_view text) {
    const auto object = ParseWithoutManagedFields(text);
    return object ? boost::json::serialize(*object) : object.error().text;
  };
  EXPECT_EQ(text(R"({"metadata":{"name":"a","managedFields":[{"x":["]\"}"]},{}],"uid":"u"},"spec":{}})"),
            R"({"metadata":{"name":"a","uid":"u"},"spec":{}})");
  EXPECT_EQ(text(R"({"metadata":{"name":"a"},"spec":{}})"), R"({"metadata":{"name":"a"},"spec":{}})");
  const std::string quoted = R"({"a":"{\"b\":1,\"managedFields\":[1]}"})";
  EXPECT_EQ(text(quoted), quoted);
  EXPECT_FALSE(ParseWithoutManagedFields(R"({"a":1,"managedFields":[)"));
}

TEST(ListText, EveryCutOfAListIsAnErrorAndNullItemsAreNone) {
  const std::string body = R"({"metadata":{"resourceVersion":"1"},"items":[{"a":"x"},{"b":[1]}]})";
  for (std::size_t n = 0; n < body.size(); ++n) EXPECT_FALSE(SplitList(body.substr(0, n))) << n;
  ASSERT_TRUE(SplitList(body));
  const auto none = SplitList(R"({"items":null})");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->items.empty());
}

TEST(ListText, NestingIsBounded) {
  EXPECT_FALSE(ParseObject("{\"a\":" + std::string(100'000, '[')));
  EXPECT_FALSE(ParseObject("[]"));
}

}  // namespace
}  // namespace gpuop::kube
