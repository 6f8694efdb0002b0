#include "container/runtime/arguments.h"
#include "container/runtime/image.h"
#include "container/runtime/modify.h"
#include "container/version.h"
#include "data/yaml.h"
#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

using Texts = std::vector<std::string>;

TEST(ArgumentsTest, FindTheBundle) {
  for (const auto& [arguments, want] :
       std::vector<std::pair<Texts, std::string>>{{{}, ""},
                                                  {{"--bundle"}, "error"},
                                                  {{"-b"}, "error"},
                                                  {{"--bundle", "/foo"}, "/foo"},
                                                  {{"-bundle", "/foo"}, "/foo"},
                                                  {{"--bundle=/foo"}, "/foo"},
                                                  {{"-b=/foo/=bar"}, "/foo/=bar"},
                                                  {{"-b", "create", "create"}, "create"},
                                                  {{"--not-bundle", "/x"}, ""}})
    EXPECT_EQ(BundleOf(arguments).value_or("error"), want) << testing::PrintToString(arguments);
}

TEST(ArgumentsTest, FindWhereTheEngineReadsErrors) {
  EXPECT_EQ(LogOf({"--root", "/r", "--log", "/l.json", "--log-format=json", "create", "-b", "/b", "c"}), "/l.json");
  EXPECT_EQ(LogOf({"--log=/x", "start"}), "/x");
  EXPECT_EQ(LogOf({"--log-format", "json"}), "");
  EXPECT_EQ(LogOf({"--log"}), "");
}

TEST(ArgumentsTest, KnowACreateWhenTheySeeOne) {
  for (const auto& [arguments, want] :
       std::vector<std::pair<Texts, bool>>{{{"create"}, true},
                                           {{}, false},
                                           {{"--bundle", "create"}, false},
                                           {{"--bundle=create"}, false},
                                           {{"-b", "create", "create"}, true},
                                           {{"delete", "create"}, false},
                                           {{"--root", "create", "delete", "x"}, false},
                                           {{"--root", "/run/x", "--log", "/l", "--log-format", "json",
                                             "--systemd-cgroup", "create", "--bundle", "/b", "--pid-file", "/p", "id"},
                                            true},
                                           {{"--future-flag", "value", "create", "id"}, true},
                                           {{"state", "create"}, false},
                                           {{"exec", "--process", "p", "create"}, false}})
    EXPECT_EQ(IsCreate(arguments), want) << testing::PrintToString(arguments);
}

data::Json Oci(const Texts& env, bool privileged = false, const std::string& more = "") {
  data::JsonArray list;
  for (const std::string& entry : env) list.emplace_back(entry);
  data::Json oci = data::ParseYaml(more.empty() ? "{}" : more).value();
  data::Ensure(oci, "process.env") = list;
  if (privileged) data::Ensure(oci, "process.capabilities.bounding") = data::JsonArray{"CAP_SYS_ADMIN"};
  return oci;
}

Texts Devices(const data::Json& oci, const RuntimeConfig& config = {}, bool annotations = false) {
  return ContainerImage(oci, config).Devices(annotations);
}

TEST(ContainerImageTest, ReadsTheEnvironment) {
  EXPECT_EQ(Devices(Oci({})), Texts());
  EXPECT_EQ(Devices(Oci({"CUDA_VERSION=11.6"})), Texts{"all"});
  EXPECT_EQ(Devices(Oci({"CUDA_VERSION=11.6", "NVIDIA_REQUIRE_CUDA=x"})), Texts());
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES="})), Texts());
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=void"})), Texts());
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=none"})), Texts{""});
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=0,0,1"})), (Texts{"0", "1"}));
}

TEST(ContainerImageTest, SwarmResourcesOverride) {
  RuntimeConfig config;
  config.swarm_resource = "DOCKER_RESOURCE_GPUS,OTHER";
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=0"}), config), Texts{"0"});
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=0", "DOCKER_RESOURCE_GPUS=7"}), config), Texts{"7"});
  EXPECT_EQ(Devices(Oci({"OTHER=8", "DOCKER_RESOURCE_GPUS=7"}), config), (Texts{"7", "8"}));
}

TEST(ContainerImageTest, TheEnvironmentOfUnprivilegedContainersCanBeRefused) {
  RuntimeConfig config;
  config.accept_env_when_unprivileged = false;
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=all"}), config), Texts());
  EXPECT_EQ(Devices(Oci({"NVIDIA_VISIBLE_DEVICES=GPU0"}, true), config), Texts{"GPU0"});
}

