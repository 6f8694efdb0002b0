// The device plugin in a Pod of a simulated node: the kubelet, Pods that ask for devices, and what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "e2e/plugin/bed.h"
#include "machine/faults/fault.h"
#include "machine/state/life.h"
#include "machine/state/mig.h"
#include "machine/state/state.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kGpu = "nvidia.com/gpu";
constexpr const char* kSlice = "nvidia.com/mig-1g.5gb";

void AllSlices(machine::Spec& spec) {
  for (machine::GpuGroup& group : spec.gpus) {
    group.mig.enabled = true;
    group.mig.instances.assign(7, "1g.5gb");
  }
}

std::string UuidOf(const std::string& id) { return id.substr(0, id.find("::")); }

/// Pods in waves of `wave`, `total` in all, each with one device: nobody ever has what another has, and the kubelet's
/// pod resources API says what the containers were given.
void RunWaves(PluginBed& bed, const std::string& resource, int wave, int total, std::size_t most_per_device) {
  for (int first = 0; first < total; first += wave) {
    std::vector<std::string> names;
    for (int i = first; i < std::min(first + wave, total); ++i) {
      names.push_back("user-" + std::to_string(i));
      bed.CreateUser(names.back(), resource, 1);
    }
    for (const std::string& name : names) ASSERT_TRUE(bed.WaitPhase(name, "Running"));
    const auto said = bed.PodResources();
    std::set<std::string> ids;
    std::map<std::string, std::size_t> uses;
    for (const std::string& name : names) {
      const auto devices = bed.DevicesOf(name);
      ASSERT_THAT(devices, SizeIs(1)) << name;
      ++uses[devices[0]];
      ASSERT_TRUE(said.contains(name)) << name;
      ASSERT_THAT(said.at(name), SizeIs(1));
      EXPECT_EQ(UuidOf(*said.at(name).begin()), devices[0]);
      EXPECT_TRUE(ids.insert(*said.at(name).begin()).second) << *said.at(name).begin() << " has two owners";
    }
    for (const auto& [device, count] : uses) EXPECT_LE(count, most_per_device) << device;
    for (const std::string& name : names) bed.DeletePod(name);
    for (const std::string& name : names) ASSERT_TRUE(bed.WaitGone(name));
  }
}

TEST(DevicePluginNodeTest, APodGetsTheGpusItAsksForAndThoseAlone) {
  PluginBed bed("dgx-a100");
  bed.StartPlugin({{"PASS_DEVICE_SPECS", "true"}});
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
  bed.CreateUser("pair", kGpu, 2);
  ASSERT_TRUE(bed.WaitPhase("pair", "Running"));
  const auto devices = bed.DevicesOf("pair");
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_THAT(devices[0], StartsWith("GPU-"));
  EXPECT_THAT(bed.PodResources().at("pair"), testing::UnorderedElementsAreArray(devices));
}

TEST(DevicePluginNodeTest, CdiNamesResolveOnTheNode) {
  PluginBed bed("dgx-a100");
  // What the container toolkit sees to: containerd 1.7 has CDI off.
  std::filesystem::create_directories(bed.root() + "/etc/containerd");
  std::ofstream(bed.root() + "/etc/containerd/config.toml")
      << "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = true\n";
  bed.Do("engine-restart");
  // The hooks' program comes with the toolkit, which is not here.
  bed.StartPlugin({{"DEVICE_LIST_STRATEGY", "cdi-annotations,cdi-cri"}, {"CDI_DISABLE_HOOKS", "all"}});
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
  bed.CreateUser("one", kGpu, 1);
  ASSERT_TRUE(bed.WaitPhase("one", "Running"));
  EXPECT_TRUE(bed.WaitUntil([&] { return bed.Log("one").contains("/dev/nvidia"); })) << bed.Log("one");
  // One GPU's node; the variable keeps NVIDIA's runtime from giving more.
  EXPECT_THAT(bed.Log("one"), testing::MatchesRegex("void\n/dev/nvidia[0-9]\n"));
}

TEST(DevicePluginNodeTest, TwoHundredPodsOverEightGpus) {
  PluginBed bed("dgx-a100");
  bed.StartPlugin();
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
  RunWaves(bed, kGpu, 8, 200, 1);
}

