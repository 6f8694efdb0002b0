#include "os/lock_probe.h"

#include <gtest/gtest.h>

#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::os {
namespace {

TEST(LockProbe, SeesWhetherSomebodyHoldsALock) {
  const auto folder = TempFolder::Make().value();
  const auto fs = RealFs::Open(folder.path()).value();
  const std::string path = folder.path() + "/lock";
  EXPECT_EQ(IsLocked(path).error().code, Code::kNotFound);
  auto lock = fs->Lock("/lock").value();
  EXPECT_TRUE(IsLocked(path).value());
  lock.reset();
  EXPECT_FALSE(IsLocked(path).value());
  EXPECT_TRUE(fs->Lock("/lock")) << "whoever looked has let go";
}

}  // namespace
}  // namespace gpuop::os
