#include "operands/device_plugin/node_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "data/json.h"
#include "kube/door_fake.h"
#include "os/fake_fs.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::HasSubstr;

Report Eight(std::size_t fit) {
  Report out{.known = 8, .fit = fit, .troubles = {}, .resources = {}};
  for (std::size_t i = fit; i < 8; ++i) out.troubles["GPU-" + std::to_string(i)] = "Xid 79";
  return out;
}

TEST(NodeNewsTest, SaysHowManyAreHealthyAndWhatAilsTheOthers) {
  EXPECT_EQ(NewsOf(Eight(8), 8), (NodeNews{true, "AllHealthy", "8 of 8 GPUs are healthy"}));
  EXPECT_EQ(NewsOf(Eight(7), 8), (NodeNews{false, "DeviceUnhealthy", "7 of 8 GPUs are healthy; GPU-7: Xid 79"}));
  EXPECT_THAT(NewsOf(Eight(1), 8).message, HasSubstr("; GPU-4: Xid 79; and others"));
  EXPECT_EQ(NewsOf({.known = 7, .fit = 7, .troubles = {}, .resources = {}}, 8),
            (NodeNews{false, "GPUMissing", "7 of 8 GPUs are healthy; the driver has shown 7 of those on the PCI bus"}));
  EXPECT_TRUE(NewsOf(Report(), 0).healthy);
}

TEST(NodeNewsTest, CountsGpusOnTheBusThatAreNotGivenAway) {
  os::FakeFs fs;
  const auto put = [&](const std::string& address, const char* vendor, const char* kind, const std::string& driver) {
    const std::string folder = "/sys/bus/pci/devices/" + address;
    fs.Put(folder + "/vendor", vendor);
    fs.Put(folder + "/device", "0x20b0\n");
    fs.Put(folder + "/class", kind);
    fs.Put(folder + "/revision", "0xa1\n");
    if (driver.empty()) return;
    fs.Put("/sys/bus/pci/drivers/" + driver + "/uevent", "");
    ASSERT_TRUE(fs.Symlink("/sys/bus/pci/drivers/" + driver, folder + "/driver"));
  };
  EXPECT_EQ(CountPciGpus(fs), 0U);
  put("0000:01:00.0", "0x10de\n", "0x030000\n", "nvidia");
  EXPECT_EQ(CountPciGpus(fs), 1U);
  put("0000:07:00.0", "0x10de\n", "0x030200\n", "nvidia");
  put("0000:08:00.0", "0x10de\n", "0x030200\n", "");
  put("0000:09:00.0", "0x10de\n", "0x030200\n", "vfio-pci");
  put("0000:0a:00.0", "0x10de\n", "0x068000\n", "nvidia-nvswitch");
  put("0000:0b:00.0", "0x8086\n", "0x030200\n", "i915");
  EXPECT_EQ(CountPciGpus(fs), 2U);
}

struct NodeTellerTest : testing::Test {
  NodeTellerTest() {
    door.Put(kube::Node::kResource, {{"metadata", {{"name", "n1"}}}, {"status", boost::json::object()}});
  }
  void Tell(const Report& report) {
    teller.Tell(NewsOf(report, 8));
    executor.RunFor(std::chrono::minutes(5));
  }
  /// "False DeviceUnhealthy".
  std::string Condition() const {
    const data::Json node(*door.Peek(kube::Ref<kube::Node>("n1")));
    return std::string(data::StringOr(node, "status.conditions[0].status")) + " " +
           std::string(data::StringOr(node, "status.conditions[0].reason"));
  }
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    for (const auto& event : door.PeekAll({"", "v1", "events", "Event"}))
      out.emplace_back(data::StringOr(data::Json(event), "message"));
    return out;
  }

  VirtualExecutor executor{3};
  kube::FakeDoor door{executor};
  FakeLog log;
  int opened = 0;
  NodeTeller teller{executor,
                    [this]() -> Result<std::shared_ptr<const kube::Client>> {
                      ++opened;
                      return std::make_shared<const kube::Client>(
                          door, kube::Client::Options{.field_manager = "test", .wait = {}, .stop = {}});
                    },
                    "n1", log};
};

TEST_F(NodeTellerTest, WritesTheConditionAndAnEventWhenSomethingChanges) {
  Tell(Eight(8));
  EXPECT_EQ(Condition(), "True AllHealthy");
  EXPECT_TRUE(Events().empty());
  Tell(Eight(8));
  EXPECT_EQ(opened, 1);
  Tell(Eight(7));
  EXPECT_EQ(Condition(), "False DeviceUnhealthy");
  EXPECT_THAT(Events(), testing::ElementsAre("7 of 8 GPUs are healthy; GPU-7: Xid 79"));
  Tell(Eight(8));
  EXPECT_EQ(Condition(), "True AllHealthy");
  EXPECT_EQ(Events().size(), 2U);
}

TEST_F(NodeTellerTest, TriesAgainUntilTheServerTakesIt) {
  bool broken = true;
  door.Intercept([&](const kube::ApiRequest&) -> std::optional<Result<kube::ApiResponse>> {
    if (!broken) return std::nullopt;
    return Fail(Code::kForbidden, "no");
  });
  Tell(Eight(7));
  EXPECT_FALSE(log.Lines().empty());
  broken = false;
  executor.RunFor(std::chrono::minutes(2));
  EXPECT_EQ(Condition(), "False DeviceUnhealthy");
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
