// What the driver manager touches, what it leaves alone, and that it always puts back what it took.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/thread_executor.h"
#include "kube/door_fake.h"
#include "kube/types/core.h"
#include "kube/types/pod.h"
#include "operands/driver_manager/holders.h"
#include "operands/driver_manager/manager.h"
#include "operands/driver_manager/pause.h"
#include "operands/host/machine_files_test.h"

namespace gpuop::operands::driver_manager {
namespace {

using data::JsonArray;
using data::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- Labels (M01).

TEST(PauseTest, EveryValueComesBackAsItWas) {
  const std::pair<const char*, const char*> cases[] = {{"true", "paused-for-driver-upgrade"},
                                                       {"false", "false"},
                                                       {"custom", "custom_paused-for-driver-upgrade"},
                                                       {"", ""}};
  for (const auto& [value, paused] : cases) {
    EXPECT_EQ(PausedValue(value), paused);
    EXPECT_EQ(PausedValue(paused), paused);
    EXPECT_EQ(ResumedValue(paused), value);
    EXPECT_EQ(ResumedValue(value), value);
  }
}

TEST(PauseTest, ALabelThatIsNotThereIsNotMade) {
  const kube::StringMap labels{{"nvidia.com/gpu.deploy.device-plugin", "true"},
                               {"nvidia.com/gpu.deploy.dcgm", "false"},
                               {"nvidia.com/gpu.deploy.driver", "true"},
                               {"example.com/mine", "yes"}};
  EXPECT_EQ(PlanPause(labels, ""),
            (LabelChanges{{"nvidia.com/gpu.deploy.device-plugin", "paused-for-driver-upgrade"}}));
  EXPECT_EQ(PlanPause(labels, "example.com/mine").at("example.com/mine"), "yes_paused-for-driver-upgrade");
  EXPECT_THAT(PlanResume(labels, ""), IsEmpty());
}

// --- Pods.

JsonObject Pod(const std::string& name, const char* extra) {
  const auto spec = data::ParseJson(extra);
  JsonObject pod{{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata", JsonObject{{"name", name}, {"namespace", "users"}, {"uid", "uid-" + name}}},
                 {"status", JsonObject{{"phase", "Running"}}}};
  for (const auto& [key, value] : spec->as_object()) {
    if (key == "metadata")
      for (const auto& [inner, what] : value.as_object()) pod["metadata"].as_object()[inner] = what;
    else
      pod[key] = value;
  }
  return pod;
}

constexpr const char* kAsks =
    R"({"spec":{"nodeName":"n1","containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},
  "metadata":{"ownerReferences":[{"kind":"ReplicaSet","controller":true}]}})";

TEST(GpuPodsTest, InitContainersAndMigCountAndEndedPodsDoNot) {
  EXPECT_TRUE(AsGpuPod(Pod("a", kAsks)));
  EXPECT_TRUE(AsGpuPod(Pod(
      "b",
      R"({"spec":{"containers":[{}],"initContainers":[{"resources":{"requests":{"nvidia.com/mig-1g.5gb":1}}}]}})")));
  EXPECT_FALSE(AsGpuPod(Pod("c", R"({"spec":{"containers":[{"resources":{"limits":{"cpu":1}}}]}})")));
  EXPECT_FALSE(AsGpuPod(Pod(
      "d",
      R"({"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}]},"status":{"phase":"Succeeded"}})")));
}

TEST(GpuPodsTest, ARefusalNamesPodAndSettingAndEvictsNobody) {
  Options options;
  const PodOnNode controlled{.ns = "u", .name = "a", .has_controller = true}, bare{.ns = "u", .name = "b"},
      disk{.ns = "u", .name = "c", .has_controller = true, .has_empty_dir = true},
      daemon{.ns = "u", .name = "d", .of_daemon_set = true, .has_controller = true};
  EXPECT_THAT(PlanEviction(std::vector{controlled, daemon}, true, options).evict, ElementsAre(controlled));
  const EvictionPlan refused = PlanEviction(std::vector{controlled, bare, disk}, true, options);
  EXPECT_THAT(refused.evict, IsEmpty());
  EXPECT_THAT(refused.refusal,
              testing::AllOf(HasSubstr("u/b would not be made again (DRAIN_USE_FORCE=true"),
                             HasSubstr("u/c would lose its emptyDir (DRAIN_DELETE_EMPTYDIR_DATA=true")));
  options.force = options.delete_empty_dir = true;
  EXPECT_EQ(PlanEviction(std::vector{bare, disk}, true, options).evict.size(), 2U);
  EXPECT_THAT(PlanEviction(std::vector{controlled}, false, options).refusal, HasSubstr("ENABLE_GPU_POD_EVICTION"));
}

