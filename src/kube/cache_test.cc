#include "kube/cache.h"

#include <gtest/gtest.h>

#include <future>

#include "base/thread_executor.h"
#include "base/virtual_executor.h"
#include "kube/door_fake.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::kube {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

json::object NodeNamed(std::string_view name, std::string_view label = {}) {
  json::object meta{{"name", name}};
  if (!label.empty()) meta["labels"] = {{"pool", label}};
  return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", std::move(meta)}};
}

/// A cache of Nodes on a fake server, and what its handler heard: "+n1", "~n1", "-n1".
struct World {
  explicit World(std::uint64_t seed, CacheOptions options = {}) : executor(seed), door(executor, seed) {
    options.seed = seed;
    options.log = &log;
    cache = std::make_unique<Cache<Node>>(executor, Client(door), options);
    cache->AddLabelIndex("pool");
    cache->OnChange([this](const Change<Node>& c) {
      heard.push_back((!c.old ? "+" : !c.now ? "-" : "~") + c.Key());
      if (cache->size() == 0) ++emptied;
    });
    executor.RunFor(1ms);
  }
  void Put(std::string_view name, std::string_view label = {}) { door.Put(Node::kResource, NodeNamed(name, label)); }
  void Settle(Duration span = 100ms) { executor.RunFor(span); }
  std::vector<std::string> Heard() { return std::exchange(heard, {}); }
  /// Whether the cache holds exactly what the server does.
  bool Same() const {
    const auto want = door.PeekAll(Node::kResource);
    const auto have = cache->List();
    return std::ranges::equal(want, have, [](const json::object& w, const auto& h) {
      const auto node = Decode<Node>(w);
      return node && *node == *h;
    });
  }

  VirtualExecutor executor;
  FakeDoor door;
  FakeLog log;
  std::vector<std::string> heard;
  int emptied = 0;
  std::unique_ptr<Cache<Node>> cache;
};

using Words = std::vector<std::string>;

TEST(Cache, ListsInPagesThenFollows) {
  World w(1, {.page = 2});
  for (const char* name : {"a", "b", "c", "d", "e"}) w.Put(name);
  bool synced = false;
  w.cache->OnSynced([&] { synced = true; });
  w.cache->Start();
  EXPECT_FALSE(w.cache->HasSynced());
  w.Settle();
  EXPECT_TRUE(synced);
  EXPECT_EQ(w.Heard(), (Words{"+a", "+b", "+c", "+d", "+e"}));
  EXPECT_EQ(w.door.Requests().size(), 4U);  // three pages, one watch
  w.Put("b", "x");
  w.door.Remove(Ref<Node>("c"));
  w.Put("f");
  w.Settle();
  EXPECT_EQ(w.Heard(), (Words{"~b", "-c", "+f"}));
  EXPECT_TRUE(w.Same());
  EXPECT_EQ(w.cache->Get("b")->meta.labels.Get("pool"), "x");
  EXPECT_EQ(w.cache->Get("c"), nullptr);
}

TEST(Cache, SnapshotsOutliveTheirObjects) {
  World w(1);
  w.Put("a", "x");
  w.cache->Start();
  w.Settle();
  const auto before = w.cache->Get("a");
  w.Put("a", "y");
  w.Settle();
  w.door.Remove(Ref<Node>("a"));
  w.Settle();
  EXPECT_EQ(before->meta.labels.Get("pool"), "x");
}

TEST(Cache, IndexesFollowChanges) {
  World w(1);
  w.Put("a", "x");
  w.Put("b", "x");
  w.cache->Start();
  w.Settle();
  ASSERT_EQ(w.cache->Find("pool", "x").size(), 2U);
  w.Put("a", "y");
  w.door.Remove(Ref<Node>("b"));
  w.Settle();
  EXPECT_TRUE(w.cache->Find("pool", "x").empty());
  ASSERT_EQ(w.cache->Find("pool", "y").size(), 1U);
  EXPECT_EQ(w.cache->Find("pool", "y")[0]->meta.name, "a");
  EXPECT_TRUE(w.cache->Find("no such index", "y").empty());
}

