#include "machine/host/tree.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/testing/memory_folder.h"

namespace gpuop::machine {
namespace {

TEST(TreeTest, DeviceNodesInThePlaceOfFilesStayAndGoWithThem) {
  const os::TempFolder folder = os::MemoryFolder();
  const std::string path = folder.path() + "/dev/nvidia0";
  Tree tree;
  tree.File("/dev/nvidia0", "", 0666);
  ASSERT_TRUE(Update(folder.path(), {}, tree));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  if (::mknod(path.c_str(), S_IFCHR | 0666, ::makedev(195, 0)) != 0) GTEST_SKIP() << "device nodes are root's to make";
  ASSERT_TRUE(Update(folder.path(), {}, tree)) << "by another process, which knows nothing of before";
  struct stat info{};
  ASSERT_EQ(::lstat(path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  ASSERT_TRUE(Update(folder.path(), tree, {}));
  EXPECT_NE(::lstat(path.c_str(), &info), 0);
}

}  // namespace
}  // namespace gpuop::machine