// --- Who holds the driver.

TEST(HoldersTest, ProcessesAreNamedWithTheirPod) {
  os::FakeFs fs;
  for (const char* const pid : {"1", "42", "43"}) fs.Put(std::string("/proc/") + pid + "/fd/x", "");
  fs.Put("/proc/42/comm", "python3\n");
  fs.Put("/proc/42/cgroup",
         "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod01234567_89ab_cdef_0123_456789abcdef.slice/"
         "cri-x.scope\n");
  ASSERT_TRUE(fs.Symlink("/dev/nvidia3", "/proc/42/fd/5"));
  ASSERT_TRUE(fs.Symlink("/dev/null", "/proc/1/fd/0"));
  ASSERT_TRUE(fs.Symlink("/dev/nvidiactl", "/proc/43/fd/9"));
  const auto holders = FindHolders(fs);
  ASSERT_EQ(holders.size(), 2U);
  EXPECT_EQ(holders[0].Words(),
            "process 42 (python3) of the Pod with UID 01234567-89ab-cdef-0123-456789abcdef holds /dev/nvidia3");
  EXPECT_THAT(holders[1].Words(), HasSubstr("of the host holds /dev/nvidiactl"));
  EXPECT_EQ(PodUidIn("11:devices:/kubepods/besteffort/pod01234567-89ab-cdef-0123-456789abcdef/abc"),
            "01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(PodUidIn("0::/system.slice/podman.service"), "");
}

TEST(ModulesTest, OrderAndUsers) {
  os::FakeFs fs;
  fs.Put("/proc/modules",
         "nvidia_uvm 1 0 - Live 0x0\nnvidia_drm 1 0 - Live 0x0\nnvidia_modeset 1 1 nvidia_drm, Live 0x0\nnvidia 1 2 "
         "nvidia_uvm,nvidia_modeset, Live 0x0\n");
  EXPECT_THAT(LoadedDriverModules(fs), ElementsAre("nvidia_drm", "nvidia_modeset", "nvidia_uvm", "nvidia"));
  EXPECT_EQ(ModulesInUse(fs), "");
  fs.Put("/proc/modules", "nvidia 1 1 foreign, Live 0x0\n");
  EXPECT_EQ(ModulesInUse(fs), "nvidia is used by foreign");
  fs.Put("/proc/modules", "nvidia 1 3 - Live 0x0\n");
  EXPECT_EQ(ModulesInUse(fs), "nvidia has 3 users");
}

TEST(DriverManagerOptionsTest, ATimeoutNeedsNoUnitAndMistakesNameTheVariable) {
  std::map<std::string, std::string> env{{"NODE_NAME", "n1"}};
  const auto read = [&] {
    return ReadOptions([&](const std::string& name) -> std::optional<std::string> {
      const auto it = env.find(name);
      return it == env.end() ? std::nullopt : std::optional(it->second);
    });
  };
  env["DRAIN_TIMEOUT_SECONDS"] = "90";
  EXPECT_EQ(read()->timeout, Duration(std::chrono::seconds(90)));
  env["DRAIN_TIMEOUT_SECONDS"] = "2m";
  EXPECT_EQ(read()->timeout, Duration(std::chrono::minutes(2)));
  env["DRAIN_TIMEOUT_SECONDS"] = "0s";
  EXPECT_EQ(read()->timeout, Duration(std::chrono::minutes(30)));
  env["DRAIN_TIMEOUT_SECONDS"] = "soon";
  EXPECT_THAT(read().error().text, HasSubstr("DRAIN_TIMEOUT_SECONDS"));
  env.erase("DRAIN_TIMEOUT_SECONDS");
  env["FORCE_REINSTALL"] = "perhaps";
  EXPECT_THAT(read().error().text, HasSubstr(R"(FORCE_REINSTALL: "perhaps")"));
  env.clear();
  EXPECT_THAT(read().error().text, HasSubstr("NODE_NAME must be set"));
}

// --- The whole.

struct ManagerTest : testing::Test {
  ManagerTest() {
    options.node = "n1";
    host::PutMachine(machine, 2);
    host::RemoveTree(machine, "/usr/lib");  // the driver is a container's
    own.Put("/run/nvidia/nvidia-driver.pid", "1");
    own.Put("/run/nvidia/nvidia-driver.state", "old\n");
    door.Put(kube::ResourceOf<kube::Node>(),
             {{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata",
               JsonObject{{"name", "n1"}, {"labels", JsonObject{{"nvidia.com/gpu.deploy.device-plugin", "true"}}}}},
              {"spec", JsonObject()}});
    // What the kubelet and the API do with an eviction.
    door.Intercept([this](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
      if (request.method == "PATCH" && request.body.find("paused-for-driver-upgrade") != std::string::npos) ++paused;
      return std::nullopt;
    });
  }
  Result<> Run() {
    Manager manager({options, kube::Client(door), executor, machine, own, kernel, log, stop.get_token()});
    return manager.UninstallDriver();
  }
  std::string Label(const char* name) const {
    const auto node = door.Peek(kube::Ref<kube::Node>("n1"));
    const data::Json* value = data::GetObject(*node, "metadata.labels")->if_contains(name);
    return value == nullptr ? "none" : std::string(data::AsView(value->as_string()));
  }
  /// Nothing of what was done for the time being is left.
  void ExpectPutBack() {
    EXPECT_EQ(Label("nvidia.com/gpu.deploy.device-plugin"), "true");
    const auto node = door.Peek(kube::Ref<kube::Node>("n1"));
    EXPECT_FALSE(data::BoolOr(*node, "spec.unschedulable"));
    const JsonObject* annotations = data::GetObject(*node, "metadata.annotations");
    EXPECT_TRUE(annotations == nullptr || annotations->empty());
  }

  Options options;
  os::FakeFs machine, own;
  FakeKernel kernel;
  FakeLog log;
  ThreadExecutor executor{2};
  kube::FakeDoor door{executor};
  std::stop_source stop;
  std::atomic<int> paused = 0;
};

TEST_F(ManagerTest, AHostsOwnDriverIsRefusedAndTheNodeLabelled) {
  machine.Put("/usr/bin/nvidia-smi", "x", {.mode = 0755});
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("the host brings its own driver"));
  EXPECT_EQ(Label("nvidia.com/gpu.deploy.driver"), "pre-installed");
  EXPECT_THAT(kernel.asked, IsEmpty());
  EXPECT_EQ(paused, 0);
  EXPECT_EQ(door.PeekAll(kube::ResourceOf<kube::Event>()).size(), 1U);
}

