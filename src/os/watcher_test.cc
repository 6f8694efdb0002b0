#include "os/watcher.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/mutex.h"
#include "os/real_fs.h"
#include "os/testing/memory_folder.h"

namespace gpuop::os {
namespace {

using namespace std::chrono_literals;

/// What was reported, for a test that waits for it.
class Reports {
 public:
  Watcher::Callback Callback() {
    return [this](const std::vector<std::string>& changed) {
      Lock l(mu_);
      for (const std::string& path : changed) ++counts_[path];
      more_.notify_all();
    };
  }
  /// Whether `path` is reported (again) within some seconds.
  bool Next(const std::string& path) {
    Lock l(mu_);
    const bool came = more_.wait_for(mu_, 5s, [&]() REQUIRES(mu_) { return counts_[path] > 0; });
    counts_[path] = 0;
    return came;
  }
  std::size_t Waiting(const std::string& path) {
    Lock l(mu_);
    return counts_[path];
  }

 private:
  Mutex mu_;
  std::condition_variable_any more_;
  std::map<std::string, std::size_t> counts_ GUARDED_BY(mu_);
};

struct WatcherTest : testing::Test {
  std::unique_ptr<Watch> Start(std::vector<std::string> paths) {
    for (std::string& path : paths) path.insert(0, root);
    auto watch = InotifyWatcher().Start(std::move(paths), reports.Callback());
    EXPECT_TRUE(watch) << watch.error().text;
    return *std::move(watch);
  }
  bool Next(const std::string& path) { return reports.Next(root + path); }
  void WriteInPlace(const std::string& path, const std::string& bytes) { std::ofstream(root + path) << bytes; }

