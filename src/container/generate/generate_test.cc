#include "container/generate/generate.h"

#include <algorithm>

#include "container/testing/elf_file.h"
#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

/// A driver root with the few files that a spec needs; plain files stand for nodes.
struct Node {
  Node() {
    driver.Put("/lib/x86_64-linux-gnu/libcuda.so.999.88.77", "");
    driver.Put("/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77", "");
    for (const char* path : {"nvidia0", "nvidiactl", "nvidia-fs0", "gdrdrv", "infiniband/rdma_cm", "infiniband/uverbs0",
                             "nvidia-caps/nvidia-cap1", "nvidia-caps-imex-channels/channel0",
                             "nvidia-caps-imex-channels/channel1", "nvidia-caps-imex-channels/channel2047"})
      driver.Put(std::string("/dev/") + path, "");
    driver.Put("/etc/cufile.json", "{}");
    machine.gpus = {{.uuid = "GPU-0", .pci = "0000:00:00.0"}};
    options.vendor = "example.com";
    options.kind_class = "device";
    options.naming = {CdiNaming::kIndex};
  }
  Result<CdiSpec> Generate() const { return GenerateCdiSpec({driver, driver, host}, machine, options); }

  os::FakeFs driver, host;
  MachineFacts machine;
  GenerateOptions options;
};

std::vector<std::string> NodesOf(const CdiEdits& edits) {
  std::vector<std::string> out;
  for (const CdiDeviceNode& node : edits.device_nodes) out.push_back(node.path);
  return out;
}

std::vector<std::string> HooksOf(const CdiEdits& edits) {
  std::vector<std::string> out;
  for (const CdiHook& hook : edits.hooks) out.push_back(hook.args.at(1));
  return out;
}

std::vector<std::string> NamesOf(const CdiSpec& spec) {
  std::vector<std::string> out;
  for (const CdiDevice& device : spec.devices) out.push_back(device.name);
  return out;
}

using Texts = std::vector<std::string>;

TEST(GenerateTest, DescribesAGpuAndWhatAllGpusShare) {
  const CdiSpec spec = Node().Generate().value();
  EXPECT_EQ(spec.kind, "example.com/device");
  EXPECT_EQ(spec.version, "0.5.0");
  EXPECT_EQ(NamesOf(spec), (Texts{"0", "all"}));
  for (const CdiDevice& device : spec.devices) EXPECT_EQ(NodesOf(device.edits), Texts{"/dev/nvidia0"});
  EXPECT_EQ(NodesOf(spec.edits), Texts{"/dev/nvidiactl"});
  EXPECT_EQ(spec.edits.env, (Texts{"NVIDIA_CTK_LIBCUDA_DIR=/lib/x86_64-linux-gnu", "NVIDIA_VISIBLE_DEVICES=void"}));
  EXPECT_EQ(HooksOf(spec.edits), (Texts{"create-symlinks", "enable-cuda-compat", "update-ldcache",
                                        "disable-device-node-modification", "update-application-profile"}));
  ASSERT_EQ(spec.edits.mounts.size(), 2U);
  EXPECT_EQ(spec.edits.mounts[0].options, (Texts{"ro", "nosuid", "nodev", "rbind", "rprivate"}));
  for (const CdiHook& hook : spec.edits.hooks) EXPECT_EQ(hook.env, Texts{"NVIDIA_CTK_DEBUG=false"});
}

TEST(GenerateTest, TheSameNodeGivesTheSameBytes) {
  EXPECT_EQ(CdiSpecToYaml(Node().Generate().value()), CdiSpecToYaml(Node().Generate().value()));
}

TEST(GenerateTest, HooksCanBeSwitchedOff) {
  Node node;
  node.options.disabled_hooks = {"enable-cuda-compat"};
  EXPECT_EQ(node.Generate()->edits.hooks.size(), 4U);
  node.options.disabled_hooks = {"all"};
  EXPECT_TRUE(node.Generate()->edits.hooks.empty());
  node.options.enabled_hooks = {"update-ldcache"};
  EXPECT_EQ(HooksOf(node.Generate()->edits), Texts{"update-ldcache"});
  node.options.enabled_hooks = {"all"};
  EXPECT_EQ(node.Generate().error().code, Code::kInvalid);
}

