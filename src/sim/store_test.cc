#include "sim/store.h"

#include "data/json.h"

namespace gpuop::sim {
namespace {

using boost::json::object;

boost::json::object Thing(std::string_view ns, std::string_view name, std::string_view spec = "a") {
  boost::json::object metadata{{"name", name}, {"uid", "u"}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return {{"spec", {{"x", spec}}}, {"metadata", metadata}, {"apiVersion", "v1"}, {"kind", "Thing"}};
}

StoredPtr Put(Store& store, std::string_view ns, std::string_view name, std::string_view spec = "a") {
  auto o = Thing(ns, name, spec);
  auto put = store.Put("/things", o);
  EXPECT_TRUE(put);
  return *put;
}

std::vector<std::string> Names(const Page& page) {
  std::vector<std::string> names;
  for (const auto& s : page.items) names.push_back(StoreKey(s->ns, s->name));
  return names;
}

using testing::ElementsAre;

TEST(StoreTest, WritesTypeNameAndMetadataFirstAndTheRevisionInto) {
  Store store;
  EXPECT_EQ(
      Put(store, "n", "a")->json,
      R"({"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"2","namespace":"n"},"spec":{"x":"a"}})");
  EXPECT_EQ(store.revision(), 2u);
}

TEST(StoreTest, OrdersKeysByBytesAsEtcdDoes) {
  Store store;
  for (auto [ns, name] : {std::pair("a", "x"), std::pair("a-b", "x"), std::pair("a", "a"), std::pair("b", "x")})
    Put(store, ns, name);
  EXPECT_THAT(Names(store.List("/things", {})), ElementsAre("a-b/x", "a/a", "a/x", "b/x"));
  Store::Query query;
  query.ns = "a";
  EXPECT_THAT(Names(store.List("/things", query)), ElementsAre("a/a", "a/x"));
}

TEST(StoreTest, APageSaysWhereItEndsAndHowManyFollow) {
  Store store;
  for (const char* name : {"a", "b", "c", "d", "e"}) Put(store, "", name);
  Store::Query query;
  query.limit = 2;
  const Page page = store.List("/things", query);
  EXPECT_THAT(Names(page), ElementsAre("a", "b"));
  EXPECT_EQ(page.next, "c");
  EXPECT_EQ(page.remaining, 3u);
  query.matches = [](const Stored& s) { return s.name != "b"; };
  const Page filtered = store.List("/things", query);
  EXPECT_THAT(Names(filtered), ElementsAre("a", "c"));
  EXPECT_EQ(filtered.remaining, std::nullopt);
}

TEST(StoreTest, ListAtShowsTheTableAsItWas) {
  Store store;
  Put(store, "", "b", "old");
  Put(store, "", "d");
  const std::uint64_t then = store.revision();
  Put(store, "", "a");
  Put(store, "", "b", "new");
  ASSERT_TRUE(store.Delete("/things", "", "d"));
  Put(store, "", "b", "newer");
  const auto page = store.ListAt("/things", {}, then);
  ASSERT_TRUE(page);
  EXPECT_THAT(Names(*page), ElementsAre("b", "d"));
  EXPECT_NE(page->items[0]->json.find("old"), std::string::npos);
  Store::Query from;
  from.from = "c";
  EXPECT_THAT(Names(*store.ListAt("/things", from, then)), ElementsAre("d"));
}

TEST(StoreTest, ADeletionLeavesTheLastStateWithItsOwnRevision) {
  Store store;
  Put(store, "", "a");
  auto last = store.Delete("/things", "", "a");
  ASSERT_TRUE(last);
  EXPECT_EQ((*last)->revision, 3u);
  EXPECT_NE((*last)->json.find(R"("resourceVersion":"3")"), std::string::npos);
  EXPECT_FALSE(store.Get("/things", "", "a"));
}

TEST(StoreTest, ReplayGivesWhatCameAfterAndRefusesWhatIsForgotten) {
  Store store;
  for (const char* name : {"a", "b", "c"}) Put(store, "", name);
  std::vector<std::string> seen;
  const auto see = [&](const EventPtr& e) {
    seen.emplace_back(e->object->name);
    return true;
  };
  EXPECT_EQ(store.Replay("/things", 2, see), 4u);
  EXPECT_THAT(seen, ElementsAre("b", "c"));
  store.Compact(3);
  EXPECT_EQ(store.Replay("/things", 2, see), std::nullopt);
  EXPECT_EQ(store.Replay("/things", 3, see), 4u);
  EXPECT_EQ(store.ListAt("/things", {}, 2), std::nullopt);
}

TEST(StoreTest, HistoryIsBoundedByCountAndBytesOverAllTables) {
  Store by_count({.events = 2, .bytes = 1 << 20});
  auto other = Thing("", "o");
  ASSERT_TRUE(by_count.Put("/others", other));
  for (const char* name : {"a", "b", "c"}) Put(by_count, "", name);
  EXPECT_EQ(by_count.OldestRevision("/things"), 3u);
  EXPECT_EQ(by_count.OldestRevision("/others"), 2u);
  Store by_bytes({.events = 1000, .bytes = 1000});
  for (int i = 0; i < 10; ++i) Put(by_bytes, "", std::to_string(i));
  EXPECT_GT(by_bytes.OldestRevision("/things"), 5u);
}

/// A Thing of about 6 kB, of which a few places are other than in the round before.
object LargeThing(std::string_view name, int round, int filler) {
  object o = Thing("n", name, "x" + std::to_string(round));
  object labels;
  for (int i = 0; i < 60; ++i) labels["label-" + std::to_string(i)] = std::string(24, static_cast<char>('a' + i % 26));
  if (round % 3 == 0) labels["round"] = std::to_string(round);
  o["metadata"].as_object()["labels"] = std::move(labels);
  o["spec"].as_object()["filler"] = std::string(2500, static_cast<char>('a' + filler % 26));
  o["status"] = object{{"round", round}, {"more", std::string(1500, 'y')}};
  return o;
}

std::string Told(const Event& e) {
  return std::to_string(static_cast<int>(e.type)) + " " + std::to_string(e.revision) + " " + e.object->json + " " +
         std::string(e.object->name) + std::string(e.object->labels.Find("round").value_or("-")) + " " +
         (e.before ? e.before->json + std::to_string(e.before->revision) : "new");
}

std::vector<std::string> History(const Store& store, std::uint64_t after) {
  std::vector<std::string> told;
  store.Replay("/things", after, [&](const EventPtr& e) {
    told.push_back(Told(*e));
    return true;
  });
  return told;
}

TEST(StoreTest, APackedHistoryTellsWhatAWholeOneTells) {
  Store packed({.recent_bytes = 30'000}), whole({.recent_bytes = 1U << 30U});
  std::uint64_t seed = 7;
  const auto draw = [&] { return (seed = seed * 6364136223846793005U + 1442695040888963407U) >> 33U; };
  for (int round = 0; round < 400; ++round) {
    const std::string name = "a" + std::to_string(draw() % 7);
    const bool there = packed.Get("/things", "n", name) != nullptr;
    const bool goes = there && draw() % 9 == 0, changes_much = draw() % 11 == 0;
    for (Store* store : {&packed, &whole}) {
      if (goes) {
        ASSERT_TRUE(store->Delete("/things", "n", name));
        continue;
      }
      object o = LargeThing(name, round, changes_much ? round : 0);
      ASSERT_TRUE(store->Put("/things", o));
    }
  }
  EXPECT_EQ(History(packed, 1), History(whole, 1));
  for (std::uint64_t at : {5U, 100U, 250U, 399U}) {
    const auto then = packed.ListAt("/things", {}, at), expected = whole.ListAt("/things", {}, at);
    ASSERT_TRUE(then && expected);
    ASSERT_EQ(Names(*then), Names(*expected)) << at;
    for (std::size_t i = 0; i < then->items.size(); ++i) EXPECT_EQ(then->items[i]->json, expected->items[i]->json);
  }
}

TEST(StoreTest, OldVersionsOfALargeObjectCostWhatDiffers) {
  const auto kept = [](std::size_t recent_bytes) {
    Store store({.bytes = 300'000, .recent_bytes = recent_bytes});
    for (int round = 0; round < 1000; ++round) {
      object o = LargeThing("a", round, 0);
      EXPECT_TRUE(store.Put("/things", o));
    }
    return store.revision() - store.OldestRevision("/things");
  };
  EXPECT_LT(kept(300'000), 60U);
  EXPECT_GT(kept(20'000), 300U);
}

struct Texts {
  const char* name;
  std::string base, text;
};

class DifferenceTest : public testing::TestWithParam<Texts> {};

TEST_P(DifferenceTest, RebuildsTheText) {
  const auto difference = Difference(GetParam().base, GetParam().text);
  ASSERT_TRUE(difference);
  EXPECT_LE(difference->size(), GetParam().text.size() / 4);
  EXPECT_EQ(Rebuild(GetParam().base, *difference), GetParam().text);
}

std::string Row(int from, int to) {
  std::string out;
  for (int i = from; i < to; ++i) out += "\"member-" + std::to_string(i) + "\":\"value\",";
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, DifferenceTest,
                         testing::Values(Texts{"Same", Row(0, 50), Row(0, 50)},
                                         Texts{"Longer", Row(0, 50), Row(0, 50) + "end"},
                                         Texts{"Shorter", Row(0, 50), Row(0, 40)},
                                         Texts{"Begins", Row(0, 50), "begin" + Row(0, 50)},
                                         Texts{"Lost", Row(0, 50), Row(0, 10) + Row(20, 50)},
                                         Texts{"Changed", Row(0, 50), Row(0, 10) + "other" + Row(11, 50)},
                                         Texts{"Repeats", std::string(800, 'a'), std::string(900, 'a')}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(DifferenceTest, OfTextsThatHaveLittleInCommonThereIsNone) {
  EXPECT_FALSE(Difference(Row(0, 50), std::string(1000, 'x')));
  EXPECT_FALSE(Difference("", Row(0, 50)));
}

TEST(StoreTest, ExtractsSelectableFieldsAndReReadsThemWhenTheyChange) {
  Store store;
  Put(store, "", "a", "v");
  store.SetSelectable("/things", {{"spec.x", {{"spec", "x"}}, ""}, {"spec.off", {{"spec", "off"}}, "false"}});
  const StoredPtr before = store.Get("/things", "", "a");
  ASSERT_EQ(before->fields.size(), 2U);
  EXPECT_EQ(before->fields[0], "v");
  EXPECT_EQ(before->fields[1], "false");
  EXPECT_EQ(Put(store, "", "b", "w")->fields[0], "w");
}

TEST(LabelsTest, FindsValuesByWholeKeys) {
  const Labels labels(boost::json::object{{"a", "1"}, {"ab", ""}, {"n", 5}});
  EXPECT_EQ(labels.Find("a"), "1");
  EXPECT_EQ(labels.Find("ab"), "");
  EXPECT_EQ(labels.Find("b"), std::nullopt);
  EXPECT_EQ(labels.Find("n"), std::nullopt);
}

/// A log that can fail.
class FailingLog final : public CommitLog {
 public:
  bool fails = false;
  int appended = 0;
  Answer<> Append(std::uint64_t, std::string_view, std::string_view, std::string_view) override {
    if (fails) return std::unexpected(InternalError("disk full"));
    ++appended;
    return {};
  }
};

TEST(StoreTest, AWriteThatCannotBeLoggedDoesNotHappen) {
  Store store;
  FailingLog log;
  store.SetLog(&log);
  Put(store, "", "a");
  log.fails = true;
  auto o = Thing("", "b");
  EXPECT_FALSE(store.Put("/things", o));
  EXPECT_FALSE(store.Delete("/things", "", "a"));
  EXPECT_TRUE(store.Get("/things", "", "a"));
  EXPECT_EQ(store.revision(), 2u);
  EXPECT_EQ(log.appended, 1);
}

}  // namespace
}  // namespace gpuop::sim