TEST(ContainerImageTest, MountsAndAnnotationsComeFirst) {
  RuntimeConfig config;
  config.accept_volume_mounts = true;
  const data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=0"}, false, R"({mounts: [
    {source: /dev/null, destination: /var/run/nvidia-container-devices/GPU1/part},
    {source: /dev/null, destination: /var/run/nvidia-container-devices/cdi/v.com/c/d},
    {source: /dev/null, destination: /var/run/nvidia-container-devices/imex/3},
    {source: /dev/null, destination: /var/run/nvidia-container-devices},
    {source: /dev/null, destination: /var/run/nvidia-container-devicesX/y},
    {source: /other, destination: /var/run/nvidia-container-devices/GPU2}],
    annotations: {cdi.k8s.io/b: "v.com/c=2", cdi.k8s.io/a: "v.com/c=1, v.com/c=2", other.io/x: "v.com/c=3"}})");
  EXPECT_EQ(Devices(oci, config), (Texts{"GPU1/part", "v.com/c=d"}));
  EXPECT_EQ(Devices(oci, config, true), (Texts{"v.com/c=1", "v.com/c=2"}));
  EXPECT_EQ(ContainerImage(oci, config).ImexChannels(), Texts{"3"});
  EXPECT_EQ(Devices(oci), Texts{"0"}) << "mounts count only when they are accepted";
}

TEST(QualifiedDevicesTest, CompletesNames) {
  EXPECT_EQ(QualifiedDevices({"0", "example.com/class=device"}, "nvidia.com/gpu").value(),
            (Texts{"nvidia.com/gpu=0", "example.com/class=device"}));
  EXPECT_EQ(QualifiedDevices({"example.com/device"}, "nvidia.com/gpu").value(),
            Texts{"nvidia.com/gpu=example.com/device"});
  EXPECT_EQ(QualifiedDevices({""}, "k/d").value(), Texts{"k/d=none"});
  EXPECT_EQ(QualifiedDevices({"0", "0"}, "k/d").value(), Texts{"k/d=0"});
  EXPECT_FALSE(QualifiedDevices({"0", "example.com/class=device"}, "runtime.nvidia.com/gpu"));
}

TEST(RuntimeModeTest, AutoLooksAtTheRequestThenThePlatform) {
  struct Case {
    bool nvml, tegra, nvgpu;
    RuntimeMode want;
  };
  using enum RuntimeMode;
  for (const Case& c :
       {Case{false, false, true, kCsv}, Case{false, true, false, kCsv}, Case{false, true, true, kCsv},
        Case{true, false, false, kJitCdi}, Case{true, false, true, kCsv}, Case{true, true, false, kJitCdi},
        Case{true, true, true, kCsv}, Case{false, false, false, kJitCdi}})
    EXPECT_EQ(ResolveRuntimeMode("auto", {.tegra = c.tegra, .nvml = c.nvml, .integrated = c.nvgpu}, {"0"}).value(),
              c.want);
  EXPECT_EQ(ResolveRuntimeMode("auto", {}, {"nvidia.com/gpu=0", "nvidia.com/gpu=1"}).value(), kCdi);
  EXPECT_EQ(ResolveRuntimeMode("auto", {}, {"nvidia.com/gpu=0", "0"}).value(), kJitCdi);
  EXPECT_EQ(ResolveRuntimeMode("legacy", {}, {}).value(), kLegacy);
  EXPECT_FALSE(ResolveRuntimeMode("not-auto", {}, {}));
}

TEST(RequirementsTest, ComeFromTheImage) {
  RuntimeConfig config;
  const auto of = [&](const Texts& env) {
    return ContainerImage(Oci(env), config).Requirements().value_or(Texts{"error"});
  };
  EXPECT_EQ(of({"CUDA_VERSION=11.6"}), Texts{"cuda>=11.6"});
  EXPECT_EQ(of({"CUDA_VERSION=11.6", "NVIDIA_REQUIRE_BRAND=brand=tesla", "NVIDIA_REQUIRE_JETPACK=x"}),
            (Texts{"brand=tesla", "cuda>=11.6"}));
  EXPECT_EQ(of({"CUDA_VERSION=11.6", "NVIDIA_DISABLE_REQUIRE=true"}), Texts());
  EXPECT_EQ(of({"CUDA_VERSION=foo"}), Texts{"error"});
}