TEST(GenerateTest, IdsChooseDevices) {
  struct Case {
    std::vector<std::string> ids;
    Texts names;  // empty: refused
  };
  for (const Case& c : {Case{{"0"}, {"0", "all"}}, Case{{"GPU-0"}, {"0", "all"}}, Case{{"0", "all"}, {"0", "all"}},
                        Case{{"none", "0"}, {"none"}}, Case{{"0", "0"}, {"0", "all"}}, Case{{"99"}, {}},
                        Case{{"0000:00:00.0"}, {}}, Case{{"bogus"}, {}}, Case{{"0:0"}, {}}}) {
    Node node;
    node.options.devices = c.ids;
    const auto spec = node.Generate();
    EXPECT_EQ(spec ? NamesOf(*spec) : Texts(), c.names) << c.ids[0];
  }
  Node node;
  node.options.all_device = false;
  EXPECT_EQ(NamesOf(*node.Generate()), Texts{"0"});
  node.options.devices = {"99"};
  EXPECT_TRUE(node.Generate().error().text.contains("ERROR_INVALID_ARGUMENT"));
}

TEST(GenerateTest, MigDevicesNeedTheirCapabilities) {
  Node node;
  node.machine.gpus[0].mig_enabled = true;
  node.machine.gpus[0].minor = 3;
  node.machine.gpus[0].mig_devices = {{.index = 1, .uuid = "MIG-1", .gpu_instance = 5, .compute_instance = 0}};
  node.options.naming = {CdiNaming::kIndex, CdiNaming::kTypeIndex, CdiNaming::kUuid};
  EXPECT_FALSE(node.Generate()) << "without mig-minors";
  node.host.Put("/proc/driver/nvidia-caps/mig-minors",
                "config 1\ngpu3/gi5/access 30\nnonsense\ngpu3/gi5/ci0/access 31\n");
  const CdiSpec spec = node.Generate().value();
  EXPECT_EQ(NamesOf(spec), (Texts{"0:1", "MIG-1", "all", "mig0:1"}));
  EXPECT_EQ(NodesOf(spec.devices[0].edits),
            (Texts{"/dev/nvidia3", "/dev/nvidia-caps/nvidia-cap30", "/dev/nvidia-caps/nvidia-cap31"}));
  node.options.devices = {"0"};  // the whole GPU, asked for by name
  EXPECT_EQ(NodesOf(node.Generate()->devices[0].edits), Texts{"/dev/nvidia3"});
}

TEST(GenerateTest, DrmNodesComeWithTheGpu) {
  Node node;
  node.host.Put("/sys/bus/pci/devices/0000:00:00.0/drm/card1/dev", "");
  node.host.Put("/sys/bus/pci/devices/0000:00:00.0/drm/renderD128/dev", "");
  node.driver.PutDevice("/dev/dri/card1", {.major = 226, .minor = 1}, {.mode = 0660, .gid = 44});
  node.driver.PutDevice("/dev/dri/renderD128", {.major = 226, .minor = 128});
  ASSERT_TRUE(os::MakeFolders(node.driver, "/dev/dri/by-path"));
  ASSERT_TRUE(node.driver.Symlink("../card1", "/dev/dri/by-path/pci-0000:00:00.0-card"));
  const CdiSpec spec = node.Generate().value();
  EXPECT_EQ(spec.version, "0.7.0");
  const CdiEdits& edits = spec.devices[0].edits;
  EXPECT_EQ(NodesOf(edits), (Texts{"/dev/nvidia0", "/dev/dri/card1", "/dev/dri/renderD128"}));
  EXPECT_EQ(edits.additional_gids, std::vector<std::uint32_t>{44});
  ASSERT_EQ(edits.hooks.size(), 1U);
  EXPECT_EQ(edits.hooks[0].args.back(), "../card1::/dev/dri/by-path/pci-0000:00:00.0-card");
  node.options.features = {"no-additional-gids-for-device-nodes"};
  EXPECT_EQ(node.Generate()->version, "0.5.0");
}

