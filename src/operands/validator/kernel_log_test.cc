// The kernel's log as a file that grows.

#include "operands/validator/kernel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include "os/temp_folder.h"

namespace gpuop::operands::validator {
namespace {

TEST(KernelLogTest, TellsOldLinesAndThenEachNewOne) {
  const auto folder = os::TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/kmsg";
  std::ofstream(path) << "6,1,1,-;old\n";
  std::mutex mu;
  std::condition_variable more;
  std::vector<std::string> lines;
  const auto log = KernelLog::Start(path, [&](const std::string& line, bool old) {
    const std::scoped_lock l(mu);
    lines.push_back((old ? "old " : "new ") + line);
    more.notify_all();
  });
  ASSERT_TRUE(log) << log.error().text;
  const auto wait_for = [&](std::size_t count) {
    std::unique_lock l(mu);
    return more.wait_for(l, std::chrono::seconds(20), [&] { return lines.size() >= count; });
  };
  ASSERT_TRUE(wait_for(1));
  std::ofstream(path, std::ios::app) << "6,2,2,-;NVRM: half ";
  std::ofstream(path, std::ios::app) << "a line\n6,3,3,-;third\n";
  ASSERT_TRUE(wait_for(3));
  const std::scoped_lock l(mu);
  EXPECT_EQ(lines, (std::vector<std::string>{"old 6,1,1,-;old", "new 6,2,2,-;NVRM: half a line", "new 6,3,3,-;third"}));
}

}  // namespace
}  // namespace gpuop::operands::validator
