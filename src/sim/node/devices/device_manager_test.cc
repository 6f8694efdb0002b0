#include "sim/node/devices/device_manager.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>

#include "base/thread_executor.h"
#include "kube/kubelet/pod_resources.pb.h"
#include "net/grpc/client.h"
#include "os/temp_folder.h"
#include "sim/node/devices/fake_plugin_test.h"

namespace gpuop::sim::node {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

struct DeviceManagerTest : testing::Test {
  DeviceManagerTest() { Start(); }
  ~DeviceManagerTest() override { Stop(); }

  void Start() {
    manager = std::make_unique<DeviceManager>(DeviceManager::Parts{executor, workers, log, folder.path(), [this] {
                                                                     const std::scoped_lock lock(mu);
                                                                     ++changes;
                                                                     changed.notify_all();
                                                                   }});
    const auto started = manager->Start();
    ASSERT_TRUE(started) << started.error().text;
    manager->SetPods(pods);
  }
  void Stop() {
    // As the kubelet does it: on its own executor.
    std::promise<void> done;
    executor.Post([&] {
      manager.reset();
      done.set_value();
    });
    done.get_future().wait();
  }
  /// "capacity/allocatable" of the GPUs, once it is `wanted`.
  std::string WaitForAmounts(const std::string& wanted) {
    std::unique_lock lock(mu);
    std::string now;
    changed.wait_for(lock, 10s, [&] {
      const auto amounts = manager->Amounts();
      const auto it = amounts.find(kGpu);
      now = it == amounts.end() ? "none"
                                : std::to_string(it->second.capacity) + "/" + std::to_string(it->second.allocatable);
      return now == wanted;
    });
    return now;
  }
  std::string Error(const Result<>& r) { return r ? "" : r.error().text; }