TEST(GenerateTest, LinksFollowTheLibrariesNames) {
  Node node;
  const std::string folder = "/lib/x86_64-linux-gnu/";
  node.driver.Put(folder + "libcuda.so.999.88.77", ElfFile("libcuda.so.1"));
  ASSERT_TRUE(node.driver.Symlink("libcuda.so.999.88.77", folder + "libcuda.so.1"));
  node.driver.Put(folder + "libnvidia-x.so.999.88.77", ElfFile("libnvidia-x.so.999.88.77"));
  ASSERT_TRUE(node.driver.Symlink("libnvidia-x.so.999.88.77", folder + "libnvidia-x.so"));
  node.driver.Put(folder + "libnvidia-evil.so.999.88.77", ElfFile("../../etc/passwd"));
  node.driver.Put(folder + "libnvidia-control.so.999.88.77", ElfFile("libx\n.so.1"));
  const CdiSpec spec = node.Generate().value();
  Texts links;
  for (const std::string& argument : spec.edits.hooks[0].args)
    if (argument.contains("::")) links.push_back(argument);
  EXPECT_EQ(links, (Texts{"libcuda.so.1::" + folder + "libcuda.so", "libcuda.so.999.88.77::" + folder + "libcuda.so.1",
                          "libnvidia-x.so.999.88.77::" + folder + "libnvidia-x.so"}));
}

TEST(GenerateTest, GraphicsLibrariesAndConfigurationsStandWhereProgramsLookForThem) {
  Node node;
  const std::string folder = "/lib/x86_64-linux-gnu/";
  node.driver.Put(folder + "libnvidia-allocator.so.999.88.77", "");
  node.driver.Put(folder + "libnvidia-egl-gbm.so.1.1.2", "");
  node.driver.Put(folder + "libnvidia-vulkan-producer.so.999.88.77", "");
  node.driver.Put(folder + "nvidia/xorg/nvidia_drv.so", "");
  node.driver.Put(folder + "nvidia/xorg/libglxserver_nvidia.so.999.88.77", "");
  node.driver.Put("/usr/local/share/glvnd/egl_vendor.d/10_nvidia.json", "{}");
  node.driver.Put("/etc/vulkan/icd.d/nvidia_icd.json", "{}");
  const CdiSpec spec = node.Generate().value();
  const auto inside = [&](const std::string& host) -> std::string {
    for (const CdiMount& mount : spec.edits.mounts)
      if (mount.host_path.ends_with(host)) return mount.container_path;
    return "";
  };
  EXPECT_EQ(inside(folder + "libnvidia-egl-gbm.so.1.1.2"), folder + "libnvidia-egl-gbm.so.1.1.2")
      << "it has a version of its own";
  EXPECT_EQ(inside(folder + "nvidia/xorg/nvidia_drv.so"), folder + "nvidia/xorg/nvidia_drv.so");
  EXPECT_EQ(inside("/usr/local/share/glvnd/egl_vendor.d/10_nvidia.json"),
            "/usr/share/glvnd/egl_vendor.d/10_nvidia.json");
  EXPECT_EQ(inside("/etc/vulkan/icd.d/nvidia_icd.json"), "/etc/vulkan/icd.d/nvidia_icd.json");
  std::string links;
  for (const CdiHook& hook : spec.edits.hooks)
    for (const std::string& argument : hook.args)
      if (argument.contains("::")) links += argument + "\n";
  EXPECT_TRUE(links.contains("../libnvidia-allocator.so.1::" + folder + "gbm/nvidia-drm_gbm.so\n")) << links;
  EXPECT_TRUE(links.contains("::" + folder + "libnvidia-vulkan-producer.so\n")) << links;
  EXPECT_TRUE(links.contains("::" + folder + "nvidia/xorg/libglxserver_nvidia.so\n")) << links;

  Node other;
  other.driver.Put(folder + "libnvidia-allocator.so.1.2.3", "");
  for (const CdiHook& hook : other.Generate().value().edits.hooks)
    for (const std::string& argument : hook.args) EXPECT_FALSE(argument.contains("nvidia-drm_gbm.so")) << argument;
}

