#include "os/diff.h"

#include <cstdlib>

#include "base/rng.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/testing/memory_folder.h"

namespace gpuop::os {
namespace {

struct Case {
  const char* name;
  std::string before, after, want;
};

class UnifiedDiffTest : public testing::TestWithParam<Case> {};

TEST_P(UnifiedDiffTest, ShowsWhatChanges) {
  const Case& c = GetParam();
  EXPECT_EQ(UnifiedDiff("a", "b", c.before, c.after), c.want);
}

INSTANTIATE_TEST_SUITE_P(, UnifiedDiffTest,
                         testing::Values(Case{"Nothing", "x\n", "x\n", ""},
                                         Case{"NewFile", "", "x\ny\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n"},
                                         Case{"RemovedFile", "x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n"},
                                         Case{"OneLine", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                                              "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
                                              "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
                                         Case{"LineEndAdded", "x", "x\n",
                                              "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"},
                                         Case{"Binary", std::string("\0", 1), "x", "Binary files a and b differ\n"}),
                         [](const auto& c) { return std::string(c.param.name); });

/// Few distinct lines, so that the two texts have much in common.
std::string RandomText(Rng& rng) {
  std::string text;
  for (std::uint64_t n = rng.Below(60); n > 0; --n) text.append(std::to_string(rng.Below(6))).append("\n");
  if (!text.empty() && rng.Below(4) == 0) text.pop_back();
  return text;
}

TEST(UnifiedDiff, PatchAppliesItAndGetsTheNewText) {
  RealProcesses processes;
  if (!processes.Run({.argv = {"patch", "--version"}}, {})) GTEST_SKIP() << "no patch(1) here";
  const TempFolder folder = MemoryFolder();
  auto fs = std::move(RealFs::Open(folder.path()).value());
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const std::string before = RandomText(rng), after = RandomText(rng);
    const std::string diff = UnifiedDiff("x", "x", before, after);
    if (diff.empty()) continue;
    ASSERT_TRUE(fs->WriteAtomic("/x", before));
    auto exit =
        processes.Run({.argv = {"patch", "-s", "-F0", "x", "-o", "y"}, .input = diff, .folder = folder.path()}, {});
    ASSERT_TRUE(exit && exit->ok()) << (exit ? exit->out + exit->err : exit.error().text) << diff;
    ASSERT_EQ(fs->Read("/y").value(), after) << diff;
  }
}

TEST(UnifiedDiff, EveryLineOfBothTextsIsAccountedFor) {
  Rng rng(2);
  for (int i = 0; i < 500; ++i) {
    const std::string before = RandomText(rng), after = RandomText(rng);
    std::size_t removed = 0, added = 0;
    const std::string diff = UnifiedDiff("a", "b", before, after);
    for (std::size_t at = diff.find("@@ -"); at < diff.size(); at = diff.find('\n', at) + 1) {
      removed += diff[at] == '-' ? 1U : 0U;
      added += diff[at] == '+' ? 1U : 0U;
    }
    const auto lines = [](const std::string& s) {
      return static_cast<std::size_t>(std::ranges::count(s, '\n')) + (s.empty() || s.ends_with('\n') ? 0U : 1U);
    };
    ASSERT_EQ(lines(before) + added, lines(after) + removed) << diff;
  }
}

TEST(UnifiedDiff, LargeTextsWithNothingInCommonAreBounded) {
  std::string before, after;
  for (int i = 0; i < 20'000; ++i) {
    before.append("a").append(std::to_string(i)).append("\n");
    after.append("b").append(std::to_string(i)).append("\n");
  }
  const std::string diff = UnifiedDiff("a", "b", before, after);
  EXPECT_NE(diff.find("@@ -1,20000 +1,20000 @@\n-a0\n"), std::string::npos);
}

}  // namespace
}  // namespace gpuop::os