TEST(Cache, AnObjectThatLeavesTheSelectionIsGone) {
  World w(1, {.label_selector = "pool=x"});
  w.Put("a", "x");
  w.Put("b", "y");
  w.cache->Start();
  w.Settle();
  EXPECT_EQ(w.Heard(), Words{"+a"});
  w.Put("a", "y");
  w.Put("b", "x");
  w.Settle();
  EXPECT_EQ(w.Heard(), (Words{"-a", "+b"}));
}

TEST(Cache, ABrokenWatchResumesWithoutAList) {
  World w(1);
  w.Put("a");
  w.cache->Start();
  w.Settle();
  w.Heard();
  w.door.BreakWatches(Fail(Code::kIo, "connection reset by peer"));
  w.Put("b");
  w.door.Remove(Ref<Node>("a"));
  w.Settle(10s);
  EXPECT_EQ(w.Heard(), (Words{"+b", "-a"}));
  EXPECT_EQ(w.cache->counts().lists, 1U);
}

TEST(Cache, AWatchThatEndsInGoodOrderIsReopenedAtOnce) {
  World w(1);
  w.cache->Start();
  w.Settle();
  w.Put("a");
  w.Settle();
  w.door.BreakWatches({});
  w.Put("b");
  w.Settle(1ms);
  EXPECT_EQ(w.Heard(), (Words{"+a", "+b"}));
}

TEST(Cache, LostHistoryShowsOnlyTheDifferenceAndNeverAnEmptyWorld) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World w(seed, {.page = 2});
    for (const char* name : {"a", "b", "c", "d"}) w.Put(name);
    w.cache->Start();
    w.Settle();
    w.Heard();
    w.door.BreakWatches({});
    w.Put("b", "x");
    w.door.Remove(Ref<Node>("c"));
    w.Put("e");
    w.door.Compact();
    w.Settle(10s);
    EXPECT_EQ(w.Heard(), (Words{"~b", "+e", "-c"}));
    EXPECT_EQ(w.emptied, 0);
    EXPECT_TRUE(w.Same());
    EXPECT_EQ(w.cache->counts().lists, 2U);
  }
}

TEST(Cache, AListWhosePagesExpireIsTakenInOnePiece) {
  World w(1, {.page = 2});
  for (const char* name : {"a", "b", "c", "d", "e"}) w.Put(name);
  w.door.Intercept([](const ApiRequest& r) -> std::optional<Result<ApiResponse>> {
    for (const auto& [name, value] : r.query)
      if (name == "continue")
        return ApiResponse{410,
                           "application/json",
                           R"({"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410})",
                           {}};
    return std::nullopt;
  });
  w.cache->Start();
  w.Settle(10s);
  EXPECT_TRUE(w.cache->HasSynced());
  EXPECT_TRUE(w.Same());
  EXPECT_EQ(w.cache->counts().lists, 2U);
}

TEST(Cache, AnObjectMadeAnewUnseenIsTwoChanges) {
  World w(1);
  w.Put("a");
  w.cache->Start();
  w.Settle();
  w.Heard();
  w.door.BreakWatches({});
  w.door.Remove(Ref<Node>("a"));
  w.Put("a");
  w.door.Compact();
  w.Settle(10s);
  EXPECT_EQ(w.Heard(), (Words{"-a", "+a"}));
  EXPECT_TRUE(w.Same());
}

TEST(Cache, BookmarksMoveThePointToResumeFrom) {
  World w(1);
  w.Put("a");
  w.cache->Start();
  w.Settle();
  w.door.Put(Pod::kResource, {{"metadata", {{"name", "p"}, {"namespace", "x"}}}});
  w.door.SendBookmarks();
  w.Settle();
  w.door.Compact();
  w.door.BreakWatches({});
  w.Settle(10s);
  EXPECT_EQ(w.cache->counts().lists, 1U);
}

