// What containers ask for, from the request to the mode and the devices: the rows of requests that need more than one
// part.
#include "container/runtime/image.h"
#include "container/runtime/modify.h"
#include "data/yaml.h"
#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

using Texts = std::vector<std::string>;

data::Json Oci(const std::string& yaml) { return data::ParseYaml(yaml).value(); }

std::string Mount(const std::string& id) {
  return "{source: /dev/null, destination: /var/run/nvidia-container-devices/" + id + "}";
}

TEST(RequestsTest, AutoGoesByWhatTheFirstSourceNames) {
  struct Case {
    const char* name;
    std::string oci;
    RuntimeMode elsewhere, tegra;
  };
  using enum RuntimeMode;
  const std::string env0 = "process: {env: [NVIDIA_VISIBLE_DEVICES=0]}\n";
  RuntimeConfig config;
  config.accept_volume_mounts = true;
  for (const Case& c :
       {Case{"qualified", "process: {env: ['NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=0,nvidia.com/gpu=1']}", kCdi, kCdi},
        Case{"one of two qualified", "process: {env: ['NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=0,0']}", kJitCdi, kCsv},
        Case{"mounted", "mounts: [" + Mount("cdi/nvidia.com/gpu/0") + "]", kCdi, kCdi},
        Case{"mounted, whatever the environment", env0 + "mounts: [" + Mount("cdi/nvidia.com/gpu/0") + "]", kCdi, kCdi},
        Case{"mounted beside all", "mounts: [" + Mount("cdi/nvidia.com/gpu/0") + ", " + Mount("all") + "]", kJitCdi,
             kCsv},
        Case{"nothing", "{}", kJitCdi, kCsv}}) {
    const data::Json oci = Oci(c.oci);
    const Texts devices = ContainerImage(oci, config).Devices(true);
    EXPECT_EQ(ResolveRuntimeMode("auto", {.nvml = true}, devices).value(), c.elsewhere) << c.name;
    EXPECT_EQ(ResolveRuntimeMode("auto", {.tegra = true}, devices).value(), c.tegra) << c.name;
  }
}

TEST(RequestsTest, AnnotationsOfSeveralPrefixesComeSortedAndOnce) {
  RuntimeConfig config;
  config.runtime.modes.cdi.annotation_prefixes = {"z.example.com/", "cdi.k8s.io/"};
  const data::Json oci =
      Oci("annotations: {z.example.com/a: 'v.com/c=2,v.com/c=0', cdi.k8s.io/b: v.com/c=1, cdi.k8s.io/a: v.com/c=0, "
          "other/x: v.com/c=9}");
  EXPECT_EQ(ContainerImage(oci, config).Devices(true), (Texts{"v.com/c=0", "v.com/c=1", "v.com/c=2"}));
}

/// A node with a GPU and what belongs to the other modes.
struct Node {
  Node() {
    fs.Put("/proc/driver/nvidia/version", "NVRM version: 550\n");
    fs.Put("/proc/driver/nvidia/gpus/0000:3b:00.0/information",
           "Model: \t\t A100\nGPU UUID: \t GPU-1\nDevice Minor: \t 0\n");
    fs.Put("/usr/lib64/libcuda.so.550.1", "");
    std::uint32_t minor = 0;
    for (const char* name :
         {"nvidia0", "nvidiactl", "nvidia-fs0", "gdrdrv", "infiniband/uverbs0", "infiniband/rdma_cm",
          "nvidia-nvswitchctl", "nvidia-caps-imex-channels/channel0", "nvidia-caps-imex-channels/channel3"})
      fs.PutDevice(std::string("/dev/") + name, {.major = 195, .minor = minor++});
  }
  /// The device nodes that a container gets, or the error.
  Texts Nodes(const std::string& env, bool privileged = false) {
    data::Json oci = Oci("process: {env: [" +
                         (env.contains("VISIBLE") ? "" : std::string("NVIDIA_VISIBLE_DEVICES=0, ")) + env + "]}");
    if (privileged) data::Ensure(oci, "process.capabilities.bounding") = data::JsonArray{"CAP_SYS_ADMIN"};
    const auto done =
        ModifyForGpus(config, {.host = fs, .driver = fs, .nodes = NodesOf(fs), .warn = [](const std::string&) {}}, oci);
    if (!done) return {done.error().text};
    Texts out;
    for (const data::Json& node : *data::GetArray(oci, "linux.devices"))
      out.emplace_back(data::StringOr(node, "path").substr(5));
    std::ranges::sort(out);
    return out;
  }

  os::FakeFs fs;
  RuntimeConfig config;
};

