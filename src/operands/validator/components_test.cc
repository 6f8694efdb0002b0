// Whole components: their exit, their status files and what they tell, against a record of NVIDIA's program.

#include "operands/validator/components.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/testing/source_dir.h"
#include "base/thread_executor.h"
#include "data/json.h"
#include "kube/door_fake.h"
#include "kube/types/core.h"
#include "kube/types/node.h"
#include "operands/host/machine_files_test.h"
#include "operands/validator/path_news.h"
#include "operands/validator/report.h"
#include "operands/validator/workload_pod.h"
#include "os/fake_fs.h"
#include "os/temp_folder.h"

namespace gpuop::operands::validator {
namespace {

using data::JsonObject;
using testing::HasSubstr;

constexpr const char* kFolder = "/run/nvidia/validations";
constexpr const char* kHealthy =
    R"({"driverVersion":"550.163.01","gpus":[{"product":"A100"},{"index":1,"product":"A100"}]})";

/// A component with everything around it, of which a test breaks what it wants.
struct Bed {
  Bed() {
    host::PutMachine(host, 2);
    own.Put(std::string(kFolder) + "/old-file", "x");
    processes.Install("/proc/self/exe",
                      [this](const os::Command&) -> Result<os::Exit> { return os::Exit{.out = driver_says}; });
    door.Put(kube::ResourceOf<kube::Node>(), {{"apiVersion", "v1"},
                                              {"kind", "Node"},
                                              {"metadata", JsonObject{{"name", "n1"}, {"uid", "u1"}}},
                                              {"status", JsonObject{}}});
  }

  Result<> Run(std::map<std::string, std::string> env) {
    env.emplace("NODE_NAME", "n1");
    env.emplace("OPERATOR_NAMESPACE", "gpu-operator");
    ASSIGN(const auto options, ReadOptions({}, [&](const std::string& name) -> std::optional<std::string> {
             const auto it = env.find(name);
             return it == env.end() ? std::nullopt : std::optional(it->second);
           }));
    StatusFiles files(own, options->output_dir);
    TRY(files.Prepare(options->cleanup_all));
    const kube::Client client(door, {.stop = stop.get_token()});
    return RunComponent({*options, own, with_host ? &host : nullptr, &dev_char, processes, watcher, clock, log,
                         with_api ? &client : nullptr, &executor, "no configuration", stop.get_token(), files});
  }
  /// name to content, as the record has it.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> out;
    for (const std::string& name : own.List(kFolder).value_or(std::vector<std::string>()))
      out[name] = own.Read(std::string(kFolder) + "/" + name).value_or("?");
    return out;
  }
  JsonObject Condition() const {
    const auto node = door.Peek(kube::Ref<kube::Node>("n1"));
    const data::JsonArray* conditions = node ? data::GetArray(*node, "status.conditions") : nullptr;
    return conditions == nullptr || conditions->empty() ? JsonObject() : conditions->front().as_object();
  }