TEST(Cache, OneBadObjectIsReportedAndTheRestIsSeen) {
  World w(1);
  w.Put("a");
  w.door.Put(Node::kResource, {{"metadata", {{"name", "bad"}}}, {"spec", {{"taints", "many"}}}});
  w.Put("c");
  w.cache->Start();
  w.Settle();
  EXPECT_EQ(w.Heard(), (Words{"+a", "+c"}));
  EXPECT_EQ(w.cache->counts().bad_objects, 1U);
  ASSERT_EQ(w.log.Lines().size(), 1U);
  EXPECT_NE(w.log.Lines()[0].find("spec: taints: expected a list, got a string"), std::string::npos);
}

TEST(Cache, AnObjectThatTurnsBadKeepsItsLastGoodState) {
  World w(1);
  w.Put("a", "x");
  w.cache->Start();
  w.Settle();
  w.door.Put(Node::kResource, {{"metadata", {{"name", "a"}}}, {"spec", 5}});
  w.Settle();
  w.door.Compact();
  w.door.BreakWatches(Fail(Code::kGone, "gone"));
  w.Settle(10s);
  EXPECT_EQ(w.cache->counts().lists, 2U);
  ASSERT_NE(w.cache->Get("a"), nullptr);
  EXPECT_EQ(w.cache->Get("a")->meta.labels.Get("pool"), "x");
  w.door.Remove(Ref<Node>("a"));
  w.Settle(10s);
  EXPECT_EQ(w.cache->Get("a"), nullptr);
}

TEST(Cache, AnUnreadableEventCostsAListNotTheTruth) {
  World w(1);
  w.cache->Start();
  w.Settle();
  w.door.SendRaw(Node::kResource, "{\"type\":\"ADDED\",\"obj");
  w.Put("a");
  w.Settle(10s);
  EXPECT_EQ(w.Heard(), Words{"+a"});
  EXPECT_EQ(w.cache->counts().lists, 2U);
}

TEST(Cache, ADeadWatchIsNoticed) {
  World w(1, {.silence = 150s});
  w.cache->Start();
  w.Settle();
  w.door.Mute(true);
  w.Put("a");
  w.Settle(149s);
  EXPECT_EQ(w.Heard(), Words{});
  w.door.Mute(false);
  w.Settle(10s);
  EXPECT_EQ(w.Heard(), Words{"+a"});
  EXPECT_EQ(w.cache->counts().lists, 1U);
}

TEST(Cache, AnUnreachableServerIsAskedEverMoreSeldom) {
  World w(1);
  w.door.Intercept([](const ApiRequest&) { return Result<ApiResponse>(Fail(Code::kIo, "connection refused")); });
  w.cache->Start();
  w.Settle(10min);
  const auto lists = w.cache->counts().lists;
  EXPECT_GE(lists, 20U);
  EXPECT_LE(lists, 50U);
  EXPECT_FALSE(w.cache->HasSynced());
  w.door.Intercept(nullptr);
  w.Put("a");
  w.Settle(30s);
  EXPECT_TRUE(w.cache->HasSynced());
}

TEST(Cache, RetryAfterIsKept) {
  World w(1);
  w.cache->Start();
  w.Settle();
  w.door.Intercept([](const ApiRequest&) { return Result<ApiResponse>(TooManyRequests("later", 60).ToResponse()); });
  w.door.BreakWatches({});
  w.Settle(59s);
  EXPECT_EQ(w.cache->counts().watches, 2U);
  w.Settle(3s);
  EXPECT_EQ(w.cache->counts().watches, 3U);
}

TEST(Cache, RetryAfterIsKeptWhenListingToo) {
  World w(1);
  w.door.Intercept([](const ApiRequest&) { return Result<ApiResponse>(Unavailable("busy", 120).ToResponse()); });
  w.cache->Start();
  w.Settle(119s);
  EXPECT_EQ(w.cache->counts().lists, 1U);
  w.Settle(2s);
  EXPECT_EQ(w.cache->counts().lists, 2U);
}

TEST(Cache, AContinueTokenThatGrewTooOldBeginsTheListAnew) {
  World w(1, {.page = 1});
  w.Put("a");
  w.Put("b");
  bool once = false;
  w.door.Intercept([&](const ApiRequest& r) -> std::optional<Result<ApiResponse>> {
    for (const auto& [name, value] : r.query) {
      if (name != "continue" || std::exchange(once, true)) continue;
      w.Put("c");
      w.door.Compact();
    }
    return std::nullopt;
  });
  w.cache->Start();
  w.Settle(10s);
  EXPECT_TRUE(w.Same());
  EXPECT_EQ(w.Heard(), (Words{"+a", "+b", "+c"}));
}