TEST(RequestsTest, OtherModesDevicesComeBesideTheGpus) {
  struct Case {
    const char* env;
    Texts more;
  };
  for (const Case& c : {Case{"A=b", {}}, Case{"NVIDIA_GDS=disabled", {}}, Case{"NVIDIA_GDS=enabled", {"nvidia-fs0"}},
                        Case{"NVIDIA_GDRCOPY=enabled", {"gdrdrv"}},
                        Case{"NVIDIA_MOFED=enabled", {"infiniband/rdma_cm", "infiniband/uverbs0"}},
                        Case{"NVIDIA_NVSWITCH=enabled", {"nvidia-nvswitchctl"}},
                        Case{"NVIDIA_GDS=enabled, NVIDIA_GDRCOPY=enabled", {"gdrdrv", "nvidia-fs0"}},
                        Case{"NVIDIA_IMEX_CHANNELS=all", {}},
                        Case{"'NVIDIA_IMEX_CHANNELS=0,3'",
                             {"nvidia-caps-imex-channels/channel0", "nvidia-caps-imex-channels/channel3"}}}) {
    Texts want = c.more;
    want.insert(want.end(), {"nvidia0", "nvidiactl"});
    std::ranges::sort(want);
    for (const char* mode : {"auto", "jit-cdi", "legacy"}) {
      Node node;
      node.config.runtime.mode = mode;
      EXPECT_EQ(node.Nodes(c.env), want) << c.env << " " << mode;
    }
  }
  Node node;
  EXPECT_TRUE(node.Nodes("NVIDIA_IMEX_CHANNELS=7")[0].contains("not found"));
  node.config.features.ignore_imex_channel_requests = true;
  EXPECT_EQ(node.Nodes("NVIDIA_IMEX_CHANNELS=7"), (Texts{"nvidia0", "nvidiactl"}));
}

TEST(RequestsTest, APlaceOnTheBusNamesItsGpu) {
  const MachineFacts machine{.gpus = {{.index = 0, .uuid = "GPU-1", .pci = "0000:3b:00.0"},
                                      {.index = 1, .uuid = "GPU-2", .pci = "0009:01:00.0"}}};
  for (const auto& [written, id] : std::vector<std::pair<std::string, std::string>>{{"0000:3b:00.0", "0"},
                                                                                    {"00000000:3B:00.0", "0"},
                                                                                    {"3b:00.0", "0"},
                                                                                    {"00000009:01:00.0", "1"},
                                                                                    {"01:00.0", "01:00.0"},
                                                                                    {"0000:01:00.0", "0000:01:00.0"},
                                                                                    {"x3b:00.0", "x3b:00.0"},
                                                                                    {":3b:00.0", ":3b:00.0"},
                                                                                    {"GPU-2", "GPU-2"},
                                                                                    {"0:1", "0:1"}})
    EXPECT_EQ(DeviceIdOf(machine, written), id) << written;
  Node node;
  EXPECT_EQ(node.Nodes("NVIDIA_VISIBLE_DEVICES=00000000:3B:00.0"), (Texts{"nvidia0", "nvidiactl"}));
}

TEST(RequestsTest, AMigDevicesUuidIsFoundInTheSpecThatNvmlWasAskedFor) {
  for (const char* mode : {"auto", "jit-cdi", "legacy"}) {
    Node node;
    node.config.runtime.mode = mode;
    const Texts unknown = node.Nodes("NVIDIA_VISIBLE_DEVICES=MIG-1");
    EXPECT_TRUE(unknown[0].contains("nvidia.com/gpu=MIG-1")) << unknown[0];
    node.fs.Put("/var/run/cdi/nvidia.yaml",
                "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
                "- {name: MIG-1, containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}}\n"
                "- {name: '0', containerEdits: {deviceNodes: [{path: /dev/gdrdrv}]}}\n");
    EXPECT_EQ(node.Nodes("NVIDIA_VISIBLE_DEVICES=MIG-1"), Texts{"nvidia0"}) << mode;
    EXPECT_EQ(node.Nodes("'NVIDIA_VISIBLE_DEVICES=MIG-1,0'"), (Texts{"gdrdrv", "nvidia0"})) << mode;
    EXPECT_EQ(node.Nodes("NVIDIA_VISIBLE_DEVICES=MIG-1, NVIDIA_REQUIRE_X=driver>=560"),
              Texts{"unsatisfied condition: driver>=560"});
  }
}

TEST(RequestsTest, MigOfAWholeNodeIsForPrivilegedContainersInModeLegacy) {
  Node node;
  node.config.runtime.mode = "legacy";
  node.fs.Put("/proc/driver/nvidia-caps/mig-minors", "config 1\nmonitor 2\n");
  node.fs.PutDevice("/dev/nvidia-caps/nvidia-cap1", {.major = 236, .minor = 1});
  node.fs.PutDevice("/dev/nvidia-caps/nvidia-cap2", {.major = 236, .minor = 2});
  EXPECT_EQ(node.Nodes("NVIDIA_MIG_CONFIG_DEVICES=all"),
            Texts{"NVIDIA_MIG_CONFIG_DEVICES: only a privileged container may set it"});
  EXPECT_EQ(node.Nodes("NVIDIA_MIG_CONFIG_DEVICES=all", true),
            (Texts{"nvidia-caps/nvidia-cap1", "nvidia0", "nvidiactl"}));
  EXPECT_EQ(node.Nodes("NVIDIA_MIG_MONITOR_DEVICES=all", true),
            (Texts{"nvidia-caps/nvidia-cap2", "nvidia0", "nvidiactl"}));
  node.config.runtime.mode = "jit-cdi";
  EXPECT_EQ(node.Nodes("NVIDIA_MIG_CONFIG_DEVICES=all"), (Texts{"nvidia0", "nvidiactl"}));
}

}  // namespace
}  // namespace gpuop::container