TEST(RequirementsTest, VersionsOfCuda) {
  for (const auto& [text, want] : std::vector<std::pair<std::string, std::string>>{{"0", "0.0"},
                                                                                   {"7.5", "7.5"},
                                                                                   {"9.0.116", "9.0"},
                                                                                   {"v11.6", "11.6"},
                                                                                   {"foo", ""},
                                                                                   {"9.0.116.50", ""},
                                                                                   {"9.4294967296", ""},
                                                                                   {"9.", ""},
                                                                                   {"9..0", ""},
                                                                                   {"-9", ""},
                                                                                   {"+9", ""}})
    EXPECT_EQ(MajorMinor(text).value_or(""), want) << text;
}

TEST(RequirementsTest, AndBindsTighterThanOr) {
  const Properties node = {{"cuda", "12.4"}, {"driver", "550.90"}, {"brand", "tesla"}};
  for (const auto& [text, want] :
       std::vector<std::pair<std::string, Code>>{{"cuda>=12.4", Code::kInternal},
                                                 {"cuda>=12.10", Code::kUnsupported},
                                                 {"cuda<12", Code::kUnsupported},
                                                 {"", Code::kInternal},
                                                 {"cuda>=13 brand=tesla,driver>=535", Code::kInternal},
                                                 {"cuda>=13 brand=tesla,driver>=560", Code::kUnsupported},
                                                 {"brand!=tesla", Code::kUnsupported},
                                                 {"unknown=1", Code::kInternal},
                                                 {"arch>=9.0", Code::kInternal},
                                                 {"cuda", Code::kInvalid},
                                                 {"cuda>=x", Code::kInvalid},
                                                 {"driver!5", Code::kInvalid}}) {
    const auto done = CheckRequirements({text}, node);
    EXPECT_EQ(done ? Code::kInternal : done.error().code, want) << text;
  }
}

TEST(CapabilitiesTest, AreBoundByWhatIsSupported) {
  RuntimeConfig config;
  const auto of = [&](const Texts& env) {
    return ContainerImage(Oci(env), config).Capabilities().value_or(Texts{"error"});
  };
  EXPECT_EQ(of({"CUDA_VERSION=11"}).size(), 7U);
  EXPECT_EQ(of({}), (Texts{"compute", "utility"}));
  EXPECT_EQ(of({"NVIDIA_DRIVER_CAPABILITIES="}), (Texts{"compute", "utility"}));
  EXPECT_EQ(of({"NVIDIA_DRIVER_CAPABILITIES=video, display"}), (Texts{"display", "video"}));
  EXPECT_EQ(of({"NVIDIA_DRIVER_CAPABILITIES=all"}).size(), 7U);
  EXPECT_EQ(of({"NVIDIA_DRIVER_CAPABILITIES=nonsense"}), Texts{"error"});
  config.supported_driver_capabilities = "compute";
  EXPECT_EQ(of({}), Texts{"compute"});
  EXPECT_EQ(of({"NVIDIA_DRIVER_CAPABILITIES=video"}), Texts{"error"});
}

TEST(RuntimeConfigTest, ReadsKeysAndKeepsDefaults) {
  const auto config = ReadRuntimeConfig(R"(
accept-nvidia-visible-devices-as-volume-mounts = true
unknown = "kept out"
[nvidia-container-runtime]
mode = "cdi"
runtimes = ["/usr/bin/runc"]
[nvidia-container-runtime.modes.cdi]
default-kind = "management.nvidia.com/gpu"
)");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_TRUE(config->accept_volume_mounts);
  EXPECT_TRUE(config->accept_env_when_unprivileged);
  EXPECT_EQ(config->runtime.modes.cdi.default_kind, "management.nvidia.com/gpu");
  EXPECT_EQ(config->runtime.modes.cdi.spec_dirs, kCdiFolders);
  EXPECT_FALSE(ReadRuntimeConfig("[nvidia-container-cli]\nldconfig = \"/sbin/ldconfig\"\n"));
  EXPECT_TRUE(ReadRuntimeConfig("[nvidia-container-cli]\nldconfig = \"@/sbin/ldconfig\"\n"));
  EXPECT_EQ(ReadRuntimeConfig("[nvidia-container-runtime]\nmode = 5\n").error().text,
            "nvidia-container-runtime.mode: expected a string, got a number");
}