TEST(DevicePluginNodeTest, TwoHundredPodsOverMigSlices) {
  PluginBed bed("dgx-a100", AllSlices);
  bed.StartPlugin({{"MIG_STRATEGY", "mixed"}});
  ASSERT_TRUE(bed.WaitAllocatable(kSlice, "56"));
  EXPECT_EQ(bed.Allocatable(kGpu), "");
  RunWaves(bed, kSlice, 50, 200, 1);
}

TEST(DevicePluginNodeTest, TwoHundredPodsOverSharedGpus) {
  PluginBed bed("dgx-a100");
  bed.StartPlugin({}, "version: v1\nsharing: {timeSlicing: {resources: [{name: gpu, replicas: 10}]}}\n");
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "80"));
  RunWaves(bed, kGpu, 50, 200, 10);
}

TEST(DevicePluginNodeTest, SettingsThatChangeAreTakenAndRunningPodsStay) {
  PluginBed bed("dgx-a100");
  bed.StartPlugin({}, "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 8}]}}");
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "64"));
  for (int i = 0; i < 6; ++i) bed.CreateUser("user-" + std::to_string(i), kGpu, 1);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(bed.WaitPhase("user-" + std::to_string(i), "Running"));
  bed.ChangeSettings("sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}");
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "32"));
  bed.ChangeSettings("sharing: {timeSlicing: {resources: [{name: gpu, replicas: none of your business}]}}");
  EXPECT_TRUE(bed.WaitUntil([&] { return bed.Log("plugin").contains("expected an integer"); }));
  EXPECT_EQ(bed.Allocatable(kGpu), "32");
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(bed.WaitPhase("user-" + std::to_string(i), "Running"));
}

TEST(DevicePluginNodeTest, EitherSideMayRestartAtAnyTime) {
  PluginBed bed("dgx-a100");
  bed.StartPlugin();
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
  for (int i = 0; i < 3; ++i) {
    bed.Do("kubelet-restart");
    ASSERT_TRUE(bed.WaitUntil([&] {
      const std::string log = bed.Log("plugin");
      std::size_t count = 0;
      for (std::size_t at = 0; (at = log.find("registered with", at)) != std::string::npos; ++at) ++count;
      return count >= static_cast<std::size_t>(i) + 2;
    })) << bed.Log("plugin");
    ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8", 10s));
  }
  bed.DeletePod("plugin");
  ASSERT_TRUE(bed.WaitGone("plugin"));
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "0"));
  bed.StartPlugin();
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8", 10s));
  bed.Do("reboot");
  // The node's Allocatable is what it was until the kubelet writes it: a Pod that comes meanwhile would be refused.
  ASSERT_TRUE(bed.WaitUntil([&] { return bed.KubeletDevices() != 8; }));
  ASSERT_TRUE(bed.WaitUntil([&] { return bed.KubeletDevices() == 8; }));
  bed.CreateUser("after", kGpu, 8);
  ASSERT_TRUE(bed.WaitPhase("after", "Running"));
}

/// What a fault leaves of eight GPUs, seen within two seconds, and whether they come back when it is over.
struct FaultCase {
  const char* fault;
  const char* left;
  const char* mend;
  const char* after;
};

