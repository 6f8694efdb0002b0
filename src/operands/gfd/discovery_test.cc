#include "operands/gfd/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/virtual_executor.h"
#include "gpu/nvml_fake.h"
#include "kube/door_fake.h"
#include "os/fake_fs.h"

namespace gpuop::operands::gfd {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

Result<Options> Parse(const std::vector<std::string>& args, std::map<std::string, std::string> env = {},
                      const char* settings = nullptr) {
  env.emplace("NODE_NAME", "n1");
  ASSIGN(const Given given, ReadGiven(args, [&](const std::string& name) -> std::optional<std::string> {
           const auto it = env.find(name);
           return it == env.end() ? std::nullopt : std::optional(it->second);
         }));
  if (settings == nullptr) return MakeOptions(given, nullptr);
  ASSIGN(const PluginSettings parsed, ParsePluginSettings(settings, "c.yaml"));
  return MakeOptions(given, &parsed);
}

TEST(GfdOptionsTest, FlagsCountBeforeVariablesBeforeTheSettingsFile) {
  const char* settings =
      "flags: {migStrategy: single, failOnInitError: false, gfd: {sleepInterval: 5s, oneshot: true}}";
  EXPECT_EQ(Parse({}, {}, settings)->labels.strategy, MigStrategy::kSingle);
  EXPECT_EQ(Parse({}, {{"MIG_STRATEGY", "mixed"}}, settings)->labels.strategy, MigStrategy::kMixed);
  EXPECT_EQ(Parse({"--mig-strategy=none"}, {{"MIG_STRATEGY", "mixed"}}, settings)->labels.strategy, MigStrategy::kNone);
  EXPECT_EQ(Parse({}, {{"GFD_MIG_STRATEGY", "mixed"}, {"MIG_STRATEGY", "none"}})->labels.strategy, MigStrategy::kMixed);
  EXPECT_FALSE(Parse({}, {}, settings)->fail_on_init_error);
  EXPECT_TRUE(Parse({}, {}, settings)->oneshot);
  EXPECT_EQ(Parse({}, {}, settings)->interval, Duration(std::chrono::seconds(5)));
  EXPECT_EQ(Parse({"--sleep-interval", "infinite"})->interval, std::nullopt);
  EXPECT_EQ(Parse({})->interval, Duration(std::chrono::seconds(60)));
  EXPECT_EQ(Parse({"-o", "/tmp/x", "--oneshot", "--no-timestamp=true"})->output_file, "/tmp/x");
  EXPECT_TRUE(Parse({"--output=/tmp/x"})->output_file == "/tmp/x");
}

TEST(GfdOptionsTest, MistakesNameTheFlag) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--bogus"}, R"("--bogus" is no flag of gpu-feature-discovery)"},
      {{"extra"}, R"("extra" is no flag of gpu-feature-discovery)"},
      {{"--mig-strategy"}, "--mig-strategy needs a value"},
      {{"--mig-strategy=all"}, R"(--mig-strategy: "all" is not none, single or mixed)"},
      {{"--oneshot=maybe"}, R"(--oneshot: "maybe" is neither true nor false)"},
      {{"--device-discovery-strategy=vfio"},
       R"(--device-discovery-strategy: only auto and nvml are served, not "vfio")"},
  };
  for (const auto& [args, error] : cases) {
    const auto options = Parse(args);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().text, error);
  }
  EXPECT_THAT(Parse({"--sleep-interval=soon"}).error().text, HasSubstr("--sleep-interval: "));
  EXPECT_THAT(Parse({}, {{"NODE_NAME", ""}}).error().text, HasSubstr("--node-name (NODE_NAME) must be given"));
}

constexpr const char* kFile = "/features.d/gfd";

/// Two GPUs, a host without PCI, and a feature file.
struct Node {
  gpu::FakeNvml fake;
  os::FakeFs fs;
  FakeLog log;
  SystemClock clock;
  FileOutput output{fs, kFile, false};
  Options options;
  std::atomic<bool> driver = true;

  Node() {
    fake.gpus.resize(2);
    fake.gpus[0].uuid = "GPU-0";
    fake.gpus[1].uuid = "GPU-1";
    for (auto& gpu : fake.gpus) gpu.mig = gpu::FindMigModel("A100-40GB");
    EXPECT_TRUE(os::MakeFolders(fs, "/features.d"));
    options.timestamp = false;
    options.interval = std::nullopt;
  }
  OpenNvml Open() {
    return [this]() -> Result<std::unique_ptr<gpu::Nvml>> {
      if (!driver) return Fail(Code::kNotFound, "no driver");
      return gpu::Nvml::Start(fake.Table());
    };
  }
  std::string File() const { return fs.Read(kFile).value_or(""); }
};