TEST_F(ManagerTest, WithNoDriverLoadedNobodyIsDisturbed) {
  host::UnloadDriver(machine);
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("a", kAsks));
  ASSERT_TRUE(Run());
  EXPECT_THAT(kernel.asked, ElementsAre("unmount /run/nvidia/driver"));
  EXPECT_EQ(paused, 0);
  EXPECT_EQ(door.PeekAll(kube::ResourceOf<kube::Pod>()).size(), 1U);
  EXPECT_FALSE(os::Exists(own, "/run/nvidia/nvidia-driver.pid").value());
}

TEST_F(ManagerTest, TheWantedDriverStaysLoadedAndAReinstallIsForced) {  // M04
  options.config_digest = "old";
  ASSERT_TRUE(Run());
  EXPECT_THAT(kernel.asked, ElementsAre("unmount /run/nvidia/driver"));
  options.force_reinstall = true;
  kernel.asked.clear();
  ASSERT_TRUE(Run());
  EXPECT_THAT(kernel.asked, ElementsAre("unload nvidia_uvm", "unload nvidia", "unmount /run/nvidia/driver"));
  EXPECT_EQ(paused, 1);
  ExpectPutBack();
}

TEST_F(ManagerTest, GpuPodsGoAndOthersStay) {
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("gpu", kAsks));
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("other", R"({"spec":{"nodeName":"n1","containers":[{}]}})"));
  ASSERT_TRUE(Run());
  const auto left = door.PeekAll(kube::ResourceOf<kube::Pod>());
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(data::StringOr(left[0], "metadata.name"), "other");
  ExpectPutBack();
}