TEST(DevicePluginNodeTest, EachFaultTakesOutWhatItMustAndNoMore) {
  PluginBed bed("dgx-a100");
  bed.StartPlugin({}, "health: {quiet: 2s}");
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
  const FaultCase cases[] = {
      {"off-bus gpu=3", "7", "clear off-bus gpu=3", "8"},
      {"gpu-lost gpu=3", "7", "clear gpu-lost gpu=3", "8"},
      {"needs-reset gpu=3", "7", "clear needs-reset gpu=3", "8"},
      {"power-cable gpu=3", "7", "clear power-cable gpu=3", "8"},
      {"contexts-dead gpu=3", "7", "clear contexts-dead gpu=3", "8"},
      {"xid gpu=3 value=79", "7", "", "8"},
      {"xid gpu=3 value=13", "8", "", "8"},
      {"xid gpu=3 value=31", "8", "", "8"},
      {"nvlink-down gpu=3 value=1", "7", "clear nvlink-down gpu=3 value=1", "8"},
      {"thermal gpu=3", "8", "clear thermal gpu=3", "8"},
      {"power-brake gpu=3", "8", "clear power-brake gpu=3", "8"},
      {"pcie-degraded gpu=3 value=4", "8", "clear pcie-degraded gpu=3", "8"},
      {"mig-busy gpu=3", "8", "clear mig-busy gpu=3", "8"},
      {"ecc-corrected gpu=3 value=5", "8", "", "8"},
      {"no-permission", "8", "clear no-permission", "8"},
      {"fabric-not-ready", "8", "clear fabric-not-ready", "8"},
      {"uvm-missing", "8", "clear uvm-missing", "8"},
      {"hang", "0", "clear hang", "8"},
      {"hang call=nvmlDeviceGetTemperature", "8", "clear hang", "8"},
      {"version-mismatch", "0", "clear version-mismatch", "8"},
      {"module-missing", "0", "clear module-missing", "8"},
      {"module-vermagic", "0", "clear module-vermagic", "8"},
      {"driver-missing", "0", "clear driver-missing", "8"},
      {"device-node-missing gpu=3", "8", "clear device-node-missing gpu=3", "8"},  // NVML has the GPU open already
      {"kernel-hang gpu=3", "8", "clear kernel-hang gpu=3", "8"},
      {"wrong-result gpu=3", "8", "clear wrong-result gpu=3", "8"},
      {"row-remap-pending gpu=3", "7", "clear row-remap-pending gpu=3", "8"},
      {"row-remap-failed gpu=3", "7", "clear row-remap-failed gpu=3", "8"},
      {"engine-restart", "8", "", "8"},
      {"ecc-uncorrected gpu=3 value=1", "7", "reboot", "8"},
  };
  for (const FaultCase& c : cases) {
    SCOPED_TRACE(c.fault);
    ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
    const auto begin = std::chrono::steady_clock::now();
    bed.Do(c.fault);
    if (std::string_view(c.left) != "8") {
      ASSERT_TRUE(bed.WaitAllocatable(kGpu, c.left));
      // The kubelet's own way is in it, and other work on this computer.
      EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
    } else {
      EXPECT_FALSE(bed.WaitUntil([&] { return bed.Allocatable(kGpu) != "8"; }, 2s));
    }
    if (*c.mend != '\0') bed.Do(c.mend);
    ASSERT_TRUE(bed.WaitAllocatable(kGpu, c.after));
  }
}

/// What `nvidia-smi -mig` does, and `nvidia-smi -r`, from outside any Pod: NVML tells of neither.
void Change(PluginBed& bed,
            const std::function<bool(machine::State&, machine::layout::Machine&, std::uint32_t)>& what) {
  auto state = machine::State::Open(bed.root() + "/dev/nvidiactl");
  ASSERT_TRUE(state) << state.error().text;
  auto machine = (*state)->Write();
  for (std::uint32_t gpu = 0; gpu < machine->device_count; ++gpu) ASSERT_TRUE(what(**state, *machine, gpu)) << gpu;
}

TEST(DevicePluginNodeTest, AMigModeThatIsSwitchedFromOutsideIsFollowed) {
  PluginBed bed("dgx-a100", AllSlices);
  bed.StartPlugin({{"MIG_STRATEGY", "single"}});
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "56"));
  Change(bed,
         [](auto& state, auto& machine, auto gpu) { return machine::ResetDevice(state, machine, gpu).has_value(); });
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "0")) << "MIG mode without devices";
  Change(bed, [](auto& state, auto& machine, auto gpu) {
    return machine::SetMigMode(state, machine, gpu, false).value_or(false);
  });
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "8"));
  bed.CreateUser("whole", kGpu, 8);
  ASSERT_TRUE(bed.WaitPhase("whole", "Running"));
  EXPECT_THAT(bed.DevicesOf("whole"), testing::AllOf(SizeIs(8), testing::Each(StartsWith("GPU-"))));
  bed.DeletePod("whole");
  ASSERT_TRUE(bed.WaitGone("whole"));
  Change(bed, [](auto& state, auto& machine, auto gpu) {
    return machine::SetMigMode(state, machine, gpu, true).value_or(false);
  });
  ASSERT_TRUE(bed.WaitAllocatable(kGpu, "0"));
}

TEST(DevicePluginNodeTest, AMachineWithoutGpusOffersNothingAndStaysUp) {
  PluginBed bed("cpu-only");
  bed.StartPlugin({{"FAIL_ON_INIT_ERROR", "false"}});
  ASSERT_TRUE(bed.WaitPhase("plugin", "Running"));
  EXPECT_TRUE(bed.WaitUntil([&] { return bed.Log("plugin").contains("cannot be asked"); }));
  EXPECT_EQ(bed.Allocatable(kGpu), "");
}

}  // namespace
}  // namespace gpuop::e2e