  os::FakeFs own, host, dev_char;
  os::FakeProcesses processes;
  os::FakeWatcher watcher;
  FakeClock clock;
  FakeLog log;
  ThreadExecutor executor{1};
  kube::FakeDoor door{executor};
  std::stop_source stop;
  std::string driver_says = kHealthy;
  bool with_host = true, with_api = true;
};

/// The record's runs, and where ours is meant to differ.
TEST(ValidatorOracleTest, ExitAndFilesAreNvidias) {
  std::ifstream in(std::string(SourceDir()) + "/testdata/validator/oracle.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto record = data::ParseJson(text);
  ASSERT_TRUE(record) << record.error().text;
  const std::map<std::string, std::map<std::string, std::string>> ours = {
      // A run that is skipped leaves no file of an earlier one.
      {"vgpu-devices-container", {{"old-file", "x"}, {"workload-type", "container\n"}}},
  };
  const auto container = os::TempFolder::Make();
  ASSERT_TRUE(container);
  std::filesystem::create_directories(container->path() + "/usr/lib64");
  std::ofstream(container->path() + "/usr/lib64/libnvidia-ml.so.1") << "ELF";
  for (const data::Json& run : *data::GetArray(*record, "runs")) {
    const std::string name(data::StringOr(run, "name"));
    SCOPED_TRACE(name);
    Bed bed;
    std::map<std::string, std::string> env;
    for (const auto& [key, value] : *data::GetObject(run, "env"))
      env[std::string(key)] = data::AsView(value.as_string());
    // The record's node has a driver container's files, no driver on the host, no toolkit and no modules.
    env.erase("NODE_NAME");
    bed.own.Put(std::string(kFolder) + "/" + env["COMPONENT"] + "-ready", "stale");
    if (env["COMPONENT"] == "driver")
      host::RemoveTree(bed.host, "/usr/lib");
    else
      host::UnloadDriver(bed.host);
    env["DRIVER_INSTALL_DIR_CTR_PATH"] = container->path();
    bed.own.Put(container->path() + "/dev/nvidiactl", "");
    const auto done = bed.Run(env);
    EXPECT_EQ(done ? 0 : 1, data::IntOr(run, "exit_code")) << (done ? "" : done.error().text);
    std::map<std::string, std::string> want;
    for (const auto& [key, value] : *data::GetObject(run, "files_after"))
      want[std::string(key)] = data::AsView(value.as_string());
    if (const auto it = ours.find(name); it != ours.end()) want = it->second;
    EXPECT_EQ(bed.Files(), want);
  }
}

TEST(ValidatorComponentsTest, AHostDriverIsAcceptedAndSaidWhereItIs) {
  Bed bed;
  ASSERT_TRUE(bed.Run({{"COMPONENT", "driver"}, {"HOST_ROOT", "/myhost"}}));
  EXPECT_EQ(bed.Files()["driver-ready"],
            "IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/myhost\nDRIVER_ROOT_CTR_PATH=/host\nNVIDIA_DEV_ROOT=/"
            "myhost\nDEV_ROOT_CTR_PATH=/host\n");
  EXPECT_EQ(bed.dev_char.ReadLink("/195:0").value_or(""), "/dev/nvidia0");
  EXPECT_EQ(data::StringOr(bed.Condition(), "reason"), "Validating");
}

TEST(ValidatorComponentsTest, DevCharLinksCanBeSwitchedOff) {
  Bed bed;
  ASSERT_TRUE(bed.Run({{"COMPONENT", "driver"}, {"DISABLE_DEV_CHAR_SYMLINK_CREATION", "true"}}));
  EXPECT_EQ(bed.dev_char.changes(), 0U);
}

TEST(ValidatorComponentsTest, ABrokenDriverIsToldOnTheNodeWithItsFirstCheckAndAnEvent) {
  Bed bed;
  host::UnloadDriver(bed.host);
  const auto done = bed.Run({{"COMPONENT", "driver"}});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("DriverNotLoaded: host driver: "));
  EXPECT_FALSE(bed.Files().contains("driver-ready"));
  EXPECT_EQ(data::StringOr(bed.Condition(), "status"), "False");
  EXPECT_EQ(data::StringOr(bed.Condition(), "reason"), "DriverNotLoaded");
  EXPECT_THAT(std::string(data::StringOr(bed.Condition(), "message")), HasSubstr("first check: modprobe nvidia"));
  const auto events = bed.door.PeekAll(kube::ResourceOf<kube::Event>());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(data::StringOr(events[0], "reason"), "DriverNotLoaded");
  EXPECT_EQ(data::StringOr(events[0], "metadata.namespace"), "default");
  EXPECT_EQ(data::StringOr(events[0], "involvedObject.uid"), "u1");
}

TEST(ValidatorComponentsTest, ADriverThatHangsIsNamed) {
  Bed bed;
  bed.processes.Install("/proc/self/exe",
                        [](const os::Command&) -> Result<os::Exit> { return Fail(Code::kTimeout, "x"); });
  EXPECT_THAT(bed.Run({{"COMPONENT", "driver"}}).error().text, HasSubstr("DriverHung"));
}

TEST(ValidatorComponentsTest, WaitingEndsWithTheEventThatMends) {
  Bed bed;
  ASSERT_TRUE(bed.host.Remove("/dev/nvidia-uvm"));
  bed.own.Put(std::string(kFolder) + "/driver-ready", "stale");
  std::jthread mender([&] {
    while (data::StringOr(bed.Condition(), "reason") != "UVMMissing") std::this_thread::yield();
    bed.host.Put("/dev/nvidia-uvm", "");
    bed.own.Put("/host/dev/nvidia-uvm", "");
    bed.watcher.Change("/host/dev/nvidia-uvm");
  });
  // Were it not for the event, the test would wait for a day.
  const auto done = bed.Run({{"COMPONENT", "driver"}, {"WITH_WAIT", "true"}, {"SLEEP_INTERVAL_SECONDS", "86400"}});
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_THAT(bed.Files()["driver-ready"], HasSubstr("IS_HOST_DRIVER=true"));
}

TEST(PathNewsTest, ADeviceThatIsOnlyUsedIsNoNews) {
  os::FakeFs fs;
  fs.Put("/host/dev/nvidiactl", "");
  PathNews news(fs, {"/host/dev/nvidiactl", "/host/dev/nvidia0", "/host/etc/cdi"});
  EXPECT_FALSE(news.Any({"/host/dev/nvidiactl"}));
  EXPECT_TRUE(news.Any({"/host/dev/nvidiactl", "/host/etc/cdi"}));
  fs.Put("/host/dev/nvidia0", "");
  EXPECT_TRUE(news.Any({"/host/dev/nvidia0"}));
  EXPECT_FALSE(news.Any({"/host/dev/nvidia0"}));
  EXPECT_TRUE(fs.Remove("/host/dev/nvidia0"));
  EXPECT_TRUE(news.Any({"/host/dev/nvidia0"}));
}

TEST(ValidatorComponentsTest, WaitingEndsWhenAskedToStop) {
  Bed bed;
  host::UnloadDriver(bed.host);
  bed.stop.request_stop();
  bed.with_api = false;
  const auto done = bed.Run({{"COMPONENT", "nvidia-fs"}, {"WITH_WAIT", "true"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kCancelled);
}

TEST(ValidatorComponentsTest, WithoutADriverOnTheHostTheContainersIsWaitedFor) {
  Bed bed;
  host::UnloadDriver(bed.host);
  host::RemoveTree(bed.host, "/usr/lib");
  EXPECT_THAT(bed.Run({{"COMPONENT", "driver"}, {"DRIVER_INSTALL_DIR_CTR_PATH", "/none"}}).error().text,
              HasSubstr("DriverMissing"));
  bed.door.Put({"apps", "v1", "daemonsets", "DaemonSet", true},
               {{"apiVersion", "apps/v1"},
                {"kind", "DaemonSet"},
                {"metadata", JsonObject{{"name", "nvidia-driver-daemonset"},
                                        {"namespace", "gpu-operator"},
                                        {"labels", JsonObject{{"app.kubernetes.io/component", "nvidia-driver"}}},
                                        {"ownerReferences", data::JsonArray{JsonObject{{"apiVersion", "nvidia.com/v1"},
                                                                                       {"kind", "ClusterPolicy"},
                                                                                       {"name", "p"},
                                                                                       {"uid", "x"},
                                                                                       {"controller", true}}}}}}});
  EXPECT_THAT(bed.Run({{"COMPONENT", "driver"}, {"DRIVER_INSTALL_DIR_CTR_PATH", "/none"}}).error().text,
              HasSubstr("DriverNotReady"));
}

TEST(ValidatorComponentsTest, TheToolkitIsJudgedByWhatThisContainerWasGiven) {
  Bed bed;
  EXPECT_THAT(bed.Run({{"COMPONENT", "toolkit"}}).error().text, HasSubstr("DevicesNotInjected: toolkit and CDI"));
  bed.own.Put("/usr/lib64/libnvidia-ml.so.1", "ELF");
  bed.own.Put("/dev/nvidiactl", "");
  ASSERT_TRUE(bed.Run({{"COMPONENT", "toolkit"}}));
  EXPECT_TRUE(bed.Files().contains("toolkit-ready"));
  bed.driver_says = R"({"driverVersion":"550"})";
  EXPECT_THAT(bed.Run({{"COMPONENT", "toolkit"}}).error().text, HasSubstr("NVML starts and counts no GPU"));
  EXPECT_FALSE(bed.Files().contains("toolkit-ready"));
}

TEST(ValidatorComponentsTest, CleanupAllRemovesEveryFile) {
  Bed bed;
  ASSERT_TRUE(bed.Run({{"COMPONENT", "cuda"}, {"WITH_WORKLOAD", "false"}, {"CLEANUP_ALL", "true"}}));
  EXPECT_EQ(bed.Files(), (std::map<std::string, std::string>{{"cuda-ready", ""}}));
}

TEST(ValidatorComponentsTest, ThePluginIsReadyWhenTheNodeOffersGpus) {
  Bed bed;
  std::jthread kubelet([&] {
    while (bed.door.OpenStreams() == 0) std::this_thread::yield();
    bed.door.Put(kube::ResourceOf<kube::Node>(),
                 {{"apiVersion", "v1"},
                  {"kind", "Node"},
                  {"metadata", JsonObject{{"name", "n1"}}},
                  {"status", JsonObject{{"capacity", JsonObject{{"nvidia.com/gpu", "2"}}},
                                        {"allocatable", JsonObject{{"nvidia.com/gpu", "2"}}}}}});
  });
  const auto done = bed.Run({{"COMPONENT", "plugin"}, {"WITH_WORKLOAD", "false"}});
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_TRUE(bed.Files().contains("plugin-ready"));
}

class WaitingPodTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, WaitingPodTest, testing::Values("containers", "initContainers"));

TEST_P(WaitingPodTest, AGpuThatAPodWaitsForIsNotTaken) {
  Bed bed;
  bed.door.Put(kube::ResourceOf<kube::Node>(),
               {{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", JsonObject{{"name", "n1"}}},
                {"status", JsonObject{{"capacity", JsonObject{{"nvidia.com/gpu", "1"}}},
                                      {"allocatable", JsonObject{{"nvidia.com/gpu", "1"}}}}}});
  const JsonObject limits{{"limits", JsonObject{{"nvidia.com/gpu", "1"}}}};
  bed.door.Put(kube::ResourceOf<kube::Pod>(),
               {{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", JsonObject{{"name", "waits"}, {"namespace", "users"}}},
                {"spec", JsonObject{{"nodeName", ""},
                                    {GetParam(), data::JsonArray{JsonObject{{"name", "c"}, {"resources", limits}}}}}},
                {"status", JsonObject{{"phase", "Pending"}}}});
  ASSERT_TRUE(bed.Run({{"COMPONENT", "plugin"}}));
  for (const kube::ApiRequest& request : bed.door.Requests()) EXPECT_NE(request.method, "POST");
}

// --- Options.

TEST(ValidatorOptionsTest, MistakesNameFlagAndVariable) {
  const std::pair<std::map<std::string, std::string>, const char*> cases[] = {
      {{}, R"(--component (COMPONENT): "" is no component)"},
      {{{"COMPONENT", "bogus"}}, R"("bogus" is no component)"},
      {{{"COMPONENT", "plugin"}}, "component plugin needs --node-name (NODE_NAME)"},
      {{{"COMPONENT", "cuda"}}, "component cuda needs --namespace (OPERATOR_NAMESPACE)"},
      {{{"COMPONENT", "metrics"}, {"NODE_NAME", "n"}}, "component metrics needs --metrics-port (METRICS_PORT)"},
      {{{"COMPONENT", "vfio-pci"}}, "component vfio-pci needs --node-name (NODE_NAME)"},
      {{{"COMPONENT", "driver"}, {"WITH_WAIT", "perhaps"}},
       R"(--with-wait (WITH_WAIT): "perhaps" is neither true nor false)"},
      {{{"COMPONENT", "driver"}, {"SLEEP_INTERVAL_SECONDS", "5s"}}, R"("5s" is no number from 1 to 86400)"},
  };
  for (const auto& [env, want] : cases) {
    const auto options = ReadOptions({}, [&](const std::string& name) -> std::optional<std::string> {
      const auto it = env.find(name);
      return it == env.end() ? std::nullopt : std::optional(it->second);
    });
    ASSERT_FALSE(options) << want;
    EXPECT_THAT(options.error().text, HasSubstr(want));
  }
}

TEST(ValidatorOptionsTest, FlagsCountBeforeVariables) {
  const auto env = [](const std::string& name) -> std::optional<std::string> {
    if (name == "COMPONENT") return "driver";
    if (name == "VALIDATOR_IMAGE_PULL_SECRETS") return "a, b";
    return std::nullopt;
  };
  const auto options = ReadOptions({"-c", "toolkit", "--with-wait", "--output-dir=/x"}, env);
  ASSERT_TRUE(options);
  EXPECT_EQ((*options)->component, Component::kToolkit);
  EXPECT_TRUE((*options)->with_wait);
  EXPECT_EQ((*options)->output_dir, "/x");
  EXPECT_EQ((*options)->pull_secrets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(ReadOptions({"--help"}, env).value(), std::nullopt);
  EXPECT_THAT(ReadOptions({"--bogus"}, env).error().text, HasSubstr(R"("--bogus" is no flag)"));
}

// --- The condition.

TEST(NodeReportTest, AnEqualConditionIsNotWrittenAgain) {
  Bed bed;
  const NodeReport report(kube::Client(bed.door), "n1", bed.clock);
  const api::Finding finding{api::ReasonCode::kGpuLost, "GPU 1"};
  ASSERT_TRUE(report.Write(finding));
  bed.clock.Advance(std::chrono::hours(1));
  ASSERT_TRUE(report.Write(finding));
  int writes = 0;
  for (const kube::ApiRequest& request : bed.door.Requests()) writes += request.method == "GET" ? 0 : 1;
  EXPECT_EQ(writes, 2);  // the condition and its Event
  ASSERT_TRUE(report.Write({api::ReasonCode::kGpuLost, "GPU 2"}));
  EXPECT_EQ(data::StringOr(bed.Condition(), "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(data::StringOr(bed.Condition(), "lastHeartbeatTime"), "2026-01-01T01:00:00Z");
  EXPECT_EQ(bed.door.PeekAll(kube::ResourceOf<kube::Event>()).size(), 1U);  // the same reason: no second Event
}

}  // namespace
}  // namespace gpuop::operands::validator