TEST_F(ManagerTest, ARefusalComesBeforeAnythingIsDisturbed) {
  door.Put(kube::ResourceOf<kube::Pod>(),
           Pod("bare", R"({"spec":{"nodeName":"n1","containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}]}})"));
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("users/bare would not be made again"));
  EXPECT_EQ(paused, 0);
  EXPECT_THAT(kernel.asked, IsEmpty());
  ExpectPutBack();
}

TEST_F(ManagerTest, WhoHoldsTheDriverIsNamedAndAllIsPutBack) {
  machine.Put("/proc/77/comm", "Xorg\n");
  machine.Put("/proc/77/fd/x", "");
  ASSERT_TRUE(machine.Symlink("/dev/nvidia0", "/proc/77/fd/4"));
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("process 77 (Xorg) of the host holds /dev/nvidia0"));
  EXPECT_EQ(paused, 1);
  EXPECT_THAT(kernel.asked, IsEmpty());
  ExpectPutBack();
}

TEST_F(ManagerTest, WhoStillHoldsTheDriverAfterGpuPodsHaveGoneDrainsTheNodeIfThatIsAllowed) {
  // A Pod that uses GPUs without having asked for one; it goes when it is evicted.
  machine.Put("/proc/77/fd/x", "");
  ASSERT_TRUE(machine.Symlink("/dev/nvidia0", "/proc/77/fd/4"));
  const char* const owned = R"({"spec":{"nodeName":"n1","containers":[{}]},
    "metadata":{"labels":{"drain":"yes"},"ownerReferences":[{"kind":"ReplicaSet","controller":true}]}})";
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("hidden", owned));
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("static", R"({"spec":{"nodeName":"n1","containers":[{}]},
    "metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}})"));
  door.Intercept([this](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (request.path.ends_with("/hidden/eviction")) host::RemoveTree(machine, "/proc/77");
    return std::nullopt;
  });
  options.auto_drain = false;
  EXPECT_THAT(Run().error().text, HasSubstr("process 77"));
  EXPECT_EQ(door.PeekAll(kube::ResourceOf<kube::Pod>()).size(), 2U);
  options.auto_drain = true;
  options.pod_selector = "drain=no";
  EXPECT_THAT(Run().error().text, HasSubstr("process 77"));
  EXPECT_EQ(door.PeekAll(kube::ResourceOf<kube::Pod>()).size(), 2U);
  options.pod_selector = "drain=yes";
  ASSERT_TRUE(Run());
  const auto left = door.PeekAll(kube::ResourceOf<kube::Pod>());
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(data::StringOr(left[0], "metadata.name"), "static");
  ExpectPutBack();
}

TEST_F(ManagerTest, ADrainThatWouldLoseSomethingIsRefusedWithTheSetting) {
  machine.Put("/proc/77/fd/x", "");
  ASSERT_TRUE(machine.Symlink("/dev/nvidia0", "/proc/77/fd/4"));
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("bare", R"({"spec":{"nodeName":"n1","containers":[{}]}})"));
  EXPECT_THAT(Run().error().text,
              testing::AllOf(HasSubstr("cannot be drained: users/bare"), HasSubstr("DRAIN_USE_FORCE")));
  ExpectPutBack();
}

TEST_F(ManagerTest, GpusOfVirtualMachinesComeBackUnlessOneUsesThem) {
  host::UnloadDriver(machine);
  const std::string device = "/sys/bus/pci/devices/0000:08:00.0";
  ASSERT_TRUE(machine.Remove(device + "/driver"));
  ASSERT_TRUE(machine.Symlink("../../../bus/pci/drivers/vfio-pci", device + "/driver"));
  ASSERT_TRUE(machine.Symlink("../../../kernel/iommu_groups/12", device + "/iommu_group"));
  machine.Put("/proc/88/comm", "qemu-kvm\n");
  machine.Put("/proc/88/fd/x", "");
  ASSERT_TRUE(machine.Symlink("/dev/vfio/12", "/proc/88/fd/9"));
  EXPECT_THAT(Run().error().text, testing::AllOf(HasSubstr("GPU 0000:08:00.0 is in use by a virtual machine"),
                                                 HasSubstr("88 (qemu-kvm)"), HasSubstr("/dev/vfio/12")));
  EXPECT_THAT(kernel.asked, IsEmpty());
  host::RemoveTree(machine, "/proc/88");
  ASSERT_TRUE(Run());
  EXPECT_THAT(kernel.asked, ElementsAre("unbind 0000:08:00.0", "unmount /run/nvidia/driver"));
}