TEST(GfdDiscoveryTest, OnePassWritesTheFileAndASecondOneDoesNot) {
  Node node;
  Discovery discovery(node.fs, node.Open(), node.output, node.clock, node.log);
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_THAT(node.File(), HasSubstr("nvidia.com/gpu.count=2\n"));
  EXPECT_THAT(node.File(), HasSubstr("nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB\n"));
  const std::size_t changes = node.fs.changes();
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_EQ(node.fs.changes(), changes);
}

TEST(GfdDiscoveryTest, WithoutADriverItEndsOrSaysWhatTheHostSays) {
  Node node;
  node.driver = false;
  Discovery discovery(node.fs, node.Open(), node.output, node.clock, node.log);
  EXPECT_EQ(discovery.Pass(node.options).error(), (Error{Code::kNotFound, "no driver"}));
  node.options.fail_on_init_error = false;
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_EQ(node.File(), "nvidia.com/vgpu.present=false\n");
  node.driver = true;
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_THAT(node.File(), HasSubstr("nvidia.com/gpu.count=2\n"));
}

TEST(GfdDiscoveryTest, ADriverThatIsSilentForAMomentTakesNoLabelAway) {
  Node node;
  Discovery discovery(node.fs, node.Open(), node.output, node.clock, node.log);
  ASSERT_TRUE(discovery.Pass(node.options));
  const std::string before = node.File();
  node.fake.fail["nvmlDeviceGetCount_v2"] = gpu::nvml::Return::kUnknown;
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_EQ(node.File(), before);
}

TEST(GfdDiscoveryTest, ADriverThatIsExchangedIsOpenedAnew) {
  Node node;
  MetricRegistry metrics;
  Discovery discovery(node.fs, node.Open(), node.output, node.clock, node.log, &metrics);
  EXPECT_THAT(discovery.Ailment(), HasSubstr("not been written yet"));
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_EQ(discovery.Ailment(), "");
  node.fake.fail["nvmlDeviceGetCount_v2"] = gpu::nvml::Return::kDriverNotLoaded;
  node.driver = false;
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_THAT(discovery.Ailment(), HasSubstr("waiting for the driver: "));
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_gfd_driver_answers 0"));
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_EQ(discovery.Ailment(), "waiting for the driver: no driver");
  EXPECT_THAT(node.File(), HasSubstr("nvidia.com/gpu.count=2\n"));
  node.fake.fail.clear();
  node.fake.gpus.pop_back();
  node.driver = true;
  ASSERT_TRUE(discovery.Pass(node.options));
  EXPECT_THAT(node.File(), HasSubstr("nvidia.com/gpu.count=1\n"));
  EXPECT_EQ(discovery.Ailment(), "");
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_gfd_driver_answers 1"));
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_gfd_writes_total 2"));
}

TEST(GfdDiscoveryTest, AFullDiskKeepsTheLastLabelsAndIsAnError) {
  Node node;
  Discovery discovery(node.fs, node.Open(), node.output, node.clock, node.log);
  ASSERT_TRUE(discovery.Pass(node.options));
  const std::string before = node.File();
  node.fake.gpus.pop_back();
  node.fs.fail_from = node.fs.changes() + 1;
  node.fs.fail_until = node.fs.changes() + 100;
  EXPECT_EQ(discovery.Pass(node.options).error().code, Code::kIo);
  EXPECT_EQ(node.File(), before);
}

/// Counts what is written and lets a test wait for it.
class Counting final : public Output {
 public:
  /// Called on the thread that looks, after the write of that number.
  std::function<void(std::size_t)> after = [](std::size_t) {};

  Result<bool> Write(const Labels& labels) override {
    std::size_t count = 0;
    {
      Lock l(mu_);
      all_.push_back(labels);
      count = all_.size();
      more_.notify_all();
    }
    after(count);
    return true;
  }
  Labels Wait(std::size_t count) {
    Lock l(mu_);
    more_.wait_for(mu_, std::chrono::seconds(20), [&]() REQUIRES(mu_) { return all_.size() >= count; });
    return all_.size() >= count ? all_[count - 1] : Labels();
  }

 private:
  Mutex mu_;
  std::condition_variable_any more_;
  std::vector<Labels> all_ GUARDED_BY(mu_);
};

TEST(GfdDiscoveryTest, DriverEventsAndNewSettingsAreSeenAtOnce) {
  Node node;
  Counting output;
  Discovery discovery(node.fs, node.Open(), output, node.clock, node.log);
  std::jthread running([&](const std::stop_token& stop) { EXPECT_TRUE(discovery.Run(node.options, stop)); });
  EXPECT_THAT(output.Wait(1), Contains(Pair("nvidia.com/gpu.replicas", "1")));
  node.fake.Raise(0, gpu::nvml::kEventMigConfigChange);
  EXPECT_THAT(output.Wait(2), Contains(Pair("nvidia.com/gpu.count", "2")));
  auto changed = std::make_unique<Options>(node.options);
  changed->labels.sharing =
      ParsePluginSettings("sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}", "c")->sharing;
  discovery.Wake(std::move(changed));
  EXPECT_THAT(output.Wait(3), Contains(Pair("nvidia.com/gpu.replicas", "4")));
}

