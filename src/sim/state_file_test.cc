#include "sim/state_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/rng.h"
#include "base/text.h"
#include "os/temp_folder.h"

namespace gpuop::sim {
namespace {

boost::json::object Thing(std::string_view name, std::string_view value) {
  return {{"kind", "Thing"},
          {"apiVersion", "v1"},
          {"metadata", {{"name", name}, {"uid", "u-" + std::string(name)}}},
          {"value", value}};
}

void Put(Store& store, std::string_view name, std::string_view value) {
  auto o = Thing(name, value);
  ASSERT_TRUE(store.Put("/things", o));
}

class StateFileTest : public testing::Test {
 protected:
  StateFileTest() : folder_(*os::TempFolder::Make()), path_(folder_.path() + "/state") {}

  std::unique_ptr<StateFile> Open(Store& store) {
    auto file = StateFile::Open(path_, store);
    EXPECT_TRUE(file) << (file ? "" : file.error().text);
    if (!file) return nullptr;
    store.SetLog(file->get());
    return *std::move(file);
  }

  os::TempFolder folder_;
  std::string path_;
};

TEST_F(StateFileTest, ARestartFindsObjectsRevisionsAndUids) {
  {
    Store store;
    const auto file = Open(store);
    Put(store, "a", "1");
    Put(store, "b", "1");
    Put(store, "a", "2");
    ASSERT_TRUE(store.Delete("/things", "", "b"));
  }
  Store store;
  const auto file = Open(store);
  EXPECT_EQ(store.revision(), 5u);
  const StoredPtr a = store.Get("/things", "", "a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->revision, 4u);
  EXPECT_EQ(a->uid, "u-a");
  EXPECT_FALSE(store.Get("/things", "", "b"));
  // What happened before the restart cannot be replayed.
  EXPECT_EQ(store.OldestRevision("/things"), 5u);
}

TEST_F(StateFileTest, DropsATornLastRecordAndGoesOn) {
  {
    Store store;
    const auto file = Open(store);
    Put(store, "a", "1");
    Put(store, "b", "1");
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(file->size() - 3)), 0);
  }
  Store store;
  auto file = Open(store);
  EXPECT_GT(file->dropped(), 0u);
  EXPECT_TRUE(store.Get("/things", "", "a"));
  EXPECT_FALSE(store.Get("/things", "", "b"));
  Put(store, "c", "1");
  file.reset();
  Store again;
  const auto reopened = Open(again);
  EXPECT_EQ(reopened->dropped(), 0u);
  EXPECT_TRUE(again.Get("/things", "", "c"));
}

TEST_F(StateFileTest, RefusesAFileThatIsBrokenBeforeItsEnd) {
  {
    Store store;
    const auto file = Open(store);
    Put(store, "a", "1");
    Put(store, "b", "1");
  }
  std::fstream edit(path_, std::ios::in | std::ios::out | std::ios::binary);
  edit.seekp(60);
  edit.put('#');
  edit.close();
  Store store;
  const auto file = StateFile::Open(path_, store);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::kInvalid);
}

TEST_F(StateFileTest, RefusesAFileOfAnotherKind) {
  std::ofstream(path_) << "apiVersion: v1\nkind: Config\nclusters: []\n";
  Store store;
  const auto file = StateFile::Open(path_, store);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::kInvalid);
}

TEST_F(StateFileTest, OneProcessAtATime) {
  Store store;
  const auto file = Open(store);
  Store other;
  const auto second = StateFile::Open(path_, other);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
}

TEST_F(StateFileTest, CompactionKeepsEverythingAndTheCounter) {
  {
    Store store;
    const auto file = Open(store);
    for (int i = 0; i < 100; ++i) Put(store, "a", std::to_string(i));
    Put(store, "b", "1");
    ASSERT_TRUE(store.Delete("/things", "", "b"));
    const std::uint64_t before = file->size();
    ASSERT_TRUE(file->Compact(store));
    EXPECT_LT(file->size(), before / 20);
    Put(store, "c", "1");
  }
  Store store;
  const auto file = Open(store);
  EXPECT_EQ(store.revision(), 104u);
  EXPECT_EQ(store.Get("/things", "", "a")->revision, 101u);
  EXPECT_FALSE(store.Get("/things", "", "b"));
  EXPECT_TRUE(store.Get("/things", "", "c"));
}

/// Writes until it is killed, telling each acknowledged write to `tell` as "name revision\n".
[[noreturn]] void WriteForEver(const std::string& path, int tell, std::uint64_t seed) {
  Store store;
  auto file = StateFile::Open(path, store);
  if (!file) ::_exit(3);
  store.SetLog(file->get());
  Rng rng(seed);
  for (;;) {
    const std::string name = "n" + std::to_string(rng.Below(50));
    auto o = Thing(name, std::string(rng.Below(3000), 'x'));
    if (!store.Put("/things", o)) ::_exit(4);
    if (rng.Below(40) == 0 && !(*file)->Compact(store)) ::_exit(5);
    const std::string line = name + " " + std::to_string(store.revision()) + "\n";
    if (::write(tell, line.data(), line.size()) < 0) ::_exit(6);
  }
}

TEST_F(StateFileTest, AKilledProcessLosesNoAcknowledgedWrite) {
  Rng rng(7);
  std::map<std::string, std::uint64_t> acknowledged;
  for (int round = 0; round < 50; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) WriteForEver(path_, ends[1], rng.Next());
    rng.Next();
    ::close(ends[1]);
    // Reads as many acknowledgements as chance says, kills, then reads what was acknowledged until then.
    std::string told(1 << 20, '\0');
    std::size_t size = 0;
    const std::size_t enough = 1 + rng.Below(3000);
    bool killed = false;
    for (;;) {
      const ssize_t n = ::read(ends[0], told.data() + size, told.size() - size);
      if (n <= 0) break;
      size += static_cast<std::size_t>(n);
      if (!std::exchange(killed, killed || size > enough) && killed) ::kill(child, SIGKILL);
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed with " << WEXITSTATUS(status);
    told.resize(told.rfind('\n', size) + 1);
    for (std::string_view line : Split(told, '\n'))
      if (const auto parts = Cut(line, ' '))
        acknowledged[std::string(parts->first)] = static_cast<std::uint64_t>(*ParseInt(parts->second));
    Store store;
    auto file = Open(store);
    ASSERT_TRUE(file);
    for (const auto& [name, revision] : acknowledged) {
      const StoredPtr found = store.Get("/things", "", name);
      ASSERT_TRUE(found) << name << " is lost in round " << round;
      ASSERT_GE(found->revision, revision) << name << " is older than acknowledged in round " << round;
    }
  }
  EXPECT_GT(acknowledged.size(), 40u);
}

}  // namespace
}  // namespace gpuop::sim