  os::TempFolder folder = std::move(os::TempFolder::Make().value());
  FakeLog log;
  std::mutex mu;
  std::condition_variable changed;
  int changes = 0;
  std::vector<DeviceManager::PodName> pods{{"uid-1", "ns", "web", {"main"}}, {"uid-2", "ns", "job", {"main"}}};
  ThreadExecutor workers{4};
  std::unique_ptr<DeviceManager> manager;
  ThreadExecutor executor{1};
  FakePlugin plugin{folder.path(), workers};
};

TEST_F(DeviceManagerTest, APluginsDevicesAreGivenOutAndTheirAnswersKept) {
  plugin.preferred = {"c", "b"};
  plugin.Serve("a b c d!");
  ASSERT_TRUE(plugin.Register());
  EXPECT_EQ(WaitForAmounts("4/3"), "4/3");
  ASSERT_TRUE(manager->Allocate("uid-1", "main", kGpu, 2));
  const DeviceOptions given = manager->OptionsOf("uid-1", "main");
  EXPECT_EQ(given.env.at("IDS"), "c;b;") << "as the plugin prefers";
  EXPECT_THAT(given.cdi, ElementsAre("nvidia.com/gpu=c", "nvidia.com/gpu=b"));
  ASSERT_TRUE(manager->PreStart("uid-1", "main"));
  EXPECT_EQ(plugin.pre_starts, 1);
  EXPECT_TRUE(manager->Allocate("uid-1", "main", kGpu, 2)) << "it has them already";
  EXPECT_EQ(Error(manager->Allocate("uid-2", "main", kGpu, 2)),
            "requested number of devices unavailable for nvidia.com/gpu. Requested: 2, Available: 1");
  manager->SetPods({pods[1]});
  EXPECT_TRUE(manager->Allocate("uid-2", "main", kGpu, 2)) << "the other Pod has gone";
}

TEST_F(DeviceManagerTest, PodResourcesSayWhoHasWhat) {
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  WaitForAmounts("2/2");
  ASSERT_TRUE(manager->Allocate("uid-1", "main", kGpu, 1));
  net::GrpcClient client(folder.path() + "/pod-resources/kubelet.sock");
  const auto bytes = client.Call("/v1.PodResourcesLister/List", "", 10s);
  ASSERT_TRUE(bytes) << bytes.error().text;
  kube::podresources::ListPodResourcesResponse list;
  ASSERT_TRUE(list.ParseFromString(*bytes));
  ASSERT_EQ(list.pod_resources_size(), 2);
  const auto& devices = list.pod_resources(0).containers(0).devices(0);
  EXPECT_EQ(list.pod_resources(0).name(), "web");
  EXPECT_EQ(devices.resource_name(), kGpu);
  EXPECT_THAT(devices.device_ids(), ElementsAre("a"));
  EXPECT_EQ(devices.topology().nodes(0).id(), 1);
  EXPECT_EQ(list.pod_resources(1).containers(0).devices_size(), 0);
}

TEST_F(DeviceManagerTest, AfterARestartThereIsNothingUntilThePluginRegistersAgain) {
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  WaitForAmounts("2/2");
  ASSERT_TRUE(manager->Allocate("uid-1", "main", kGpu, 1));
  Stop();
  Start();
  EXPECT_EQ(WaitForAmounts("0/0"), "0/0") << "it is known, and has no devices";
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/device-plugins/nvidia.sock")) << "sockets are wiped";
  EXPECT_EQ(Error(manager->Allocate("uid-2", "main", kGpu, 1)),
            "no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu");
  plugin.Stop();
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  EXPECT_EQ(WaitForAmounts("2/2"), "2/2");
  EXPECT_EQ(manager->OptionsOf("uid-1", "main").env.at("IDS"), "a;") << "from the checkpoint";
  EXPECT_EQ(Error(manager->Allocate("uid-2", "main", kGpu, 2)),
            "requested number of devices unavailable for nvidia.com/gpu. Requested: 2, Available: 1");
}

TEST_F(DeviceManagerTest, APluginThatGoesLeavesItsDevicesUnhealthy) {
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  WaitForAmounts("2/2");
  plugin.Stop();
  EXPECT_EQ(WaitForAmounts("2/0"), "2/0");
}

TEST_F(DeviceManagerTest, HealthFollowsThePluginsList) {
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  WaitForAmounts("2/2");
  ASSERT_TRUE(manager->Allocate("uid-1", "main", kGpu, 1));
  plugin.Set("a! b");
  EXPECT_EQ(WaitForAmounts("2/1"), "2/1");
  EXPECT_EQ(Error(manager->Allocate("uid-1", "main", kGpu, 1)),
            "previously allocated devices are no longer healthy; cannot allocate unhealthy devices nvidia.com/gpu");
}

TEST_F(DeviceManagerTest, BadRegistrationsAreRefused) {
  plugin.Serve("a");
  EXPECT_THAT(
      plugin.Register(kGpu, "v1alpha").error().text,
      HasSubstr("requested API version \"v1alpha\" is not supported by kubelet. Supported version is [\"v1beta1\"]"));
  EXPECT_THAT(plugin.Register("gpu").error().text, HasSubstr("the ResourceName \"gpu\" is invalid"));
}

TEST_F(DeviceManagerTest, APluginsRefusalIsPassedOn) {
  plugin.refuse = true;
  plugin.Serve("a");
  ASSERT_TRUE(plugin.Register());
  WaitForAmounts("1/1");
  EXPECT_EQ(Error(manager->Allocate("uid-1", "main", kGpu, 1)), "rpc error: code = Unknown desc = no more");
}

TEST(DeviceTableTest, ACheckpointThatWasChangedIsRefused) {
  DeviceTable table;
  table.SetDevices(kGpu, {{"a", {true, {}}}});
  table.Grant({"u", "c", kGpu, {"a"}, "bytes"});
  std::string text = table.ToCheckpoint();
  DeviceTable read;
  ASSERT_TRUE(read.ReadCheckpoint(text));
  ASSERT_EQ(read.grants().size(), 1U);
  EXPECT_EQ(read.grants()[0].response, "bytes");
  EXPECT_TRUE(read.Has(kGpu));
  text.replace(text.find("\"u\""), 3, "\"v\"");
  EXPECT_FALSE(read.ReadCheckpoint(text));
}

}  // namespace
}  // namespace gpuop::sim::node