TEST(GfdDiscoveryTest, AGpuThatComesBackIsSeenThoughTheDriverSaysNothing) {
  Node node;
  Counting output;
  output.after = [&](std::size_t count) {
    if (count == 1) {
      node.fake.lost["GPU-1"] = true;
      node.fake.Raise(0, gpu::nvml::kEventTypeXidCriticalError);
    }
    if (count == 2) node.fake.lost.clear();
  };
  Discovery discovery(node.fs, node.Open(), output, node.clock, node.log);
  std::jthread running([&](const std::stop_token& stop) { EXPECT_TRUE(discovery.Run(node.options, stop)); });
  EXPECT_THAT(output.Wait(1), Contains(Pair("nvidia.com/gpu.count", "2")));
  EXPECT_THAT(output.Wait(2), Contains(Pair("nvidia.com/gpu.count", "1")));
  EXPECT_THAT(output.Wait(3), Contains(Pair("nvidia.com/gpu.count", "2")));
}

struct Cluster {
  VirtualExecutor executor{1};
  kube::FakeDoor door{executor};
  NodeFeatureOutput output{kube::Client(door), "gpu-operator", "n1", "gfd-x"};
  const kube::ObjectRef ref{
      {"nfd.k8s-sigs.io", "v1alpha1", "nodefeatures", "NodeFeature"}, "gpu-operator", "nvidia-features-for-n1", {}};

  Cluster() {
    door.Put({"", "v1", "pods", "Pod"}, {{"apiVersion", "v1"},
                                         {"kind", "Pod"},
                                         {"metadata",
                                          {{"name", "gfd-x"},
                                           {"namespace", "gpu-operator"},
                                           {"uid", "pod-uid"},
                                           {"ownerReferences",
                                            {{{"apiVersion", "apps/v1"},
                                              {"kind", "DaemonSet"},
                                              {"name", "gpu-feature-discovery"},
                                              {"uid", "ds-uid"},
                                              {"controller", true}}}}}}});
  }
  std::size_t Writes() const {
    std::size_t writes = 0;
    for (const auto& request : door.Requests()) writes += request.method != "GET" ? 1 : 0;
    return writes;
  }
};

TEST(NodeFeatureOutputTest, MakesTheObjectOnceAndWritesOnlyChanges) {
  Cluster cluster;
  EXPECT_EQ(cluster.output.Write({{"nvidia.com/gpu.count", "8"}}), true);
  const data::Json object(cluster.door.Peek(cluster.ref).value());
  EXPECT_EQ(data::StringOr(object, "metadata.ownerReferences[0].name"), "gpu-feature-discovery");
  EXPECT_TRUE(data::BoolOr(object, "metadata.ownerReferences[0].controller"));
  EXPECT_EQ(data::StringOr(object, "metadata.ownerReferences[1].uid"), "pod-uid");
  const auto* labels = data::GetObject(object, "metadata.labels");
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->at("nfd.node.kubernetes.io/node-name").as_string(), "n1");
  EXPECT_EQ(data::GetObject(object, "spec.labels")->at("nvidia.com/gpu.count").as_string(), "8");

  EXPECT_EQ(cluster.output.Write({{"nvidia.com/gpu.count", "8"}}), false);
  EXPECT_EQ(cluster.Writes(), 1U);
  EXPECT_EQ(cluster.output.Write({{"nvidia.com/gpu.count", "7"}}), true);
  EXPECT_EQ(data::GetObject(data::Json(cluster.door.Peek(cluster.ref).value()), "spec.labels")->size(), 1U);
}

TEST(NodeFeatureOutputTest, AHandEditIsRepaired) {
  Cluster cluster;
  ASSERT_TRUE(cluster.output.Write({{"nvidia.com/gpu.count", "8"}}));
  auto edited = cluster.door.Peek(cluster.ref).value();
  edited["spec"].as_object()["labels"].as_object()["nvidia.com/gpu.count"] = "80";
  cluster.door.Put(cluster.ref.resource, edited);
  EXPECT_EQ(cluster.output.Write({{"nvidia.com/gpu.count", "8"}}), true);
}

TEST(NodeFeatureOutputTest, RefusalsAreHandedOn) {
  Cluster cluster;
  cluster.door.Remove({{"", "v1", "pods", "Pod"}, "gpu-operator", "gfd-x", {}});
  EXPECT_EQ(cluster.output.Write({}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace gpuop::operands::gfd
