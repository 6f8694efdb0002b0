#include "operands/toolkit/program/repair_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "data/json.h"
#include "kube/door_fake.h"
#include "kube/types/core.h"
#include "kube/types/node.h"

namespace gpuop::operands::toolkit {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Answer = RepairBound::Answer;

TEST(RepairBoundTest, GivesUpOnceAndBeginsAnewWhenItHasBeenQuiet) {
  RepairBound bound;
  const TimePoint start{};
  for (std::size_t i = 0; i < RepairBound::kMost; ++i) EXPECT_EQ(bound.Ask(start + i * 1min), Answer::kRepair);
  EXPECT_EQ(bound.Ask(start + 9min), Answer::kGiveUp);
  EXPECT_EQ(bound.Ask(start + 10min), Answer::kLeave);
  EXPECT_EQ(bound.Ask(start + 10min + 1s), Answer::kRepair) << "the first repair counts no more";
  EXPECT_EQ(bound.Ask(start + 10min + 2s), Answer::kGiveUp) << "which is news again";
}

/// A containerd that lost two runtimes and its default, as a toolkit in a Pod sees it.
struct Loss {
  Loss() {
    options.engine = container::EngineKind::kContainerd;
    options.install_dir = "/usr/local/nvidia";
    options.files.config = "/runtime/config-dir/config.toml";
    options.files.config_for_engine = "/etc/containerd/config.toml";
    options.files.drop_in = "/runtime/config-dir.d/99-nvidia.toml";
    options.files.drop_in_for_engine = "/etc/containerd/conf.d/99-nvidia.toml";
    for (const std::string& path : {options.files.drop_in, options.install_dir + "/.toolkit-engine.json"})
      change.files.items.push_back({.path = path, .before = {}, .after = {}});
    change.before.runtimes = {{"runc", "", {}}, {"nvidia-cdi", "/elsewhere", {}}};
    change.after.runtimes = {{"runc", "", {}}, {"nvidia", "/ours", {}}, {"nvidia-cdi", "/ours.cdi", {}}};
  }
  Options options;
  container::EngineChange change;
};

TEST(RepairNewsTest, NamesTheEntriesAndTheFileOnTheHost) {
  Loss loss;
  const RepairNews news = Restored(loss.options, loss.change);
  EXPECT_FALSE(news.warning);
  EXPECT_EQ(news.reason, "RuntimeEntriesRestored");
  EXPECT_EQ(news.message,
            "the runtimes nvidia, nvidia-cdi were lost from containerd's configuration and put back in "
            "/etc/containerd/conf.d/99-nvidia.toml");
  loss.change.after = loss.change.before;
  loss.change.after.cdi = true;
  loss.change.after.default_runtime = "nvidia";
  loss.change.files.items.push_back({.path = loss.options.files.config, .before = {}, .after = {}});
  EXPECT_EQ(Restored(loss.options, loss.change).message,
            "the default runtime nvidia and CDI were lost from containerd's configuration and put back in "
            "/etc/containerd/conf.d/99-nvidia.toml, /etc/containerd/config.toml");
}

TEST(RepairNewsTest, WarnsOfWhatIsNotPutBack) {
  const Loss loss;
  const RepairNews failed =
      NotRestored(loss.options, loss.change, {Code::kUnavailable, "the engine says " + std::string(5000, 'x')});
  EXPECT_TRUE(failed.warning);
  EXPECT_EQ(failed.reason, "RuntimeEntriesLost");
  EXPECT_THAT(failed.message, HasSubstr("99-nvidia.toml: the engine says xxx"));
  EXPECT_LT(failed.message.size(), 1024U) << "what the API server takes";
  const RepairNews given_up = GivenUp(loss.options, loss.change);
  EXPECT_TRUE(given_up.warning);
  EXPECT_EQ(given_up.reason, "RuntimeEntriesLost");
  EXPECT_THAT(given_up.message, HasSubstr("after 5 repairs within 10 minutes /etc/containerd/conf.d/99-nvidia.toml is "
                                          "left as it is"));
}

struct RepairTellerTest : testing::Test {
  RepairTellerTest() { door.Put(kube::Node::kResource, {{"metadata", {{"name", "n1"}, {"uid", "u1"}}}}); }
  void Tell(const char* message) {
    teller.Tell({false, "RuntimeEntriesRestored", message});
    executor.RunFor(5min);
  }
  /// "Node/n1 u1 Normal RuntimeEntriesRestored: MESSAGE".
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    for (const auto& object : door.PeekAll(kube::Event::kResource)) {
      const auto e = kube::Decode<kube::Event>(object).value();
      out.push_back(std::string(e.involved.kind) + "/" + std::string(e.involved.name) + " " +
                    std::string(e.involved.uid) + " " + std::string(e.type) + " " + std::string(e.reason) + ": " +
                    std::string(e.message));
    }
    return out;
  }

  VirtualExecutor executor{3};
  kube::FakeDoor door{executor};
  FakeLog log;
  int opened = 0;
  std::weak_ptr<const kube::Client> client;
  RepairTeller teller{executor,
                      [this]() -> Result<std::shared_ptr<const kube::Client>> {
                        ++opened;
                        auto out = std::make_shared<const kube::Client>(door);
                        client = out;
                        return out;
                      },
                      "n1", log};
};

TEST_F(RepairTellerTest, WritesAnEventAboutTheNodeAndLetsGoOfTheApi) {
  EXPECT_EQ(opened, 0);
  Tell("put back");
  EXPECT_THAT(Events(), ElementsAre("Node/n1 u1 Normal RuntimeEntriesRestored: put back"));
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(client.expired());
  EXPECT_TRUE(log.Lines().empty());
}

TEST_F(RepairTellerTest, TellsEachOfSeveralNewsAfterTheApiWasAway) {
  door.Intercept([](const kube::ApiRequest&) { return Result<kube::ApiResponse>(Fail(Code::kIo, "down")); });
  teller.Tell({false, "RuntimeEntriesRestored", "first"});
  teller.Tell({true, "RuntimeEntriesLost", "second"});
  executor.RunFor(5s);
  EXPECT_EQ(opened, 2);
  door.Intercept(nullptr);
  executor.RunFor(5min);
  EXPECT_THAT(Events(), testing::UnorderedElementsAre("Node/n1 u1 Normal RuntimeEntriesRestored: first",
                                                      "Node/n1 u1 Warning RuntimeEntriesLost: second"));
}

TEST_F(RepairTellerTest, ThreeRefusalsEndInTheLog) {
  door.Intercept(
      [](const kube::ApiRequest&) { return Result<kube::ApiResponse>(Fail(Code::kForbidden, "no rights")); });
  Tell("put back");
  EXPECT_EQ(opened, 3);
  EXPECT_THAT(log.Lines(), ElementsAre(testing::AllOf(HasSubstr("put back"), HasSubstr("no rights"))));
  EXPECT_TRUE(Events().empty());
}

}  // namespace
}  // namespace gpuop::operands::toolkit
