// Kills a change at every point there is and looks at what is left.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fake_fs.h"
#include "os/journal.h"
#include "os/real_fs.h"
#include "os/testing/journal_host.h"
#include "os/testing/killed_process.h"
#include "os/testing/memory_folder.h"

namespace gpuop::os {
namespace {

struct Killed {};

Tree Before() {
  FakeFs fs;
  PrepareHost(fs);
  return TreeOf(fs);
}

Tree After() {
  FakeFs fs;
  PrepareHost(fs);
  Journal journal(fs, kJournalFolder);
  EXPECT_TRUE(journal.Apply(journal.MakePlan("x", EveryKindOfChange()).value(), EngineHooks(fs)));
  return TreeOf(fs);
}

Result<> ApplyEverything(Fs& fs) {
  Journal journal(fs, kJournalFolder);
  ASSIGN(const Plan plan, journal.MakePlan("runtime", EveryKindOfChange()));
  return journal.Apply(plan, EngineHooks(fs));
}

/// Every path that the change names is whole: as before or as after.
void ExpectOldOrNew(const Fs& fs, const Tree& before, const Tree& after) {
  const Tree now = TreeOf(fs);
  const auto get = [](const Tree& tree, const std::string& path) {
    const auto it = tree.find(path);
    return it == tree.end() ? std::string("absent") : it->second;
  };
  for (const Change& change : EveryKindOfChange()) {
    const std::string text = get(now, change.path);
    EXPECT_TRUE(text == get(before, change.path) || text == get(after, change.path)) << change.path << ": " << text;
  }
}

/// After recovery: all old or all new, the engine in step with them, and nothing left over.
void ExpectAllOldOrAllNew(const Fs& fs, const Tree& before, const Tree& after) {
  const Tree now = TreeOf(fs);
  EXPECT_TRUE(now == before || now == after) << testing::PrintToString(now);
  EXPECT_TRUE(EngineIsCurrent(fs));
  if (auto own = fs.List(kJournalFolder)) {
    std::erase(*own, "lock");
    EXPECT_EQ(*own, std::vector<std::string>());
  }
}

/// Throws Killed instead of doing the n-th change from now on; nothing of it is done.
void KillAt(FakeFs& fs, std::size_t n) {
  fs.before_change = [&fs, at = fs.changes() + n](auto, auto&) {
    if (fs.changes() == at) throw Killed();
  };
}

/// Whether `work` was killed.
template <class Work>
bool WasKilled(Work work) {
  try {
    work();
    return false;
  } catch (const Killed&) {
    return true;
  }
}

TEST(JournalCrash, AKillAtEveryOperationAndAgainAtEveryOperationOfTheRecovery) {
  const Tree before = Before(), after = After();
  std::size_t points = 0, pairs = 0;
  for (std::size_t n = 1;; ++n, ++points) {
    bool killed = false;
    for (std::size_t m = 1;; ++m, ++pairs) {
      FakeFs fs;
      PrepareHost(fs);
      KillAt(fs, n);
      killed = WasKilled([&] { EXPECT_TRUE(ApplyEverything(fs)); });
      ExpectOldOrNew(fs, before, after);
      KillAt(fs, m);
      const bool again = WasKilled([&] { EXPECT_TRUE(Journal(fs, kJournalFolder).Recover(EngineHooks(fs))); });
      fs.before_change = nullptr;
      ExpectOldOrNew(fs, before, after);
      EXPECT_TRUE(Journal(fs, kJournalFolder).Recover(EngineHooks(fs)));
      ExpectAllOldOrAllNew(fs, before, after);
      if (!again || testing::Test::HasFailure()) break;
    }
    if (!killed) break;
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at operation " << n;
  }
  EXPECT_GT(points, 30U);
  EXPECT_GT(pairs, 500U);
}

TEST(JournalCrash, AnErrorAtEveryOperationIsUndoneOrRecovered) {
  const Tree before = Before(), after = After();
  std::size_t refused = 0;
  for (const std::size_t length : {1U, 2U, 1000U}) {
    for (std::size_t n = 1;; ++n) {
      FakeFs fs;
      PrepareHost(fs);
      fs.fail_from = fs.changes() + n;
      fs.fail_until = fs.fail_from + length;
      auto applied = ApplyEverything(fs);
      const bool reached = fs.changes() >= fs.fail_from;
      ExpectOldOrNew(fs, before, after);
      if (applied) EXPECT_EQ(TreeOf(fs).at("/etc/config.toml"), after.at("/etc/config.toml"));
      fs.fail_until = 0;
      auto recovered = Journal(fs, kJournalFolder).Recover(EngineHooks(fs));
      ASSERT_TRUE(recovered) << recovered.error().text;
      ExpectAllOldOrAllNew(fs, before, after);
      EXPECT_EQ(TreeOf(fs) == after, applied.has_value());
      ASSERT_FALSE(testing::Test::HasFailure()) << length << " failures at operation " << n;
      refused += applied ? 0 : 1;
      if (!reached) break;
    }
  }
  EXPECT_GT(refused, 60U);
}

struct RealHost {
  RealHost() { PrepareHost(*fs); }

