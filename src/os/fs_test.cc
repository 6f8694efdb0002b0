// One contract, held by both: RealFs in a temporary folder and FakeFs.
#include "os/fs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/testing/memory_folder.h"

namespace gpuop::os {
namespace {

class FsContract : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Fs> Make() {
    if (!GetParam()) return std::make_unique<FakeFs>();
    folder_.emplace(MemoryFolder());
    return std::move(RealFs::Open(folder_->path()).value());
  }

  std::optional<TempFolder> folder_;
  std::unique_ptr<Fs> owned_ = Make();
  Fs& fs = *owned_;
};

INSTANTIATE_TEST_SUITE_P(, FsContract, testing::Bool(),
                         [](const auto& real) { return std::string(real.param ? "Real" : "Fake"); });

TEST_P(FsContract, ReadsWhatWasWritten) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(fs.WriteAtomic("/x", bytes));
  EXPECT_EQ(fs.Read("/x").value(), bytes);
  EXPECT_EQ(fs.Stat("/x")->size, 4U);
  EXPECT_EQ(fs.Stat("/x")->attributes.mode, 0644U);
  EXPECT_EQ(fs.List("/").value(), std::vector<std::string>{"x"});
}

TEST_P(FsContract, ReadsAPartOfAFile) {
  ASSERT_TRUE(fs.WriteAtomic("/x", "0123456789"));
  EXPECT_EQ(fs.ReadPart("/x", 2, 3).value(), "234");
  EXPECT_EQ(fs.ReadPart("/x", 8, 5).value(), "89");
  EXPECT_EQ(fs.ReadPart("/x", 50, 5).value(), "");
  EXPECT_EQ(fs.ReadPart("/no", 0, 5).error().code, Code::kNotFound);
}

TEST(FsDeviceTest, SaysWhatANodeNames) {
  const auto real = RealFs::Open("/").value();
  FakeFs fake;
  fake.PutDevice("/dev/null", {.major = 1, .minor = 3});
  for (const Fs* fs : {static_cast<const Fs*>(real.get()), static_cast<const Fs*>(&fake)}) {
    EXPECT_EQ(fs->Stat("/dev/null")->type, FileType::kOther);
    EXPECT_EQ(fs->Stat("/dev/null")->device, (DeviceNumbers{.major = 1, .minor = 3}));
    EXPECT_EQ(fs->Stat("/dev")->device, std::nullopt);
    EXPECT_EQ(fs->Read("/dev/null").error().code, Code::kInvalid);
  }
}

TEST_P(FsContract, NamesThePathThatIsNotThere) {
  EXPECT_EQ(fs.Read("/no/such").error(), (Error{Code::kNotFound, "/no/such: no such file or directory"}));
  EXPECT_EQ(fs.Stat("/no").error().code, Code::kNotFound);
  EXPECT_EQ(fs.List("/no").error().code, Code::kNotFound);
  EXPECT_EQ(fs.Remove("/no").error().code, Code::kNotFound);
  EXPECT_EQ(fs.WriteAtomic("/no/such", "").error().code, Code::kNotFound);
  EXPECT_FALSE(Exists(fs, "/no/such").value());
}

TEST_P(FsContract, BoundsWhatItReads) {
  ASSERT_TRUE(fs.WriteAtomic("/x", "12345"));
  EXPECT_EQ(fs.Read("/x", 5).value(), "12345");
  EXPECT_EQ(fs.Read("/x", 4).error(), (Error{Code::kTooLarge, "/x: longer than 4 bytes"}));
}

TEST_P(FsContract, AReplacedFileKeepsItsMode) {
  ASSERT_TRUE(fs.WriteAtomic("/x", "1", FileAttributes{0640, ::geteuid(), ::getegid()}));
  ASSERT_TRUE(fs.WriteAtomic("/x", "2"));
  EXPECT_EQ(fs.Stat("/x")->attributes.mode, 0640U);
  ASSERT_TRUE(fs.SetMode("/x", 04755));
  EXPECT_EQ(fs.Stat("/x")->attributes.mode, 04755U);
}

TEST_P(FsContract, SetsOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_TRUE(fs.WriteAtomic("/x", "1", FileAttributes{04755, 12, 34}));
  EXPECT_EQ(fs.Stat("/x")->attributes, (FileAttributes{04755, 12, 34}));
  ASSERT_TRUE(fs.WriteAtomic("/x", "2"));
  EXPECT_EQ(fs.Stat("/x")->attributes, (FileAttributes{04755, 12, 34}));
  ASSERT_TRUE(fs.SetOwner("/x", 56, 78));
  EXPECT_EQ(fs.Stat("/x")->attributes.uid, 56U);
}