TEST(GenerateTest, LibrariesAreFoundInTheLoadersCacheAndInFoldersAsked) {
  Node node;
  for (const char* path :
       {"/lib/x86_64-linux-gnu/libcuda.so.999.88.77", "/lib/x86_64-linux-gnu/vdpau/libvdpau_nvidia.so.999.88.77"})
    ASSERT_TRUE(node.driver.Remove(path));
  EXPECT_EQ(node.Generate().error().code, Code::kNotFound);
  node.driver.Put("/opt/glibc/lib/libcuda.so.1.2", "");
#if defined(__x86_64__)
  node.driver.Put("/etc/ld.so.cache", LdCacheFile({{"libcuda.so.1", "/opt/glibc/lib/libcuda.so.1.2"}}));
  EXPECT_EQ(node.Generate()->edits.env[0], "NVIDIA_CTK_LIBCUDA_DIR=/opt/glibc/lib");
  ASSERT_TRUE(node.driver.Remove("/etc/ld.so.cache"));
#endif
  node.options.library_folders = {"/opt/glibc/lib"};
  EXPECT_EQ(node.Generate()->edits.env[0], "NVIDIA_CTK_LIBCUDA_DIR=/opt/glibc/lib");
}

TEST(GenerateTest, ManagementTakesEveryNode) {
  Node node;
  node.options.mode = CdiMode::kManagement;
  node.options.driver_root = "/host/driver";
  const CdiSpec spec = node.Generate().value();
  EXPECT_EQ(NamesOf(spec), Texts{"all"});
  EXPECT_EQ(NodesOf(spec.devices[0].edits),
            (Texts{"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-caps-imex-channels/channel0",
                   "/dev/nvidia-caps-imex-channels/channel1", "/dev/nvidia-caps-imex-channels/channel2047",
                   "/dev/nvidia-caps/nvidia-cap1"}));
  EXPECT_EQ(HooksOf(spec.edits), (Texts{"create-symlinks", "enable-cuda-compat", "update-ldcache"}));
  EXPECT_EQ(spec.edits.mounts[0].host_path, "/host/driver/lib/x86_64-linux-gnu/libcuda.so.999.88.77");
  EXPECT_EQ(spec.edits.mounts[0].container_path, "/lib/x86_64-linux-gnu/libcuda.so.999.88.77");
  os::FakeFs empty;
  EXPECT_EQ(GenerateCdiSpec({empty, empty, empty}, {.driver_version = "1.2"}, node.options).error().text,
            "no NVIDIA device nodes found");
}

TEST(GenerateTest, ImexChannelsAreCheckedOneByOne) {
  struct Case {
    const char* id;
    const char* want;
  };
  for (const Case& c : {Case{"0", "0"}, Case{"channel2047", "2047"}, Case{"bogus", "invalid channel ID"},
                        Case{"1048576", "must be in the range [0, 1048575]"}, Case{"5", "not found"}}) {
    Node node;
    node.options.mode = CdiMode::kImex;
    node.options.devices = {c.id};
    const auto spec = node.Generate();
    if (spec)
      EXPECT_EQ(NamesOf(*spec), (Texts{c.want, "all"}));
    else
      EXPECT_TRUE(spec.error().text.contains(c.want)) << spec.error().text;
  }
}

