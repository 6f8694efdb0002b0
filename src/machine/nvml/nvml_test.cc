#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <set>
#include <thread>

#include "base/text.h"
#include "machine/nvml/nvml_fixture_test.h"
#include "machine/nvml/unsupported_names.h"
#include "machine/state/clients.h"

namespace gpuop::machine {
namespace {

TEST_F(NvmlTest, FiguresAreThoseOfTheMachineFile) {
  On("dgx-h100");
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetCount_v2), 8U);
  EXPECT_EQ(*nvml_->GetText(&F::SystemGetDriverVersion), "570.148.08");
  EXPECT_EQ(*nvml_->GetText(&F::SystemGetNVMLVersion), "12.570.148.08");
  const auto device = Device(3);
  EXPECT_EQ(*nvml_->GetText(&F::DeviceGetName, device), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(nvml_->Get(&F::DeviceGetPciInfo_v3, device)->busId, std::string("00000000:61:00.0"));
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetMinorNumber, device), 3U);
  EXPECT_EQ(nvml_->Get(&F::DeviceGetMemoryInfo, device)->total >> 20, 81559U);
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetPowerManagementLimit, device), 700000U);
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetModuleId, device), 7U);
  EXPECT_EQ(nvml_->GetVersion(gpu::nvml::VersionOf<gpu::nvml::GpuFabricInfoV3>(3), &F::DeviceGetGpuFabricInfoV, device)
                ->state,
            3U);
}

TEST_F(NvmlTest, OnlyTheGpusWhoseNodesAreThereAreSeen) {
  On("dgx-a100");
  for (const char* gone : {"0", "1", "2", "4", "6", "7"}) ::unlink((machine_->root() + "/dev/nvidia" + gone).c_str());
  Open();
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetCount_v2), 2U);
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetMinorNumber, Device(0)), 3U);
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetIndex, Device(1)), 1U);
}

TEST_F(NvmlTest, AProcessIsSeenWithItsMemoryUntilItDies) {
  On("t4");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = State::Open(machine_->state_path());
    auto client = Client::Attach(**own, {.device = 0});
    (void)client->Allocate(512U << 20);
    client->SetUtilization(50);
    (void)!::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto device = Device(0);
  auto processes = nvml_->Processes(device, gpu::Nvml::ProcessKind::kCompute);
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 1U);
  EXPECT_EQ(processes->front().pid, static_cast<unsigned>(child));
  EXPECT_EQ(processes->front().usedGpuMemory, 512U << 20);
  EXPECT_EQ(nvml_->Get(&F::DeviceGetUtilizationRates, device)->gpu, 50U);
  const unsigned busy = *nvml_->Get(&F::DeviceGetPowerUsage, device);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  processes = nvml_->Processes(device, gpu::Nvml::ProcessKind::kCompute);
  ASSERT_TRUE(processes);
  EXPECT_TRUE(processes->empty());
  EXPECT_EQ(nvml_->Get(&F::DeviceGetUtilizationRates, device)->gpu, 0U);
  EXPECT_LT(*nvml_->Get(&F::DeviceGetPowerUsage, device), busy);
}

TEST_F(NvmlTest, AWaitingEventSetWakesForItsOwnKindsAlone) {
  On("dgx-a100");
  const auto set = nvml_->Get(&F::EventSetCreate);
  ASSERT_TRUE(set);
  ASSERT_TRUE(nvml_->Call(&F::DeviceRegisterEvents, Device(1), gpu::nvml::kEventTypeXidCriticalError, *set));
  gpu::nvml::EventData data{};
  EXPECT_EQ(nvml_->Try(&F::EventSetWait_v2, *set, &data, 0U), Return::kTimeout);
  std::thread other([&] {
    (void)machine_->Inject({.fault = "xid", .gpu = 0, .value = 31});  // another GPU
    (void)machine_->Inject({.fault = "ecc-corrected", .gpu = 1});     // another kind
    (void)machine_->Inject({.fault = "xid", .gpu = 1, .value = 48});
  });
  EXPECT_EQ(nvml_->Try(&F::EventSetWait_v2, *set, &data, 60000U), Return::kSuccess);
  other.join();
  EXPECT_EQ(data.device, Device(1));
  EXPECT_EQ(data.eventData, 48U);
  EXPECT_EQ(nvml_->Try(&F::EventSetWait_v2, *set, &data, 0U), Return::kTimeout);
  EXPECT_TRUE(nvml_->Call(&F::EventSetFree, *set));
}