/// A node with one GPU, a driver and a management spec.
class ModifyTest : public testing::Test {
 protected:
  ModifyTest() {
    fs.Put(
        "/var/run/cdi/management.yaml",
        "cdiVersion: 0.5.0\nkind: management.nvidia.com/gpu\ndevices:\n- {name: all, containerEdits: {env: [M=1]}}\n");
    fs.Put("/var/run/cdi/gpu.yaml",
           "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- {name: GPU-1, containerEdits: {env: [G=1]}}\n");
    fs.Put("/proc/driver/nvidia/version", "NVRM version: 550\n");
    fs.Put("/proc/driver/nvidia/gpus/0000:3b:00.0/information",
           "Model: \t\t A100\nGPU UUID: \t GPU-1\nDevice Minor: \t 2\n");
    fs.PutDevice("/dev/nvidia2", {.major = 195, .minor = 2});
    fs.PutDevice("/dev/nvidiactl", {.major = 195, .minor = 255});
    for (const char* name :
         {"libcuda.so.550.1", "libnvcuvid.so.550.1", "libnvidia-ml.so.550.1", "libEGL_nvidia.so.550.1"})
      fs.Put(std::string("/usr/lib64/") + name, "");
  }
  Result<bool> Modify(data::Json& oci) {
    return ModifyForGpus(
        config, {.host = fs, .driver = fs, .nodes = NodesOf(fs), .warn = [&](const std::string& w) { warning = w; }},
        oci);
  }

  os::FakeFs fs;
  RuntimeConfig config;
  std::string warning;
};

TEST_F(ModifyTest, NoRequestIsNoChange) {
  data::Json oci = Oci({"PATH=/bin"});
  const std::string before = data::ToJson(oci);
  EXPECT_EQ(Modify(oci).value(), false);
  EXPECT_EQ(data::ToJson(oci), before);
}

TEST_F(ModifyTest, CdiResolvesANameInWhicheverKindHasIt) {
  config.runtime.mode = "cdi";
  config.runtime.modes.cdi.default_kind = "management.nvidia.com/gpu";
  data::Json all = Oci({"NVIDIA_VISIBLE_DEVICES=all"}), one = Oci({"NVIDIA_VISIBLE_DEVICES=GPU-1"}),
             none = Oci({"NVIDIA_VISIBLE_DEVICES=GPU-9"});
  EXPECT_TRUE(Modify(all).value());
  EXPECT_TRUE(data::ToJson(all).contains("\"M=1\""));
  EXPECT_TRUE(Modify(one).value());
  EXPECT_TRUE(data::ToJson(one).contains("\"G=1\""));
  const std::string before = data::ToJson(none);
  EXPECT_EQ(Modify(none).error().text, "unresolvable CDI devices management.nvidia.com/gpu=GPU-9");
  EXPECT_EQ(data::ToJson(none), before);
}

TEST_F(ModifyTest, JitGivesADeviceAndWhatTheCapabilitiesAskFor) {
  data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=0,0"}, false,
                       "{hooks: {prestart: [{path: /x/nvidia-container-runtime-hook}, {path: /other}]}}");
  ASSERT_TRUE(Modify(oci).value());
  const std::string text = data::ToJson(oci);
  EXPECT_TRUE(text.contains("/dev/nvidia2")) << text;
  EXPECT_TRUE(text.contains("libcuda.so.550.1"));
  EXPECT_FALSE(text.contains("libnvcuvid")) << "video was not asked for";
  EXPECT_FALSE(text.contains("libEGL"));
  EXPECT_TRUE(text.contains(R"("prestart":[{"path":"/other"}])"));
  data::Json video = Oci({"NVIDIA_VISIBLE_DEVICES=GPU-1", "NVIDIA_DRIVER_CAPABILITIES=video"});
  ASSERT_TRUE(Modify(video).value());
  EXPECT_TRUE(data::ToJson(video).contains("libnvcuvid"));
  EXPECT_FALSE(data::ToJson(video).contains("libnvidia-ml"));
}

TEST_F(ModifyTest, AnImageThatNeedsANewerDriverIsRefused) {
  data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_REQUIRE_DRIVER=driver>=560"});
  EXPECT_EQ(Modify(oci).error().text, "unsatisfied condition: driver>=560");
  data::Json off = Oci({"NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_REQUIRE_DRIVER=driver>=560", "NVIDIA_DISABLE_REQUIRE=1"});
  EXPECT_TRUE(Modify(off).value());
}

