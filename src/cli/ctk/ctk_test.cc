#include "cli/ctk/cdi.h"
#include "cli/ctk/facts.h"
#include "container/runtime/config.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::cli {
namespace {

TEST(CtkFactsTest, MigDevicesComeInTheirOrderAndSickGpusNotAtAll) {
  gpu::Inventory inventory;
  inventory.driver_version = "550.1";
  gpu::Device device;
  device.index = 3;
  device.minor = 5;
  device.uuid = "GPU-1";
  device.pci = {.domain = 0, .bus = 0x3b};
  device.mig.enabled = true;
  gpu::GpuInstance instance;
  instance.id = 7;
  instance.profile = "1g.10gb+gfx";
  gpu::ComputeInstance second, first, without;
  second.id = 1;
  second.mig_index = 1;
  second.uuid = "MIG-b";
  first.mig_index = 0;
  first.uuid = "MIG-a";
  instance.compute_instances = {second, first, without};
  device.mig.instances = {instance};
  gpu::Device sick;
  sick.unreadable = "NVML_ERROR_GPU_IS_LOST";
  inventory.devices = {device, sick};
  const container::MachineFacts facts = FactsOf(inventory);
  ASSERT_EQ(facts.gpus.size(), 1U);
  EXPECT_EQ(facts.gpus[0].index, 3U);
  EXPECT_EQ(facts.gpus[0].minor, 5U);
  EXPECT_EQ(facts.gpus[0].pci, "0000:3b:00.0");
  ASSERT_EQ(facts.gpus[0].mig_devices.size(), 2U);
  EXPECT_EQ(facts.gpus[0].mig_devices[0].uuid, "MIG-a");
  EXPECT_EQ(facts.gpus[0].mig_devices[1].gpu_instance, 7U);
  EXPECT_TRUE(facts.gpus[0].mig_devices[1].graphics);
}

TEST(CtkCdiTest, ManagementSpecOfATreeAndItsListing) {
  const os::TempFolder folder = std::move(os::TempFolder::Make().value());
  const auto fs = os::RealFs::Open(folder.path()).value();
  for (const char* path : {"/tree/dev", "/tree/lib64", "/cdi"}) ASSERT_TRUE(os::MakeFolders(*fs, path));
  ASSERT_TRUE(fs->WriteAtomic("/tree/lib64/libcuda.so.550.1", ""));
  ASSERT_TRUE(fs->WriteAtomic("/tree/dev/nvidiactl", ""));
  const std::string out = folder.path() + "/cdi/x.yml";
  const auto done = CdiGenerate({"--mode=management", "--driver-root=" + folder.path() + "/tree", "--output=" + out});
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(*done, "");
  EXPECT_EQ(fs->List("/cdi").value(), std::vector<std::string>{"x.yaml"});
  EXPECT_EQ(CdiList({"--spec-dir", folder.path() + "/cdi"}).value(), "nvidia.com/gpu=all\n");
  const auto moved =
      CdiTransformRoot({"--from=" + folder.path() + "/tree", "--to=/", "--input=" + folder.path() + "/cdi/x.yaml"});
  ASSERT_TRUE(moved) << moved.error().text;
  EXPECT_FALSE(moved->contains(folder.path())) << *moved;
}

TEST(CtkConfigTest, ChangesWhatItIsToldAndKeepsTheRest) {
  const os::TempFolder folder = std::move(os::TempFolder::Make().value());
  const auto fs = os::RealFs::Open(folder.path()).value();
  ASSERT_TRUE(fs->WriteAtomic("/c.toml", "# theirs\n[nvidia-container-runtime]\nmode   = \"auto\" # odd\n"));
  const std::string file = "--config-file=" + folder.path() + "/c.toml";
  EXPECT_EQ(ConfigShow({file, "--set", "nvidia-container-runtime.mode=cdi", "--set",
                        "nvidia-container-runtime.runtimes=/a/runc:crun", "--set", "disable-require", "--in-place"})
                .value(),
            "");
  const std::string text = fs->Read("/c.toml").value();
  EXPECT_TRUE(text.contains("# theirs\n")) << text;
  EXPECT_TRUE(text.contains("mode   = \"cdi\" # odd")) << text;
  EXPECT_TRUE(text.contains("runtimes = [\"/a/runc\", \"crun\"]")) << text;
  EXPECT_TRUE(text.contains("disable-require = true")) << text;
  for (const std::string& wish : {"no.such.option=1", "disable-require=perhaps", "nvidia-container-runtime.mode",
                                  "nvidia-container-cli.ldconfig=/sbin/ldconfig"})
    EXPECT_FALSE(ConfigShow({file, "--set", wish})) << wish;
  EXPECT_FALSE(ConfigShow({file, "--in-place", "--output=/x"}));
  EXPECT_EQ(fs->Read("/c.toml").value(), text);
  const auto fresh = ConfigDefault({});
  ASSERT_TRUE(fresh);
  EXPECT_TRUE(container::ReadRuntimeConfig(*fresh)) << "our own default is one that we read";
}

TEST(CtkSystemTest, PrintsTheLoadersCacheAndMakesNothingWithoutADriver) {
  EXPECT_FALSE(SystemPrintLdcache({"--driver-root=/no/such"}));
  const os::TempFolder folder = std::move(os::TempFolder::Make().value());
  const auto fs = os::RealFs::Open(folder.path()).value();
  EXPECT_EQ(SystemCreateDeviceNodes({"--dev-root=" + folder.path()}).value(), "");
  EXPECT_TRUE(SystemCreateDevCharSymlinks({"--dev-char-path=" + folder.path() + "/char", "--dry-run"}));
  EXPECT_TRUE(fs->List("/")->empty());
}

TEST(CtkCdiTest, RefusesWhatItDoesNotKnow) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--mode=bogus"},
                                             {"--format=xml"},
                                             {"--device-name-strategy=bogus"},
                                             {"--no-such-flag"},
                                             {"--driver-root=/no/such/tree"}})
    EXPECT_FALSE(CdiGenerate(arguments)) << arguments[0];
  EXPECT_FALSE(RuntimeConfigure({"--runtime=podman", "--dry-run"}));
  EXPECT_FALSE(RuntimeConfigure({"--runtime=containerd", "--dry-run", "--nvidia-runtime-path=relative"}));
}