TEST_F(NvmlTest, WhichDevicesThereAreIsAnsweredWithoutTheMachinesLock) {
  On("dgx-a100");
  const auto set = nvml_->Get(&F::EventSetCreate);
  ASSERT_TRUE(set);
  gpu::nvml::EventData data{};
  EXPECT_EQ(nvml_->Try(&F::EventSetWait_v2, *set, &data, 0U), Return::kTimeout);
  std::future<void> answered;
  {
    const auto busy = state().Write();
    answered = std::async(std::launch::async, [&] {
      EXPECT_EQ(nvml_->Get(&F::DeviceGetCount_v2).value_or(0), 8U);
      EXPECT_TRUE(nvml_->Get(&F::DeviceGetHandleByIndex_v2, 7U));
      EXPECT_EQ(nvml_->Try(&F::EventSetWait_v2, *set, &data, 0U), Return::kTimeout);
    });
    EXPECT_EQ(answered.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  }
  answered.get();
  EXPECT_TRUE(nvml_->Call(&F::EventSetFree, *set));
}

TEST_F(NvmlTest, TheSameCallsNoticeFaultsAtOnce) {
  On("dgx-a100");
  Break({.fault = "off-bus", .gpu = 3});
  EXPECT_EQ(nvml_->Get(&F::DeviceGetCount_v2).value_or(0), 8U);
  gpu::nvml::Device device = nullptr;
  EXPECT_EQ(nvml_->Try(&F::DeviceGetHandleByIndex_v2, 3U, &device), Return::kUnknown);
  EXPECT_EQ(nvml_->Try(&F::DeviceGetHandleByIndex_v2, 8U, &device), Return::kInvalidArgument);
  EXPECT_TRUE(nvml_->Get(&F::DeviceGetHandleByIndex_v2, 2U));
  Break({.fault = "hang", .call = "nvmlDeviceGetCount_v2"});
  std::atomic<bool> answered = false;
  std::thread caller([&] {
    EXPECT_EQ(nvml_->Get(&F::DeviceGetCount_v2).value_or(0), 8U);
    answered = true;
  });
  EXPECT_TRUE(nvml_->Get(&F::DeviceGetHandleByIndex_v2, 2U));
  EXPECT_FALSE(answered);
  Mend({.fault = "hang"});
  caller.join();
}

TEST_F(NvmlTest, AHangingCallGoesOnWhenTheFaultIsCleared) {
  On("t4");
  Break({.fault = "hang", .call = "nvmlDeviceGetTemperature"});
  const auto device = Device(0);  // other calls answer
  std::atomic<bool> answered = false;
  std::thread caller([&] {
    EXPECT_TRUE(nvml_->Get(&F::DeviceGetTemperature, device, gpu::nvml::TemperatureSensors::kGpu));
    answered = true;
  });
  EXPECT_TRUE(nvml_->Get(&F::DeviceGetPowerUsage, device));
  EXPECT_FALSE(answered);
  Mend({.fault = "hang"});
  caller.join();
  EXPECT_TRUE(answered);
}

TEST_F(NvmlTest, GpmComparesTwoSamplesOnHopper) {
  On("dgx-h100");
  const auto device = Device(0);
  const auto one = nvml_->Get(&F::GpmSampleAlloc), two = nvml_->Get(&F::GpmSampleAlloc);
  ASSERT_TRUE(one && two);
  auto client = Client::Attach(state(), {.device = 0});
  ASSERT_TRUE(client);
  client->SetUtilization(80);
  ASSERT_TRUE(nvml_->Call(&F::GpmSampleGet, device, *one));
  ASSERT_TRUE(nvml_->Call(&F::GpmSampleGet, device, *two));
  auto get = std::make_unique<gpu::nvml::GpmMetricsGet>();
  get->version = 1;
  get->numMetrics = 2;
  get->sample1 = *one;
  get->sample2 = *two;
  get->metrics[0].metricId = 2;
  get->metrics[1].metricId = 999;
  ASSERT_TRUE(nvml_->Call(&F::GpmMetricsGet, get.get()));
  EXPECT_EQ(get->metrics[0].value, 80);
  EXPECT_EQ(get->metrics[1].nvmlReturn, Return::kNotSupported);
  EXPECT_TRUE(nvml_->Call(&F::GpmSampleFree, *one));
  EXPECT_TRUE(nvml_->Call(&F::GpmSampleFree, *two));
}

TEST_F(NvmlTest, ABusyGpuStaysBusyWhenItsFaultsAreCleared) {
  On("t4");
  auto client = Client::Attach(state(), {.device = 0});
  ASSERT_TRUE(client);
  client->SetUtilization(90);
  const auto device = Device(0);
  const unsigned busy = *nvml_->Get(&F::DeviceGetPowerUsage, device);
  Break({.fault = "thermal", .gpu = 0});
  Break({.fault = "power-brake", .gpu = 0});
  const auto reasons = [&] { return *nvml_->Get(&F::DeviceGetCurrentClocksEventReasons, device); };
  EXPECT_EQ(reasons(), 0x8U | 0x20U | 0x40U | 0x80U);
  Mend({.fault = "thermal", .gpu = 0});
  EXPECT_EQ(reasons(), 0x8U | 0x80U) << "the other fault is there still";
  Mend({.fault = "power-brake", .gpu = 0});
  EXPECT_EQ(reasons(), 0U);
  EXPECT_EQ(nvml_->Get(&F::DeviceGetUtilizationRates, device)->gpu, 90U);
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetPowerUsage, device), busy);
}