TEST_F(ModifyTest, RequirementsAreJudgedByDriverCudaArchAndBrand) {
  fs.Put("/sys/bus/pci/devices/0000:3b:00.0/device", "0x20b0\n");
  fs.Put("/proc/driver/nvidia/gpus/0000:3b:00.0/information",
         "Model: \t\t NVIDIA A100-SXM4-40GB\nGPU UUID: \t GPU-1\nDevice Minor: \t 2\n");
  struct Case {
    const char* requirement;
    bool holds;
  };
  for (const Case& c : {Case{"cuda>=12.4", true},
                        {"cuda>=12.5", false},
                        {"arch>=8.0", true},
                        {"arch>=9.0", false},
                        {"brand=nvidia", true},
                        {"brand=geforce", false},
                        {"cuda>=12.6 driver>=550", true},
                        {"cuda>=12.6 brand=nvidia,driver>=560", false},
                        {"weather=fine", true}}) {
    for (const bool hook : {true, false}) {
      config.features.disable_cuda_compat_lib_hook = !hook;
      data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=0", std::string("NVIDIA_REQUIRE_X=") + c.requirement});
      const auto done = Modify(oci);
      EXPECT_EQ(done.has_value(), c.holds) << c.requirement << (hook ? "" : " without the compat hook");
      if (!c.holds) EXPECT_EQ(done.error().text, std::string("unsatisfied condition: ") + c.requirement);
    }
  }
}

TEST(VersionTest, KnowsTheCudaOfADriver) {
  EXPECT_EQ(CudaOfDriver("550.163.01"), "12.4");
  EXPECT_EQ(CudaOfDriver("580.95.05"), "13.0");
  EXPECT_EQ(CudaOfDriver("600.1"), "") << "newer than all that are known: not judged";
  EXPECT_EQ(CudaOfDriver("367.1"), "");
  EXPECT_EQ(CudaOfDriver("new"), "");
}

TEST_F(ModifyTest, ANodeWithoutADriverStartsTheContainerWithoutDevices) {
  os::FakeFs bare;
  for (const char* mode : {"cdi", "jit-cdi", "legacy"}) {
    config.runtime.mode = mode;
    data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=all"});
    const auto done = ModifyForGpus(
        config,
        {.host = bare, .driver = bare, .nodes = NodesOf(bare), .warn = [&](const std::string& w) { warning = w; }},
        oci);
    EXPECT_EQ(done.value(), false) << mode;
    EXPECT_TRUE(warning.contains("driver is not loaded"));
  }
}

TEST_F(ModifyTest, UnknownGpusFailAndSayWhich) {
  data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=7"});
  EXPECT_TRUE(Modify(oci).error().text.contains("runtime.nvidia.com/gpu=7"));
}

TEST_F(ModifyTest, ADeviceOfAnotherKindIsNeverTakenForAGpu) {
  fs.Put("/etc/cdi/nic.yaml",
         "cdiVersion: 0.5.0\nkind: example.com/nic\ndevices:\n- {name: '0', containerEdits: {env: [NIC=1]}}\n");
  config.runtime.mode = "jit-cdi";
  data::Json nic = Oci({"NVIDIA_VISIBLE_DEVICES=example.com/nic=0"});
  ASSERT_TRUE(Modify(nic).value());
  EXPECT_TRUE(data::ToJson(nic).contains("NIC=1")) << data::ToJson(nic);
  EXPECT_FALSE(data::ToJson(nic).contains("/dev/nvidia2"));
  data::Json both = Oci({"NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=GPU-1,example.com/nic=0"});
  ASSERT_TRUE(Modify(both).value());
  EXPECT_TRUE(data::ToJson(both).contains("NIC=1") && data::ToJson(both).contains("G=1"));
  data::Json mixed = Oci({"NVIDIA_VISIBLE_DEVICES=GPU-1,example.com/nic=0"});
  const std::string before = data::ToJson(mixed);
  EXPECT_EQ(Modify(mixed).error().code, Code::kInvalid);
  EXPECT_EQ(data::ToJson(mixed), before);
}

TEST_F(ModifyTest, LegacyUsesNvidiasHookWhereItIs) {
  config.runtime.mode = "legacy";
  data::Json oci = Oci({"NVIDIA_VISIBLE_DEVICES=all"});
  ASSERT_TRUE(Modify(oci).value());
  EXPECT_TRUE(warning.contains("without nvidia-container-cli"));
  config.hook.path = "/usr/bin/nvidia-container-runtime-hook";
  config.cli.path = "/usr/bin/nvidia-container-cli";
  fs.Put(config.hook.path, "");
  fs.Put(config.cli.path, "");
  data::Json hooked = Oci({"NVIDIA_VISIBLE_DEVICES=all"});
  ASSERT_TRUE(Modify(hooked).value());
  EXPECT_TRUE(data::ToJson(hooked).contains(R"("args":["nvidia-container-runtime-hook","prestart"])"));
}

}  // namespace
}  // namespace gpuop::container
