#include "sim/watch.h"

#include "sim/api_server_fixture_test.h"

namespace gpuop::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The same fixture under the name that these tests are about.
class WatchTest : public ApiServerTest {};

TEST_F(WatchTest, WatchesTellWhatIsThereThenWhatHappens) {
  Make("a");
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(kMaps, {}, sink);
  EXPECT_TRUE(sink->events.empty());
  Settle();
  Make("b");
  Do("PATCH", std::string(kMaps) + "/a", R"({"data":{"k":"v"}})", kMerge);
  Do("DELETE", std::string(kMaps) + "/b");
  Settle();
  EXPECT_THAT(sink->Short(), ElementsAre("ADDED a", "ADDED b", "MODIFIED a", "DELETED b"));
  EXPECT_EQ(At(sink->events[0], "object.kind"), "ConfigMap");
}

TEST_F(WatchTest, AWatchResumesWhereItEnded) {
  const value a = Make("a");
  Make("b");
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(kMaps, {{"resourceVersion", At(a, "metadata.resourceVersion")}}, sink);
  Settle();
  EXPECT_THAT(sink->Short(), ElementsAre("ADDED b"));
}

/// Takes two events, then none until it is told to.
class Reluctant final : public kube::StreamSink {
 public:
  void OnData(std::string_view) override { ++taken; }
  bool WantsMore() override { return willing || taken < 2; }
  void OnEnd(Result<>, std::optional<Duration>) override {}
  int taken = 0;
  bool willing = false;
};

TEST_F(WatchTest, ASinkThatWantsNoMoreIsToldTheRestWhenItAsks) {
  auto sink = std::make_shared<Reluctant>();
  kube::ApiRequest request;
  request.path = kMaps;
  request.query = {{"watch", "true"}};
  const auto stream = cluster_.door().Open(request, sink);
  for (const char* name : {"a", "b", "c", "d"}) Make(name);
  cluster_.RunFor(std::chrono::seconds(10));
  EXPECT_EQ(sink->taken, 2);
  sink->willing = true;
  stream->Resume();
  Settle();
  EXPECT_EQ(sink->taken, 4);
}

TEST_F(WatchTest, ASelectorTurnsChangesIntoComingsAndGoings) {
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(kMaps, {{"labelSelector", "x=1"}}, sink);
  Make("a");
  Do("PATCH", std::string(kMaps) + "/a", R"({"metadata":{"labels":{"x":"1"}}})", kMerge);
  Do("PATCH", std::string(kMaps) + "/a", R"({"data":{"k":"v"}})", kMerge);
  const value last = Do("PATCH", std::string(kMaps) + "/a", R"({"metadata":{"labels":{"x":"2"}}})", kMerge);
  Do("DELETE", std::string(kMaps) + "/a");
  Settle();
  EXPECT_THAT(sink->Short(), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
  EXPECT_EQ(At(sink->events[2], "object.metadata.labels.x"), "1");
  EXPECT_EQ(At(sink->events[2], "object.metadata.resourceVersion"), At(last, "metadata.resourceVersion"));
}

TEST_F(WatchTest, InitialEventsEndWithAMarkedBookmark) {
  Make("a");
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(
      kMaps, {{"sendInitialEvents", "true"}, {"resourceVersionMatch", "NotOlderThan"}, {"allowWatchBookmarks", "true"}},
      sink);
  Settle();
  EXPECT_THAT(sink->Short(), ElementsAre("ADDED a", "BOOKMARK "));
  const value& bookmark = sink->events[1].at("object");
  EXPECT_EQ(bookmark.at("metadata").at("annotations").at("k8s.io/initial-events-end"), "true");
  EXPECT_EQ(At(bookmark, "metadata.resourceVersion"), std::to_string(cluster_.store().revision()));
  cluster_.RunFor(std::chrono::seconds(61));
  EXPECT_EQ(sink->Short().back(), "BOOKMARK ");
  EXPECT_EQ(sink->events.size(), 3u);
}

TEST_F(WatchTest, AWatchFromForgottenHistoryIsToldGone) {
  Make("a");
  cluster_.store().Compact(cluster_.store().revision());
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(kMaps, {{"resourceVersion", "2"}}, sink);
  Settle();
  ASSERT_EQ(sink->events.size(), 1u);
  EXPECT_EQ(At(sink->events[0], "type"), "ERROR");
  EXPECT_EQ(At(sink->events[0], "object.reason"), "Expired");
  EXPECT_EQ(data::IntOr(sink->events[0], "object.code"), 410);
  EXPECT_THAT(At(sink->events[0], "object.message"), HasSubstr("too old resource version: 2 ("));
  EXPECT_TRUE(sink->ended);
}

TEST_F(WatchTest, AnIdleWatchSurvivesCompaction) {
  auto sink = std::make_shared<Events>();
  const auto stream = Watch("/api/v1/nodes", {{"resourceVersion", std::to_string(cluster_.store().revision())}}, sink);
  Settle();
  for (int i = 0; i < 5; ++i) Make("m" + std::to_string(i));
  cluster_.store().Compact(cluster_.store().revision());
  Do("POST", "/api/v1/nodes", R"({"metadata":{"name":"n"}})");
  Settle();
  EXPECT_THAT(sink->Short(), ElementsAre("ADDED n"));
}

TEST_F(WatchTest, WatchesEndAtTheirTime) {
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(kMaps, {{"timeoutSeconds", "5"}}, sink);
  cluster_.RunFor(std::chrono::seconds(4));
  EXPECT_FALSE(sink->ended);
  cluster_.RunFor(std::chrono::seconds(2));
  EXPECT_TRUE(sink->ended);
  EXPECT_FALSE(sink->error);
}

TEST_F(WatchTest, DroppedWatchesEndWithoutAWord) {
  auto sink = std::make_shared<Events>();
  const auto stream = Watch(kMaps, {}, sink);
  EXPECT_EQ(cluster_.server().DropWatches(), 1u);
  Settle();
  EXPECT_TRUE(sink->ended);
}

TEST_F(WatchTest, ARefusedStreamEndsWithTheReason) {
  auto sink = std::make_shared<Events>();
  const auto stream = Watch("/api/v1/foos", {}, sink);
  EXPECT_FALSE(sink->ended);
  Settle();
  ASSERT_TRUE(sink->error);
  EXPECT_EQ(sink->error->code, Code::kNotFound);
}

TEST_F(WatchTest, EventsAreSerialisedOnceForAllWatches) {
  class Texts final : public WatchSink {
   public:
    bool OnEvent(const Text& event) override {
      texts.push_back(event);
      return true;
    }
    void OnEnd() override {}
    std::vector<Text> texts;
  };
  kube::ApiRequest request;
  request.path = kMaps;
  request.query = {{"watch", "1"}, {"resourceVersion", "1"}};
  std::vector<std::shared_ptr<Texts>> sinks;
  std::vector<std::unique_ptr<gpuop::sim::Watch>> watches;
  for (int i = 0; i < 500; ++i) {
    sinks.push_back(std::make_shared<Texts>());
    watches.push_back(*cluster_.server().Open(request, User::Admin(), sinks.back()));
  }
  Make("a");
  Settle();
  for (const auto& sink : sinks) {
    ASSERT_EQ(sink->texts.size(), 1u);
    EXPECT_EQ(sink->texts[0], sinks[0]->texts[0]);
  }
}

}  // namespace
}  // namespace gpuop::sim