TEST_P(FsContract, Appends) {
  ASSERT_TRUE(fs.Append("/x", "a"));
  ASSERT_TRUE(fs.Append("/x", "b"));
  EXPECT_EQ(fs.Read("/x").value(), "ab");
}

TEST_P(FsContract, MakesFoldersAndRemovesEmptyOnes) {
  ASSERT_TRUE(MakeFolders(fs, "/a/b/c", 0700));
  ASSERT_TRUE(MakeFolders(fs, "/a/b/c"));
  EXPECT_EQ(fs.Stat("/a/b")->attributes.mode, 0700U);
  EXPECT_EQ(fs.Remove("/a/b").error().code, Code::kInvalid);
  EXPECT_TRUE(fs.Remove("/a/b/c"));
  EXPECT_EQ(fs.List("/a/b").value().size(), 0U);
  EXPECT_EQ(fs.MakeFolder("/a/b").error().code, Code::kAlreadyExists);
  ASSERT_TRUE(fs.WriteAtomic("/f", ""));
  EXPECT_EQ(MakeFolders(fs, "/f/x").error().code, Code::kInvalid);
}

TEST_P(FsContract, AFolderIsNeitherReadNorReplaced) {
  ASSERT_TRUE(fs.MakeFolder("/d"));
  EXPECT_EQ(fs.Read("/d").error().code, Code::kInvalid);
  EXPECT_EQ(fs.WriteAtomic("/d", "").error().code, Code::kInvalid);
  EXPECT_EQ(fs.Symlink("x", "/d").error().code, Code::kInvalid);
  for (const char* path : {"", ".", "/..", "/d/..", "/"}) {
    EXPECT_EQ(fs.WriteAtomic(path, "").error().code, Code::kInvalid) << path;
    EXPECT_EQ(fs.Remove(path).error().code, Code::kInvalid) << path;
  }
}

TEST_P(FsContract, FollowsLinksInsideTheRootAndNeverOut) {
  ASSERT_TRUE(MakeFolders(fs, "/etc/real"));
  ASSERT_TRUE(fs.WriteAtomic("/etc/passwd", "ours"));
  ASSERT_TRUE(fs.Symlink("../../../../../../etc/passwd", "/up"));
  ASSERT_TRUE(fs.Symlink("/etc", "/absolute"));
  EXPECT_EQ(fs.Read("/up").value(), "ours");
  EXPECT_EQ(fs.Read("/absolute/passwd").value(), "ours");
  EXPECT_EQ(fs.Read("/absolute/../../../etc/passwd").value(), "ours");
  EXPECT_EQ(fs.Resolve("/absolute/real/../passwd").value(), "/etc/passwd");
  EXPECT_EQ(fs.ReadLink("/absolute").value(), "/etc");
  EXPECT_EQ(fs.ReadLink("/etc").error(), (Error{Code::kInvalid, "/etc: not a link"}));
  EXPECT_EQ(fs.Stat("/up")->type, FileType::kSymlink);
  ASSERT_TRUE(fs.WriteAtomic("/absolute/new", "x"));
  EXPECT_EQ(fs.Read("/etc/new").value(), "x");
}

TEST_P(FsContract, ALinkInACircleIsAnError) {
  ASSERT_TRUE(fs.Symlink("b", "/a"));
  ASSERT_TRUE(fs.Symlink("a", "/b"));
  EXPECT_EQ(fs.Read("/a").error().code, Code::kInvalid);
}

TEST_P(FsContract, WhatReplacesALinkLeavesItsTargetAlone) {
  ASSERT_TRUE(fs.WriteAtomic("/target", "kept"));
  ASSERT_TRUE(fs.Symlink("target", "/link"));
  ASSERT_TRUE(fs.WriteAtomic("/link", "new"));
  EXPECT_EQ(fs.Read("/target").value(), "kept");
  EXPECT_EQ(fs.Stat("/link")->type, FileType::kFile);
  ASSERT_TRUE(fs.Symlink("target", "/link"));
  ASSERT_TRUE(fs.Remove("/link"));
  EXPECT_EQ(fs.Read("/target").value(), "kept");
}

TEST_P(FsContract, RenamesOverFilesAndLinks) {
  ASSERT_TRUE(fs.WriteAtomic("/a", "1"));
  ASSERT_TRUE(fs.WriteAtomic("/b", "2"));
  ASSERT_TRUE(fs.Rename("/a", "/b"));
  EXPECT_EQ(fs.Read("/b").value(), "1");
  EXPECT_EQ(fs.Rename("/a", "/c").error().code, Code::kNotFound);
  ASSERT_TRUE(MakeFolders(fs, "/d/e"));
  ASSERT_TRUE(fs.WriteAtomic("/d/e/f", "3"));
  ASSERT_TRUE(fs.Rename("/d", "/g"));
  EXPECT_EQ(fs.Read("/g/e/f").value(), "3");
  EXPECT_EQ(fs.List("/").value(), (std::vector<std::string>{"b", "g"}));
}