TEST(GenerateTest, PeripheralsNeedTheirNodes) {
  Node node;
  node.options.mode = CdiMode::kGds;
  const CdiSpec gds = node.Generate().value();
  EXPECT_EQ(NodesOf(gds.devices[0].edits), Texts{"/dev/nvidia-fs0"});
  EXPECT_EQ(gds.devices[0].edits.mounts.size(), 1U);
  node.options.mode = CdiMode::kMofed;
  EXPECT_EQ(NodesOf(node.Generate()->devices[0].edits), (Texts{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0"}));
  node.options.mode = CdiMode::kNvswitch;
  EXPECT_EQ(node.Generate().error().code, Code::kUnavailable);
}

TEST(GenerateTest, CsvFilesOfTegraAreRead) {
  Node node;
  node.host.Put("/etc/nv_tegra_release", "R36");
  node.machine = {};
  const std::string folder = "/etc/nvidia-container-runtime/host-files-for-container.d/";
  node.driver.Put(folder + "devices.csv", "dev, /dev/nvidia0\ndev, /dev/missing\n\n");
  node.driver.Put(folder + "drivers.csv",
                  "lib, /lib/x86_64-linux-gnu/libcuda.so.999.88.77\nsym, /usr/lib/link\ndir, /no\n");
  ASSERT_TRUE(os::MakeFolders(node.driver, "/usr/lib"));
  ASSERT_TRUE(node.driver.Symlink("target", "/usr/lib/link"));
  node.options.mode = CdiMode::kAuto;
  const auto spec = node.Generate();
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(NamesOf(*spec), (Texts{"0", "all"}));
  EXPECT_EQ(NodesOf(spec->devices[0].edits), Texts{"/dev/nvidia0"});
  EXPECT_EQ(spec->edits.hooks[0].args.back(), "target::/usr/lib/link");
  node.driver.Put(folder + "devices.csv", "nonsense\n");
  EXPECT_TRUE(node.Generate().error().text.contains("devices.csv: line 1"));
}

TEST(GenerateTest, CoherentGpusGetSpecsOfTheirOwn) {
  Node node;
  node.machine.gpus.push_back({.index = 1, .minor = 1, .uuid = "GPU-1", .coherent = true});
  const auto specs = GenerateCoherentSpecs({node.driver, node.driver, node.host}, node.machine, node.options).value();
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].second.kind, "example.com/device.coherent");
  EXPECT_EQ(specs[0].second.version, "0.6.0");
  EXPECT_EQ(NamesOf(specs[0].second), (Texts{"1", "all"}));
  EXPECT_EQ(specs[1].first, ".noncoherent");
}

TEST(TransformRootTest, MovesWholePathsOnly) {
  CdiSpec spec{.version = "0.5.0", .kind = "a/b"};
  spec.edits.mounts = {{.host_path = "/run/nvidia/driver/lib/x", .container_path = "/lib/x"},
                       {.host_path = "/run/nvidia/driver-backup/x", .container_path = "/y"},
                       {.host_path = "/run/nvidia/driver", .container_path = "/z"}};
  spec.edits.hooks = {
      {.hook_name = "createContainer", .path = "/run/nvidia/driver/h", .args = {"h", "/run/nvidia/driver/a"}},
      {.hook_name = "createRuntime", .path = "/h", .args = {"h", "/run/nvidia/driver/a"}},
      {.hook_name = "startContainer", .path = "/run/nvidia/driver/h", .args = {"h"}}};
  TransformRoot(spec, {.from = "/run/nvidia/driver", .to = "/host"});
  EXPECT_EQ(spec.edits.mounts[0].host_path, "/host/lib/x");
  EXPECT_EQ(spec.edits.mounts[1].host_path, "/run/nvidia/driver-backup/x");
  EXPECT_EQ(spec.edits.mounts[2].host_path, "/host");
  EXPECT_EQ(spec.edits.hooks[0].path, "/host/h");
  EXPECT_EQ(spec.edits.hooks[0].args[1], "/run/nvidia/driver/a");
  EXPECT_EQ(spec.edits.hooks[1].args[1], "/host/a");
  EXPECT_EQ(spec.edits.hooks[2].path, "/run/nvidia/driver/h");
  TransformRoot(spec, {.from = "/lib", .to = "/usr/lib", .host = false});
  EXPECT_EQ(spec.edits.mounts[0].container_path, "/usr/lib/x");
}

}  // namespace
}  // namespace gpuop::container