/// Everything at once, at random: whatever happened, a quiet minute later the cache is what the server has, the
/// handlers' account adds up to it, and the same seed tells the same story.
std::uint64_t Storm(std::uint64_t seed) {
  World w(seed, {.page = 3, .silence = 20s});
  std::map<std::string, int> account;
  std::size_t told = 0;
  w.cache->Start();
  Rng rng(seed * 7 + 1);
  w.door.Intercept([&w, &rng](const ApiRequest&) -> std::optional<Result<ApiResponse>> {
    if (w.executor.Now() > TimePoint(60s)) return std::nullopt;
    switch (rng.Below(12)) {
      case 0: return Result<ApiResponse>(Fail(Code::kTimeout, "no answer"));
      case 1: return Result<ApiResponse>(Unavailable("busy", 1).ToResponse());
      case 2: return Result<ApiResponse>(Expired("too old").ToResponse());
      default: return std::nullopt;
    }
  });
  for (int step = 0; step < 300; ++step) {
    const std::string name = "n" + std::to_string(rng.Below(9));
    switch (rng.Below(14)) {
      case 0: w.door.BreakWatches({}); break;
      case 1: w.door.BreakWatches(Fail(Code::kIo, "reset")); break;
      case 2: w.door.Compact(); break;
      case 3: w.door.SendBookmarks(); break;
      case 4: w.door.Mute(rng.Below(2) == 0); break;
      case 5: w.door.SendRaw(Node::kResource, "garbage"); break;
      case 6:
      case 7:
      case 8: w.door.Remove(Ref<Node>(name)); break;
      default: w.Put(name, "p" + std::to_string(rng.Below(3)));
    }
    w.Settle(Duration(std::chrono::milliseconds(rng.Below(400))));
    for (; told < w.heard.size(); ++told) {
      w.executor.Trace(w.heard[told]);
      if (w.heard[told][0] == '+') EXPECT_EQ(++account[w.heard[told].substr(1)], 1) << seed;
      if (w.heard[told][0] == '-') EXPECT_EQ(--account[w.heard[told].substr(1)], 0) << seed;
      if (w.heard[told][0] == '~') EXPECT_EQ(account[w.heard[told].substr(1)], 1) << seed;
    }
  }
  w.door.Mute(false);
  w.Settle(2min);
  EXPECT_TRUE(w.Same()) << "seed " << seed;
  for (const char* pool : {"p0", "p1", "p2"}) {
    std::size_t want = 0;
    for (const auto& node : w.cache->List()) want += node->meta.labels.Get("pool") == pool;
    EXPECT_EQ(w.cache->Find("pool", pool).size(), want);
  }
  return w.executor.TraceHash();
}

TEST(Cache, ConvergesThroughAnyStormAndRepeatsIt) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) EXPECT_EQ(Storm(seed), Storm(seed));
}

TEST(Cache, RunsOnThreadsAndStopsAnyTime) {
  for (int round = 0; round < 20; ++round) {
    ThreadExecutor executor(3);
    FakeDoor door(executor, 1);
    for (int i = 0; i < 50; ++i) door.Put(Node::kResource, NodeNamed("n" + std::to_string(i)));
    std::promise<void> synced;
    std::atomic<int> heard = 0;
    Cache<Node> cache(executor, Client(door), {.page = 7});  // ends before what its handlers use
    cache.OnChange([&](const Change<Node>&) { ++heard; });
    cache.OnSynced([&] { synced.set_value(); });
    cache.Start();
    for (int i = 0; i < 50; ++i) door.Put(Node::kResource, NodeNamed("n" + std::to_string(i), "x"));
    if (round % 2 == 0) synced.get_future().wait();
    door.BreakWatches({});
    for (const auto& node : cache.List()) EXPECT_FALSE(node->meta.name.empty());
  }
}

}  // namespace
}  // namespace gpuop::kube