TEST(CtkRuntimeTest, ACrioHookGoesWhereCrioLooksAndNamesAProgramThatIsThere) {
  const os::TempFolder folder = std::move(os::TempFolder::Make().value());
  const auto fs = os::RealFs::Open(folder.path()).value();
  const std::string config = folder.path() + "/crio.conf", file = folder.path() + "/vendor.d/oci-nvidia-hook.json";
  ASSERT_TRUE(fs->WriteAtomic("/crio.conf", "[crio.runtime]\nhooks_dir = [\"" + folder.path() + "/vendor.d\"]\n"));
  ASSERT_TRUE(fs->MakeFolder("/vendor.d"));
  ASSERT_TRUE(fs->WriteAtomic("/program", ""));
  const auto configure = [&](const std::string& hook, const std::string& program) {
    return RuntimeConfigure({"--runtime=crio", "--config-mode=oci-hook", "--config=" + config,
                             "--drop-in-config=" + folder.path() + "/d/99-nvidia.toml", "--oci-hook-path=" + hook,
                             "--nvidia-runtime-hook-path=" + program});
  };
  const auto elsewhere = configure(folder.path() + "/other.d/x.json", folder.path() + "/program");
  ASSERT_FALSE(elsewhere);
  EXPECT_TRUE(elsewhere.error().text.contains("hooks_dir")) << elsewhere.error().text;
  EXPECT_TRUE(elsewhere.error().text.contains(folder.path() + "/vendor.d")) << elsewhere.error().text;
  EXPECT_EQ(configure(file, folder.path() + "/none").error().code, Code::kNotFound);
  EXPECT_TRUE(fs->List("/vendor.d")->empty());
  ASSERT_TRUE(configure(file, folder.path() + "/program"));
  EXPECT_TRUE(fs->Read("/vendor.d/oci-nvidia-hook.json")->contains(folder.path() + "/program"));
}

}  // namespace
}  // namespace gpuop::cli