  TempFolder folder = MemoryFolder();
  const std::string root = folder.path();
  std::unique_ptr<RealFs> fs = std::move(RealFs::Open(folder.path()).value());
  Reports reports;
};

TEST_F(WatcherTest, SeesAFileMadeWrittenReplacedAndRemoved) {
  auto watch = Start({"/x"});
  WriteInPlace("/x", "1");
  EXPECT_TRUE(Next("/x"));
  WriteInPlace("/x", "2");  // same size, perhaps the same tick of the clock
  EXPECT_TRUE(Next("/x"));
  ASSERT_TRUE(fs->WriteAtomic("/x", "3"));
  EXPECT_TRUE(Next("/x"));
  ASSERT_TRUE(fs->Remove("/x"));
  EXPECT_TRUE(Next("/x"));
}

TEST_F(WatcherTest, ReportsOnlyWhatIsWatched) {
  auto watch = Start({"/x", "/y"});
  WriteInPlace("/z", "1");
  WriteInPlace("/x", "1");
  WriteInPlace("/y", "1");
  EXPECT_TRUE(Next("/y"));
  EXPECT_TRUE(Next("/x"));
  EXPECT_EQ(reports.Waiting(root + "/z"), 0U);
}

TEST_F(WatcherTest, SeesNamesComeAndGoInAFolder) {
  ASSERT_TRUE(fs->MakeFolder("/d"));
  auto watch = Start({"/d"});
  WriteInPlace("/d/a", "1");
  EXPECT_TRUE(Next("/d"));
  ASSERT_TRUE(fs->Rename("/d/a", "/d/b"));
  EXPECT_TRUE(Next("/d"));
  ASSERT_TRUE(fs->Remove("/d/b"));
  EXPECT_TRUE(Next("/d"));
}

TEST_F(WatcherTest, SeesAFileWhoseFoldersAreMadeLater) {
  auto watch = Start({"/a/b/c"});
  ASSERT_TRUE(MakeFolders(*fs, "/a/b"));
  ASSERT_TRUE(fs->WriteAtomic("/a/b/c", "1"));
  EXPECT_TRUE(Next("/a/b/c"));
}

TEST_F(WatcherTest, SeesAFolderRemovedAndMadeAgain) {
  ASSERT_TRUE(MakeFolders(*fs, "/a/b"));
  ASSERT_TRUE(fs->WriteAtomic("/a/b/c", "1"));
  auto watch = Start({"/a/b/c"});
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(fs->Remove("/a/b/c"));
    ASSERT_TRUE(fs->Remove("/a/b"));
    EXPECT_TRUE(Next("/a/b/c"));
    ASSERT_TRUE(fs->MakeFolder("/a/b"));
    ASSERT_TRUE(fs->WriteAtomic("/a/b/c", "1"));
    EXPECT_TRUE(Next("/a/b/c"));
  }
  ASSERT_TRUE(fs->Rename("/a", "/old"));
  EXPECT_TRUE(Next("/a/b/c"));
  ASSERT_TRUE(MakeFolders(*fs, "/a/b"));
  ASSERT_TRUE(fs->WriteAtomic("/a/b/c", "2"));
  EXPECT_TRUE(Next("/a/b/c"));
  WriteInPlace("/a/b/c", "3");
  EXPECT_TRUE(Next("/a/b/c"));
}

TEST_F(WatcherTest, SeesTheSwapOfAMountedConfigMapOnce) {
  // What the kubelet's AtomicWriter does: KEY -> ..data/KEY, ..data -> ..TIME, and ..data is replaced.
  ASSERT_TRUE(MakeFolders(*fs, "/config/..1"));
  ASSERT_TRUE(fs->WriteAtomic("/config/..1/key", "1"));
  ASSERT_TRUE(fs->Symlink("..1", "/config/..data"));
  ASSERT_TRUE(fs->Symlink("..data/key", "/config/key"));
  auto watch = Start({"/config/key"});
  for (int version = 2; version < 6; ++version) {
    const std::string next = "/config/.." + std::to_string(version), last = "/config/.." + std::to_string(version - 1);
    ASSERT_TRUE(fs->MakeFolder(next));
    ASSERT_TRUE(fs->WriteAtomic(next + "/key", std::to_string(version)));
    EXPECT_EQ(reports.Waiting(root + "/config/key"), 0U) << "nothing one reads has changed yet";
    ASSERT_TRUE(fs->Symlink(".." + std::to_string(version), "/config/..data"));
    EXPECT_TRUE(Next("/config/key"));
    ASSERT_TRUE(fs->Remove(last + "/key"));
    ASSERT_TRUE(fs->Remove(last));
  }
  EXPECT_EQ(reports.Waiting(root + "/config/key"), 0U);
}

TEST_F(WatcherTest, LosesNoLastChangeWhenTheQueueOverflows) {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int most = 16384;
  limit >> most;
  if (most > 200'000) GTEST_SKIP() << "the queue holds " << most;
  ASSERT_TRUE(fs->MakeFolder("/d"));
  ASSERT_TRUE(fs->WriteAtomic("/d/x", "1"));
  std::atomic<bool> go = false, told = false;
  auto watch = InotifyWatcher().Start({root + "/d", root + "/d/x"}, [&](const std::vector<std::string>& changed) {
    told = true;
    go.wait(false);  // keeps the thread from reading on until the queue is full
    reports.Callback()(changed);
  });
  ASSERT_TRUE(watch);
  WriteInPlace("/d/first", "");
  while (!told) std::this_thread::yield();
  for (int i = 0; i <= most; ++i) {
    const std::string name = root + "/d/" + std::to_string(i % 2);
    if (::mkdir(name.c_str(), 0700) != 0) ::rmdir(name.c_str());
  }
  WriteInPlace("/d/x", "2");  // this event is lost
  go = true;
  go.notify_all();
  EXPECT_TRUE(Next("/d/x"));
}

TEST_F(WatcherTest, EndsWithoutWaitingForAnEvent) {
  auto watch = Start({"/x"});
  watch.reset();
  WriteInPlace("/x", "1");
  EXPECT_EQ(reports.Waiting(root + "/x"), 0U);
  EXPECT_EQ(InotifyWatcher().Start({"x"}, reports.Callback()).error().code, Code::kInvalid);
}

TEST_F(WatcherTest, HearsOfNamesAloneWhereAskedTo) {
  ASSERT_TRUE(fs->MakeFolder("/dev"));
  WriteInPlace("/dev/null", "");
  auto watch = InotifyWatcher().StartNames({root + "/dev/gpu0", root + "/dev"}, reports.Callback());
  ASSERT_TRUE(watch);
  for (int i = 0; i < 10; ++i) WriteInPlace("/dev/null", "x");
  WriteInPlace("/dev/gpu0", "");
  EXPECT_TRUE(Next("/dev/gpu0"));
  EXPECT_TRUE(Next("/dev"));
  EXPECT_EQ(reports.Waiting(root + "/dev"), 0U) << "what was written to is no news";
  ASSERT_TRUE(fs->Remove("/dev/gpu0"));
  EXPECT_TRUE(Next("/dev/gpu0"));
}

TEST(FakeWatcher, TellsWhoWatches) {
  FakeWatcher watcher;
  Reports reports;
  auto watch = watcher.Start({"/x"}, reports.Callback());
  ASSERT_TRUE(watch);
  EXPECT_EQ(watcher.Change("/x"), 1U);
  EXPECT_EQ(watcher.Change("/y"), 0U);
  EXPECT_EQ(reports.Waiting("/x"), 1U);
  watch->reset();
  EXPECT_EQ(watcher.Change("/x"), 0U);
  watcher.fail = Error{Code::kIo, "no"};
  EXPECT_FALSE(watcher.Start({"/x"}, reports.Callback()));
}

}  // namespace
}  // namespace gpuop::os
