#include "container/hooks/hooks.h"

#include "container/testing/elf_file.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/testing/memory_folder.h"

namespace gpuop::container {
namespace {

/// A container's root inside a host: what lies beside the root must never change.
struct Image {
  Image() {
    EXPECT_TRUE(host->MakeFolder("/rootfs"));
    EXPECT_TRUE(host->WriteAtomic("/secret", "host\n"));
    EXPECT_TRUE(host->MakeFolder("/hostlib"));
    root = std::move(os::RealFs::Open(folder.path() + "/rootfs", os::RealFs::Durability::kNone).value());
  }
  /// Nothing appeared, vanished or changed on the host.
  void ExpectHostUntouched() const {
    EXPECT_EQ(host->List("/").value(), (std::vector<std::string>{"hostlib", "rootfs", "secret"}));
    EXPECT_EQ(host->Read("/secret").value(), "host\n");
    EXPECT_TRUE(host->List("/hostlib")->empty());
  }

  os::TempFolder folder = os::MemoryFolder();
  std::unique_ptr<os::RealFs> host = std::move(os::RealFs::Open(folder.path()).value());
  std::unique_ptr<os::RealFs> root;
};

TEST(CreateSymlinksTest, MakesLinksWithTheirFoldersAndKeepsTargetsAsWritten) {
  Image image;
  ASSERT_TRUE(CreateSymlinks(*image.root, {"libcuda.so.1::/usr/lib/libcuda.so", "libcuda.so.1::/usr/lib/libcuda.so",
                                           "../../x y::/usr/lib/other"}));
  EXPECT_EQ(image.root->ReadLink("/usr/lib/libcuda.so").value(), "libcuda.so.1");
  EXPECT_EQ(image.root->ReadLink("/usr/lib/other").value(), "../../x y");
  const auto before = image.root->Stat("/usr/lib/libcuda.so")->inode;
  ASSERT_TRUE(CreateSymlinks(*image.root, {"libcuda.so.1::/usr/lib/libcuda.so"}));
  EXPECT_EQ(image.root->Stat("/usr/lib/libcuda.so")->inode, before) << "a right link stays";
}

TEST(CreateSymlinksTest, AWrongLinkIsReplacedAndItsOldTargetIsNot) {
  Image image;
  ASSERT_TRUE(image.root->WriteAtomic("/victim", "keep"));
  ASSERT_TRUE(image.root->Symlink("/victim", "/link"));
  ASSERT_TRUE(CreateSymlinks(*image.root, {"new::/link"}));
  EXPECT_EQ(image.root->ReadLink("/link").value(), "new");
  EXPECT_EQ(image.root->Read("/victim").value(), "keep");
}

TEST(CreateSymlinksTest, LinksOfTheImageLeadNowhereButInside) {
  for (const char* target : {"/", "../../", "../../../../../../hostlib", "/proc/1/root", "/../../hostlib"}) {
    Image image;
    ASSERT_TRUE(image.root->MakeFolder("/lib"));
    ASSERT_TRUE(image.root->MakeFolder("/hostlib"));
    ASSERT_TRUE(os::MakeFolders(*image.root, "/proc/1/root"));
    ASSERT_TRUE(image.root->Symlink(target, "/lib/foo"));
    ASSERT_TRUE(CreateSymlinks(*image.root, {"libfoo.so.1::/lib/foo/libfoo.so"})) << target;
    EXPECT_EQ(image.root->ReadLink("/lib/foo/libfoo.so").value(), "libfoo.so.1");
    image.ExpectHostUntouched();
  }
}

TEST(CreateSymlinksTest, RefusesWhatIsNoPair) {
  Image image;
  for (const char* pair : {"", "a", "a:b", "a::b::c"})
    EXPECT_EQ(CreateSymlinks(*image.root, {pair}).error().code, Code::kInvalid) << pair;
}

TEST(WriteLoaderConfigTest, WritesOnlyFoldersThatNobodyNames) {
  os::FakeFs root;
  root.Put("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n/known/in/conf\n");
  root.Put("/etc/ld.so.conf.d/a.conf", "# comment\n/known/in/include # why\n");
  ASSERT_TRUE(WriteLoaderConfig(root, {"/known/in/conf", "/fresh", "/known/in/include", "/usr/lib64", "/fresh"}));
  EXPECT_EQ(root.Read("/etc/ld.so.conf.d/00-nvcr-gpu.conf").value(), "/fresh\n");
  EXPECT_EQ(root.Stat("/etc/ld.so.conf.d/00-nvcr-gpu.conf")->attributes.mode, 0644U);
  EXPECT_EQ(root.Read("/etc/ld.so.conf.d/zz-nvcr-gpu.conf").value(), "/lib64\n/usr/lib64\n/lib\n/usr/lib\n");
  const auto once = root.List("/etc/ld.so.conf.d").value();
  ASSERT_TRUE(WriteLoaderConfig(root, {"/fresh"}));
  EXPECT_EQ(root.List("/etc/ld.so.conf.d").value(), once) << "a container that is started again gathers nothing";
  EXPECT_EQ(root.Read("/etc/ld.so.conf.d/00-nvcr-gpu.conf").value(), "/fresh\n");
}

TEST(WriteLoaderConfigTest, NoFolderNoFile) {
  os::FakeFs root;
  ASSERT_TRUE(WriteLoaderConfig(root, {}));
  EXPECT_EQ(root.changes(), 0U);
}

TEST(WriteLoaderConfigTest, AMissingConfigurationIsMade) {
  os::FakeFs root;
  root.Put("/etc/debian_version", "12\n");
  ASSERT_TRUE(WriteLoaderConfig(root, {"/usr/lib/x86_64-linux-gnu"}));
  EXPECT_EQ(root.Read("/etc/ld.so.conf").value(), "include /etc/ld.so.conf.d/*.conf\n");
  EXPECT_FALSE(root.Read("/etc/ld.so.conf.d/00-nvcr-gpu.conf")) << "a system folder is no news";
}

TEST(WriteLoaderConfigTest, MuslGetsItsOwnFile) {
  os::FakeFs root;
  root.Put("/etc/alpine-release", "3.20\n");
  ASSERT_TRUE(WriteLoaderConfig(root, {"/usr/lib64/x"}));
  ASSERT_TRUE(WriteLoaderConfig(root, {"/usr/lib64/x"}));
  EXPECT_EQ(root.Read("/etc/ld-musl-x86_64.path").value(), "/lib\n/usr/local/lib\n/usr/lib\n/usr/lib64/x\n");
}

TEST(WriteLoaderConfigTest, RefusesFoldersThatWouldBeLinesOfTheirOwn) {
  os::FakeFs root;
  for (const char* folder : {"/a\ninclude /evil", "relative", "/a\x01"})
    EXPECT_FALSE(WriteLoaderConfig(root, {folder}));
  EXPECT_EQ(root.changes(), 0U);
}

TEST(WriteLoaderConfigTest, HostileImagesChangeNothingOutside) {
  struct Trap {
    const char* target;
    const char* link;
  };
  for (const Trap& trap :
       {Trap{"../../../../secret", "/etc/ld.so.conf"}, Trap{"/../../secret", "/etc/ld.so.conf"},
        Trap{"../../../hostlib", "/etc/ld.so.conf.d"}, Trap{"../../secret", "/etc/ld.so.conf.d/00-nvcr-gpu.conf"},
        Trap{"/proc/self/cwd", "/etc/ld.so.conf.d"}, Trap{"/proc/self/cwd/../hostlib", "/etc/ld.so.conf.d"},
        Trap{"ld.so.conf.d", "/etc/ld.so.conf.d"}}) {
    Image image;
    ASSERT_TRUE(os::MakeFolders(*image.root, std::string(trap.link).substr(0, std::string(trap.link).rfind('/'))));
    ASSERT_TRUE(image.root->Symlink(trap.target, trap.link));
    (void)WriteLoaderConfig(*image.root, {"/fresh"}).has_value();
    image.ExpectHostUntouched();
  }
}

struct CompatCase {
  const char* name;
  std::vector<std::string> libraries;
  const char* host_driver;
  const char* host_cuda;
  bool used;
};

TEST(CudaCompatTest, WithoutANoteTheDriversMajorDecides) {
  for (const CompatCase& c :
       {CompatCase{"newer", {"333.88.99"}, "222.55.66", "", true},
        CompatCase{"same", {"222.88.99"}, "222.55.66", "", false},
        CompatCase{"older", {"111.88.99"}, "222.55.66", "", false},
        CompatCase{"numeric", {"222.88.99"}, "99.55.66", "", true}, CompatCase{"no host", {"222.88.99"}, "", "", false},
        CompatCase{"two", {"222.88.99", "333.88.99"}, "99.55.66", "", false},
        CompatCase{"no version", {"x.y"}, "99.5", "", false},
        CompatCase{"cuda only", {"333.88.99"}, "222.5", "12.4", false}}) {
    os::FakeFs root;
    for (const std::string& version : c.libraries) root.Put("/usr/local/cuda/compat/libcuda.so." + version, "");
    const auto folder = FindCudaCompat(root, {.host_driver_version = c.host_driver, .host_cuda_version = c.host_cuda});
    EXPECT_EQ(folder.value(), c.used ? "/usr/local/cuda/compat" : "") << c.name;
  }
}

TEST(CudaCompatTest, ANoteDecidesByDriversAndCuda) {
  const std::string note = R"({"CUDA Version": "12.9", "Driver": [535, 550, 560, 570, 575], "Device": [1]})";
  for (const auto& [driver, cuda, used] :
       std::vector<std::tuple<std::string, std::string, bool>>{{"", "12.8", true},
                                                               {"", "12.9", false},
                                                               {"", "12.10", false},
                                                               {"590.44.01", "", false},
                                                               {"570.211.01", "", true},
                                                               {"575.10.10", "", true},
                                                               {"575.57.08", "", false},
                                                               {"575.99.99", "", false}}) {
    os::FakeFs root;
    root.Put("/usr/local/cuda/compat/libcuda.so.575.57.08",
             ElfFile("libcuda.so.1", ".note.cuda.fwd_compatibility", "NVIDIA Corporation", note));
    EXPECT_EQ(FindCudaCompat(root, {.host_driver_version = driver, .host_cuda_version = cuda}).value(),
              used ? "/usr/local/cuda/compat" : "")
        << driver << cuda;
  }
}

TEST(CudaCompatTest, ALinkedFolderStaysInsideAndIsNamedByItsRealPath) {
  Image image;
  ASSERT_TRUE(os::MakeFolders(*image.root, "/usr/local"));
  ASSERT_TRUE(os::MakeFolders(*image.root, "/etc"));
  ASSERT_TRUE(image.root->Symlink("../../../../", "/usr/local/cuda"));
  ASSERT_TRUE(os::MakeFolders(*image.root, "/compat"));
  ASSERT_TRUE(image.root->WriteAtomic("/compat/libcuda.so.333.1", ""));
  ASSERT_TRUE(EnableCudaCompat(*image.root, {.host_driver_version = "222.1"}));
  EXPECT_EQ(image.root->Read("/etc/ld.so.conf.d/00-compat-gpu.conf").value(), "/compat\n");
  image.ExpectHostUntouched();
}

TEST(CudaCompatTest, AFolderWithALineBreakIsNoLineOfTheConfiguration) {
  os::FakeFs root;
  root.Put("/evil\n/lib/libcuda.so.333.1", "");
  EXPECT_FALSE(EnableCudaCompat(root, {.host_driver_version = "222.1", .folder = "/evil\n/lib"}));
}

TEST(DeviceNodeModificationTest, SwitchesExactlyItsLine) {
  EXPECT_EQ(WithoutDeviceNodeModification("A: 1\nModifyDeviceFiles: 1\nB: 2\n"), "A: 1\nModifyDeviceFiles: 0\nB: 2\n");
  for (const char* text :
       {"", " ModifyDeviceFiles: 1\n", "ModifyDeviceFiles: 1 \n", "ModifyDeviceFiles: 11\n", "ModifyDeviceFiles: 0\n"})
    EXPECT_EQ(WithoutDeviceNodeModification(text), std::nullopt) << text;
}

TEST(ApplicationProfileTest, ShowsTheNodesThatAreThere) {
  os::FakeFs root;
  EXPECT_EQ(ApplicationProfile(root), std::nullopt);
  root.PutDevice("/dev/nvidia0", {.major = 195, .minor = 0});
  root.PutDevice("/dev/nvidia3", {.major = 195, .minor = 3});
  root.PutDevice("/dev/nvidiactl", {.major = 195, .minor = 255});
  root.PutDevice("/dev/nvidia70", {.major = 195, .minor = 70});
  root.Put("/dev/nvidia5", "a file");
  EXPECT_TRUE(ApplicationProfile(root)->contains("\"EGLVisibleDGPUDevices\", 0x9")) << *ApplicationProfile(root);
  ASSERT_TRUE(WriteApplicationProfile(root));
  EXPECT_TRUE(root.Read("/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf"));
}

TEST(ContainerRootTest, ComesFromTheBundleAndIsNeverTheHosts) {
  const os::TempFolder folder = os::MemoryFolder();
  const auto fs = os::RealFs::Open(folder.path()).value();
  const std::string state = R"({"bundle": ")" + folder.path() + "\"}";
  for (const auto& [spec, want] :
       std::vector<std::pair<std::string, std::string>>{{R"({"root":{"path":"rootfs"}})", folder.path() + "/rootfs"},
                                                        {R"({"root":{"path":"/abs/fs/"}})", "/abs/fs"},
                                                        {R"({"root":{"path":""}})", ""},
                                                        {R"({"root":{"path":"/"}})", ""},
                                                        {R"({"root":{"path":"//"}})", ""},
                                                        {"{}", ""},
                                                        {"nonsense", ""}}) {
    ASSERT_TRUE(fs->WriteAtomic("/config.json", spec));
    EXPECT_EQ(ContainerRoot(state).value_or(""), want) << spec;
  }
  for (const char* bad : {"", "{}", R"({"bundle": "relative"})", R"({"bundle": 5})"})
    EXPECT_FALSE(ContainerRoot(bad)) << bad;
}

}  // namespace
}  // namespace gpuop::container