TEST_F(ManagerTest, WithRdmaTheNetworkDriverComesFirst) {
  host::UnloadDriver(machine);
  options.rdma = true;
  ASSERT_TRUE(Run()) << "no network device that could want one";
  const std::string device = "/sys/bus/pci/devices/0000:21:00.0";
  machine.Put(device + "/vendor", "0x15b3\n");
  machine.Put(device + "/device", "0x1021\n");
  machine.Put(device + "/class", "0x020700\n");
  EXPECT_THAT(Run().error().text, HasSubstr("/run/mellanox/drivers/.driver-ready"));
  EXPECT_EQ(data::StringOr(door.PeekAll(kube::ResourceOf<kube::Event>()).at(0), "reason"), "NetworkDriverNotReady");
  machine.Put("/run/mellanox/drivers/.driver-ready", "");
  EXPECT_TRUE(Run());
  options.host_mofed = true;
  EXPECT_THAT(Run().error().text, HasSubstr("mlx5_core"));
  machine.Put("/proc/modules", "mlx5_core 1 0 - Live 0x0\n");
  EXPECT_TRUE(Run());
}

TEST_F(ManagerTest, AModuleThatDoesNotGoIsAnErrorAndAllIsPutBack) {
  kernel.fail = {"unload nvidia_uvm"};
  ASSERT_FALSE(Run());
  EXPECT_THAT(kernel.asked, ElementsAre("unload nvidia_uvm"));
  ExpectPutBack();
}

TEST_F(ManagerTest, NouveauInUseIsNotForced) {  // C034
  host::UnloadDriver(machine);
  machine.Put("/proc/modules", "nouveau 1 2 - Live 0x0\n");
  kernel.fail = {"unload nouveau"};
  EXPECT_THAT(Run().error().text, HasSubstr("NouveauInUse"));
}

TEST_F(ManagerTest, WhatAKilledRunLeftIsMadeGoodByTheNext) {
  host::UnloadDriver(machine);
  door.Put(kube::ResourceOf<kube::Node>(),
           {{"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata",
             JsonObject{{"name", "n1"},
                        {"labels", JsonObject{{"nvidia.com/gpu.deploy.device-plugin", "paused-for-driver-upgrade"}}},
                        {"annotations", JsonObject{{"gpu-operator.dev/driver-manager-cordon", "true"}}}}},
            {"spec", JsonObject{{"unschedulable", true}}}});
  ASSERT_TRUE(Run());
  ExpectPutBack();
}

TEST_F(ManagerTest, SomebodyElsesCordonStays) {
  door.Put(kube::ResourceOf<kube::Node>(), {{"apiVersion", "v1"},
                                            {"kind", "Node"},
                                            {"metadata", JsonObject{{"name", "n1"}}},
                                            {"spec", JsonObject{{"unschedulable", true}}}});
  door.Put(kube::ResourceOf<kube::Pod>(), Pod("gpu", kAsks));
  ASSERT_TRUE(Run());
  EXPECT_TRUE(data::BoolOr(*door.Peek(kube::Ref<kube::Node>("n1")), "spec.unschedulable"));
}

TEST_F(ManagerTest, AskedToStopItPutsBackWhatItTook) {
  JsonObject operand = Pod(
      "plugin",
      R"({"metadata":{"namespace":"gpu-operator","labels":{"app":"nvidia-device-plugin-daemonset"}},"spec":{"nodeName":"n1","containers":[{}]}})");
  door.Put(kube::ResourceOf<kube::Pod>(), operand);
  std::jthread asker([&] {
    while (paused == 0) std::this_thread::yield();
    stop.request_stop();
  });
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kCancelled);
  ExpectPutBack();
}

}  // namespace
}  // namespace gpuop::operands::driver_manager