  TempFolder folder = MemoryFolder();
  std::unique_ptr<RealFs> fs = std::move(RealFs::Open(folder.path()).value());
};

Tree RealBefore() { return TreeOf(*RealHost().fs); }

Tree RealAfter() {
  RealHost host;
  EXPECT_TRUE(ApplyEverything(*host.fs));
  return TreeOf(*host.fs);
}

TEST(JournalCrash, AKillBeforeEverySystemCallOfARealProcess) {
  if (!CanTrace()) GTEST_SKIP() << "no ptrace(2) here";
  const Tree before = RealBefore(), after = RealAfter();
  int old_ones = 0, new_ones = 0;
  for (int n = 1;; n += kStride) {
    RealHost host;
    const bool killed = KilledBeforeSystemCall(n, [&] { (void)ApplyEverything(*host.fs).has_value(); });
    ExpectOldOrNew(*host.fs, before, after);
    auto recovered = Journal(*host.fs, kJournalFolder).Recover(EngineHooks(*host.fs));
    ASSERT_TRUE(recovered) << recovered.error().text;
    ExpectAllOldOrAllNew(*host.fs, before, after);
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed before system call " << n;
    ++(TreeOf(*host.fs) == after ? new_ones : old_ones);
    if (!killed) break;
  }
  EXPECT_GT(old_ones, 100 / kStride);
  EXPECT_GT(new_ones, 10 / kStride);
}

TEST(JournalCrash, AKillBeforeEverySystemCallOfARealRecovery) {
  if (!CanTrace()) GTEST_SKIP() << "no ptrace(2) here";
  const Tree before = RealBefore(), after = RealAfter();
  int n = 1;
  for (;; n += kStride) {
    RealHost host;
    Hooks dies = EngineHooks(*host.fs);
    dies.verify = []() -> Result<> { ::_exit(0); };
    const pid_t pid = ::fork();
    if (pid == 0) {
      Journal journal(*host.fs, kJournalFolder);
      (void)journal.Apply(journal.MakePlan("runtime", EveryKindOfChange()).value(), dies).has_value();
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const bool killed = KilledBeforeSystemCall(
        n, [&] { (void)Journal(*host.fs, kJournalFolder).Recover(EngineHooks(*host.fs)).has_value(); });
    ExpectOldOrNew(*host.fs, before, after);
    ASSERT_TRUE(Journal(*host.fs, kJournalFolder).Recover(EngineHooks(*host.fs)));
    EXPECT_EQ(TreeOf(*host.fs), before);
    ExpectAllOldOrAllNew(*host.fs, before, after);
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed before system call " << n;
    if (!killed) break;
  }
  EXPECT_GT(n, 50);
}

TEST(JournalCrash, AProcessThatIsKilledOverAndOverNeverMixesFiles) {
  const Tree before = RealBefore(), after = RealAfter();
  RealHost host;
  int undone = 0, finished = 0;
  for (int round = 0; round < 60; ++round) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      // There and back for ever: the change, then its opposite.
      for (;;) {
        (void)Journal(*host.fs, kJournalFolder).Recover(EngineHooks(*host.fs)).has_value();
        (void)ApplyEverything(*host.fs).has_value();
        (void)host.fs->Remove("/etc/plain").has_value();
        PrepareHost(*host.fs);
      }
    }
    ::usleep(static_cast<useconds_t>(500 + 137 * round));
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    auto recovered = Journal(*host.fs, kJournalFolder).Recover(EngineHooks(*host.fs));
    ASSERT_TRUE(recovered) << recovered.error().text;
    undone += recovered->outcome == Recovery::Outcome::kUndone ? 1 : 0;
    finished += recovered->outcome == Recovery::Outcome::kFinished ? 1 : 0;
    EXPECT_EQ(recovered->left, std::vector<std::string>());
    for (const char* path : {"/etc/config.toml", "/etc/current"}) {
      const Tree now = TreeOf(*host.fs);
      ASSERT_TRUE(now.contains(path)) << path;
      EXPECT_TRUE(now.at(path) == before.at(path) || now.at(path) == after.at(path)) << now.at(path);
    }
  }
  EXPECT_GT(undone + finished, 5);
}

}  // namespace
}  // namespace gpuop::os
