// What needs mounts: runs in a mount namespace of its own, as root.
#include "container/hooks/confined.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::container {
namespace {

/// Runs `work` in a process with mounts of its own. -1: that is not possible here; else what `work` returned.
int Apart(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(255);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status)) return 254;
  return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

struct Rootfs {
  Rootfs() {
    for (const char* path : {"/rootfs/proc", "/rootfs/etc", "/rootfs/opt", "/outside"})
      EXPECT_TRUE(os::MakeFolders(*fs, path));
  }
  std::string root() const { return folder.path() + "/rootfs"; }

  os::TempFolder folder = std::move(os::TempFolder::Make().value());
  std::unique_ptr<os::RealFs> fs = std::move(os::RealFs::Open(folder.path()).value());
};

TEST(CoverProcFileTest, ShowsOtherBytesThatNobodyCanChange) {
  Rootfs image;
  const int outcome = Apart([&] {
    if (::mount("proc", (image.root() + "/proc").c_str(), "proc", 0, nullptr) != 0) return 255;
    if (auto done = CoverProcFile(image.root(), "/proc/version", "covered\n"); !done) {
      std::fprintf(stderr, "%s\n", done.error().text.c_str());
      return 1;
    }
    const auto inside = os::RealFs::Open(image.root());  // a folder opened before shows the mounts of before
    if (!inside || (*inside)->Read("/proc/version").value_or("") != "covered\n") return 2;
    if (::open((image.root() + "/proc/version").c_str(), O_WRONLY) >= 0 || errno != EROFS) return 3;
    return 0;
  });
  if (outcome == -1) GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(outcome, 0);
}

TEST(CoverProcFileTest, RefusesWhatIsNoProcFileAndStaysInside) {
  Rootfs image;
  ASSERT_TRUE(image.fs->WriteAtomic("/rootfs/proc/version", "fake\n"));
  ASSERT_TRUE(image.fs->Symlink("/proc/../../../../../proc/version", "/rootfs/proc/link"));
  EXPECT_EQ(CoverProcFile(image.root(), "/proc/version", "x").error().code, Code::kInvalid);
  EXPECT_EQ(CoverProcFile(image.root(), "/proc/link", "x").error().code, Code::kInvalid);
  EXPECT_EQ(CoverProcFile(image.root(), "/proc/none", "x").error().code, Code::kNotFound);
  EXPECT_EQ(image.fs->Read("/rootfs/proc/version").value(), "fake\n");
}

TEST(RunLdconfigTest, RefusesProgramsThatWouldRunTheContainersCode) {
  Rootfs image;
  ASSERT_TRUE(image.fs->WriteAtomic("/script", "#!/bin/sh\n"));
  ASSERT_TRUE(image.fs->WriteAtomic("/text", "no program"));
  for (const std::string& path :
       {image.folder.path() + "/script", image.folder.path() + "/text", std::string("/proc/self/exe")})
    EXPECT_EQ(RunLdconfig(image.root(), "@" + path).error().code, Code::kUnsupported) << path;
  EXPECT_EQ(RunLdconfig(image.root(), "/no/such").error().code, Code::kNotFound);
}

TEST(RunLdconfigTest, WritesTheCacheInsideAndFollowsNoLinkOut) {
  const auto run = [](const std::function<void(Rootfs&)>& trap, const std::function<int(Rootfs&)>& look) {
    Rootfs image;
    EXPECT_TRUE(image.fs->WriteAtomic("/outside/file", "host\n"));
    EXPECT_TRUE(image.fs->WriteAtomic("/rootfs/etc/ld.so.conf", "/opt\n"));
    trap(image);
    const int outcome = Apart([&] {
      (void)RunLdconfig(image.root(), "").has_value();
      return look(image);
    });
    EXPECT_EQ(image.fs->Read("/outside/file").value(), "host\n");
    EXPECT_EQ(image.fs->List("/outside").value(), std::vector<std::string>{"file"});
    return outcome;
  };
  const auto cached = [](Rootfs& image) { return image.fs->Read("/rootfs/etc/ld.so.cache") ? 0 : 1; };
  const int plain = run([](Rootfs&) {}, cached);
  if (plain == -1) GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(plain, 0);
  const auto nothing = [](Rootfs&) { return 0; };
  for (const char* target : {"../../outside/file", "/../../outside/file", "../../../../../../outside/file"})
    run([&](Rootfs& image) { EXPECT_TRUE(image.fs->Symlink(target, "/rootfs/etc/ld.so.cache")); }, nothing);
  run([](Rootfs& image) { EXPECT_TRUE(image.fs->Symlink("../../outside", "/rootfs/opt/x")); }, nothing);
  run(
      [](Rootfs& image) {
        EXPECT_TRUE(image.fs->WriteAtomic("/rootfs/etc/ld.so.conf", "include /etc/*\n/opt\n../../outside\n"));
      },
      nothing);
}

}  // namespace
}  // namespace gpuop::container