TEST_P(FsContract, ALockIsHeldByOne) {
  auto first = fs.Lock("/lock");
  ASSERT_TRUE(first);
  EXPECT_EQ(fs.Lock("/lock").error(), (Error{Code::kConflict, "/lock: locked by another process"}));
  first->reset();
  EXPECT_TRUE(fs.Lock("/lock"));
}

struct RealFsTest : testing::Test {
  TempFolder folder = MemoryFolder();
  std::unique_ptr<RealFs> fs = std::move(RealFs::Open(folder.path()).value());
};

TEST_F(RealFsTest, DoesNotWaitForAPipeNobodyWritesTo) {
  ASSERT_EQ(::mkfifoat(folder.fd(), "pipe", 0600), 0);
  EXPECT_EQ(fs->Read("/pipe").error(), (Error{Code::kInvalid, "/pipe: not a regular file"}));
  EXPECT_FALSE(fs->Append("/pipe", "x"));
}

TEST_F(RealFsTest, LeavesNothingBehindWhenAWriteFails) {
  ASSERT_TRUE(fs->MakeFolder("/d"));
  ASSERT_FALSE(fs->WriteAtomic("/d", "x"));
  EXPECT_EQ(fs->List("/").value(), std::vector<std::string>{"d"});
}

TEST_F(RealFsTest, TakesOverWhatAKilledWriterLeftButNotAnotherFilesName) {
  ASSERT_TRUE(fs->WriteAtomic("/.x.gpuop-tmp", "half of something much longer", FileAttributes{0, 0, 0}));
  ASSERT_TRUE(fs->WriteAtomic("/x", "new"));
  EXPECT_EQ(fs->Read("/x").value(), "new");
  EXPECT_EQ(fs->Stat("/x")->attributes.mode, 0644U);
  EXPECT_EQ(fs->List("/").value(), std::vector<std::string>{"x"});
  ASSERT_TRUE(fs->WriteAtomic("/secret", "kept"));
  ASSERT_EQ(::linkat(folder.fd(), "secret", folder.fd(), ".x.gpuop-tmp", 0), 0);
  EXPECT_EQ(fs->WriteAtomic("/x", "newer").error().code, Code::kInvalid);
  EXPECT_EQ(fs->Read("/secret").value(), "kept");
  EXPECT_EQ(fs->Read("/x").value(), "new");
}

TEST_F(RealFsTest, ReadersSeeOneWriterOrTheOtherNeverAMix) {
  std::atomic<int> writing = 3;
  std::vector<std::jthread> writers;
  for (char c : {'a', 'b', 'c'})
    writers.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(fs->WriteAtomic("/x", std::string(100'000, c)));
      --writing;
    });
  std::size_t seen = 0;
  while (writing > 0 || seen == 0) {  // they may be done before this thread runs at all
    auto bytes = fs->Read("/x");
    if (!bytes) continue;
    ++seen;
    ASSERT_EQ(bytes->size(), 100'000U);
    ASSERT_EQ(bytes->find_first_not_of(bytes->front()), std::string::npos);
  }
  writers.clear();
  EXPECT_EQ(fs->List("/").value(), std::vector<std::string>{"x"});
}

TEST_F(RealFsTest, ARootThatIsNotThereIsAnError) {
  EXPECT_EQ(RealFs::Open(folder.path() + "/no").error().code, Code::kNotFound);
}

TEST(FakeFs, FailsWhatItIsToldTo) {
  FakeFs fs;
  fs.Put("/a/x", "1");
  fs.fail["/a/x"] = {Code::kForbidden, "no"};
  EXPECT_EQ(fs.Read("/a/x").error(), (Error{Code::kForbidden, "no"}));
  fs.fail.clear();
  fs.fail_from = fs.changes() + 2;
  fs.fail_until = fs.fail_from + 1;
  EXPECT_TRUE(fs.WriteAtomic("/a/y", ""));
  EXPECT_EQ(fs.WriteAtomic("/a/z", "").error().text, "/a/z: input/output error");
  EXPECT_TRUE(fs.WriteAtomic("/a/z", ""));
  fs.disk_bytes = 10;
  EXPECT_EQ(fs.WriteAtomic("/a/x", "1234567890").error().text, "write: no space left on device");
  EXPECT_EQ(fs.Read("/a/x").value(), "1");
}

}  // namespace
}  // namespace gpuop::os