TEST_F(NvmlTest, LinksEndAtTheSwitchesThatTheHostShows) {
  for (const char* kind : {"dgx-a100", "dgx-h100"}) {
    On(kind);
    std::set<std::string> ends;
    for (unsigned link = 0; link < 12; ++link) {
      const auto pci = nvml_->Get(&F::DeviceGetNvLinkRemotePciInfo_v2, Device(1), link);
      ASSERT_TRUE(pci) << pci.error().text;
      const std::string address = ToLower(pci->busId).substr(4);
      ends.insert(address);
      EXPECT_TRUE(std::filesystem::exists(machine_->root() + "/sys/bus/pci/devices/" + address)) << address;
    }
    EXPECT_EQ(ends.size(), kind == std::string_view("dgx-a100") ? 6U : 4U);
    std::filesystem::remove_all(folder_.path() + "/m");
  }
}

TEST_F(NvmlTest, ErrorsAreSaidAndUnsupportedFunctionsAreThere) {
  On("t4");
  void* library = ::dlopen((OwnDriverFiles().folder + "/libnvidia-ml.so.1").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr);
  using Text = const char* (*)(Return);
  const auto text = reinterpret_cast<Text>(::dlsym(library, "nvmlErrorString"));
  ASSERT_NE(text, nullptr);
  EXPECT_STREQ(text(Return::kGpuIsLost), "GPU is lost");
  using Any = Return (*)(void*, void*, void*);
#define GPUOP_ASK(name)                                                             \
  {                                                                                 \
    const auto function = reinterpret_cast<Any>(::dlsym(library, "nvml" #name));    \
    ASSERT_NE(function, nullptr) << #name;                                          \
    EXPECT_EQ(function(nullptr, nullptr, nullptr), Return::kNotSupported) << #name; \
  }
  GPUOP_NVML_UNSUPPORTED(GPUOP_ASK)
  ::dlclose(library);
}

/// Every function with arguments of zero: an answer, never a crash.
TEST_F(NvmlTest, NullArgumentsAreRefusedByEveryFunction) {
  On("dgx-a100");
  void* library = ::dlopen((OwnDriverFiles().folder + "/libnvidia-ml.so.1").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr);
  using Any = Return (*)(void*, void*, void*, void*, void*, void*);
#define GPUOP_CALL(name, ...)                                                                             \
  if (std::string_view(#name) != "Init" && std::string_view(#name) != "Init_v2" &&                        \
      std::string_view(#name) != "InitWithFlags" && std::string_view(#name) != "Shutdown") {              \
    const auto function = reinterpret_cast<Any>(::dlsym(library, "nvml" #name));                          \
    ASSERT_NE(function, nullptr) << #name;                                                                \
    EXPECT_NE(function(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), Return::kSuccess) << #name; \
  }
  GPUOP_NVML_FUNCTIONS(GPUOP_CALL)
  ::dlclose(library);
}

}  // namespace
}  // namespace gpuop::machine
