#include "os/mounts.h"

#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::os {
namespace {

constexpr const char* kText =
    "22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro\n"
    "36 22 0:24 / /sys rw,nosuid shared:7 master:2 - sysfs sysfs rw\n"
    "90 22 253:0 /var/a\\040b /mnt/with\\011tab\\134 ro,noatime - ext4 /dev/vda rw\n"
    "91 22 0:50 / /mnt rw - tmpfs none rw,size=1024k\n"
    "92 22 0:51 / /mnt rw unbindable - overlay overlay ro,lowerdir=/a:/b\n";

TEST(Mounts, ReadsEveryField) {
  FakeFs fs;
  fs.Put("/proc/self/mountinfo", kText);
  auto mounts = ReadMounts(fs);
  ASSERT_TRUE(mounts) << mounts.error().text;
  ASSERT_EQ(mounts->size(), 5U);
  EXPECT_EQ(
      (*mounts)[0],
      (Mount{
          22, 1, 253, 0, "/", "/", {"rw", "relatime"}, {"shared:1"}, "ext4", "/dev/vda", {"rw", "errors=remount-ro"}}));
  EXPECT_EQ((*mounts)[1].propagation, (std::vector<std::string>{"shared:7", "master:2"}));
  EXPECT_EQ((*mounts)[2].root, "/var/a b");
  EXPECT_EQ((*mounts)[2].point, "/mnt/with\ttab\\");
  EXPECT_TRUE((*mounts)[2].read_only());
  EXPECT_FALSE((*mounts)[3].read_only());
  EXPECT_TRUE((*mounts)[4].read_only());
}

TEST(Mounts, FindsTheMountAPathIsOn) {
  const auto mounts = ParseMountInfo(kText).value();
  EXPECT_EQ(MountOf(mounts, "/etc/x")->id, 22);
  EXPECT_EQ(MountOf(mounts, "/sys")->id, 36);
  EXPECT_EQ(MountOf(mounts, "/system")->id, 22);
  EXPECT_EQ(MountOf(mounts, "/mnt/x")->id, 92) << "the later one lies on top";
  EXPECT_EQ(MountOf({}, "/"), nullptr);
}

TEST(Mounts, NamesTheLineThatIsWrong) {
  EXPECT_EQ(ParseMountInfo("22 1 253:0 / / rw - ext4 /dev/vda rw\n22 1\n").error(),
            (Error{Code::kInvalid, "mountinfo line 2: not a mount"}));
  for (const char* line : {"x 1 0:0 / / rw - t s o", "1 1 0 / / rw - t s o", "1 1 0:0 / / rw t s o",
                           "- - - - - - - - -", "1 1 0:99999999999 / / rw - t s o"})
    EXPECT_FALSE(ParseMountInfo(line)) << line;
}

TEST(Mounts, ReadsThisMachines) {
  auto fs = std::move(RealFs::Open("/").value());
  auto mounts = ReadMounts(*fs, "/proc/thread-self/mountinfo");
  ASSERT_TRUE(mounts) << mounts.error().text;
  const Mount* proc = MountOf(*mounts, "/proc/version");
  ASSERT_NE(proc, nullptr);
  EXPECT_EQ(proc->type, "proc");
}

}  // namespace
}  // namespace gpuop::os
