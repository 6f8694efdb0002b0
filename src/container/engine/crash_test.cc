// Kills a set-up of an engine before every system call, and plays thousands of configurations there and back.
#include <functional>
#include <set>

#include "base/rng.h"
#include "container/engine/transaction.h"
#include "data/toml.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/testing/journal_host.h"
#include "os/testing/killed_process.h"
#include "os/testing/memory_folder.h"

namespace gpuop::container {
namespace {

constexpr const char* kConfig = "/etc/containerd/config.toml";
const EngineTarget kTarget{.files = {.config = kConfig, .drop_in = "/etc/containerd/conf.d/99-nvidia.toml"},
                           .rule = ImportRule::kReplacePlugins,
                           .record = "/var/lib/toolkit/engine.json"};
const EngineWish kWish{.runtimes = {{"nvidia", "/opt/nvidia/nvidia-container-runtime"}}, .set_as_default = true};

/// An engine that keeps what it has loaded in a file, and does not start with files that do not read.
class EngineOnDisk final : public EngineControl {
 public:
  explicit EngineOnDisk(os::Fs& fs) : fs_(fs) {}
  Result<> Reload() override {
    ASSIGN(const std::string meaning, Meaning());
    return fs_.WriteAtomic("/run/engine", meaning);
  }
  Result<> Verify(const EngineConfig& expected) override {
    const bool loaded = fs_.Read("/run/engine").value_or("") == data::ToJson(expected.whole);
    return loaded ? Result<>() : Fail(Code::kUnavailable, "it runs with another configuration");
  }
  Result<std::string> Meaning() const {
    ASSIGN(const EngineTexts texts, ReadEngineTexts(kTarget.kind, fs_, kTarget.files));
    ASSIGN(const EngineConfig config, UnderstandEngine(kTarget.kind, texts, kTarget.files));
    return data::ToJson(config.whole);
  }
  bool current() const { return fs_.Read("/run/engine").value_or("") == Meaning().value_or("?"); }

 private:
  os::Fs& fs_;
};

struct Host {
  Host() {
    for (const char* path : {"/etc/containerd", "/run", "/var/lib"}) EXPECT_TRUE(os::MakeFolders(*fs, path));
    EXPECT_TRUE(fs->WriteAtomic(kConfig, "# theirs\nversion = 2\n"));
    EXPECT_TRUE(EngineOnDisk(*fs).Reload());
  }
  os::TempFolder folder = os::MemoryFolder();
  std::unique_ptr<os::RealFs> fs = std::move(os::RealFs::Open(folder.path()).value());
};

Result<> Install(os::Fs& fs) {
  os::Journal journal(fs, os::kJournalFolder);
  EngineOnDisk engine(fs);
  EngineTransaction transaction(fs, journal, engine, kTarget);
  TRY(transaction.Recover());
  ASSIGN(const EngineChange change, transaction.PlanSetUp(kWish));
  return transaction.Apply(change);
}

Result<> Uninstall(os::Fs& fs) {
  os::Journal journal(fs, os::kJournalFolder);
  EngineOnDisk engine(fs);
  EngineTransaction transaction(fs, journal, engine, kTarget);
  TRY(transaction.Recover());
  ASSIGN(const EngineChange change, transaction.PlanCleanUp({"nvidia"}, "/opt/nvidia"));
  return transaction.Apply(change);
}

Result<> Recover(os::Fs& fs) {
  os::Journal journal(fs, os::kJournalFolder);
  EngineOnDisk engine(fs);
  TRY(EngineTransaction(fs, journal, engine, kTarget).Recover());
  return {};
}

/// Kills `work` before each of its system calls. After the next start all is as before or as after, and the engine has
/// loaded what is on the disk.
int KillEverywhere(Result<> (*work)(os::Fs&), const std::function<void(os::Fs&)>& prepare) {
  Host old_host, new_host;
  prepare(*old_host.fs);
  prepare(*new_host.fs);
  EXPECT_TRUE(work(*new_host.fs));
  const os::Tree before = os::TreeOf(*old_host.fs), after = os::TreeOf(*new_host.fs);
  EXPECT_NE(before, after);
  int points = 0;
  for (int n = 1;; n += os::kStride, ++points) {
    Host host;
    prepare(*host.fs);
    const bool killed = os::KilledBeforeSystemCall(n, [&] { (void)work(*host.fs).has_value(); });
    // What an engine that starts now would read is whole.
    EXPECT_TRUE(EngineOnDisk(*host.fs).Meaning()) << "killed before system call " << n;
    const auto recovered = Recover(*host.fs);
    EXPECT_TRUE(recovered) << recovered.error().text;
    const os::Tree now = os::TreeOf(*host.fs);
    EXPECT_TRUE(now == before || now == after) << testing::PrintToString(now);
    EXPECT_TRUE(EngineOnDisk(*host.fs).current());
    if (testing::Test::HasFailure() || !killed) break;
  }
  return points;
}

TEST(EngineCrashTest, ASetUpKilledBeforeAnySystemCallLeavesTheOldOrTheNew) {
  if (!os::CanTrace()) GTEST_SKIP() << "no ptrace(2) here";
  EXPECT_GE(KillEverywhere(&Install, [](os::Fs&) {}), 200 / os::kStride);
}

TEST(EngineCrashTest, ACleanUpKilledBeforeAnySystemCallLeavesTheOldOrTheNew) {
  if (!os::CanTrace()) GTEST_SKIP() << "no ptrace(2) here";
  EXPECT_GE(KillEverywhere(&Uninstall, [](os::Fs& fs) { EXPECT_TRUE(Install(fs)); }), 150 / os::kStride);
}

/// Configurations as people and distributions write them: comments, odd blanks, inline and dotted forms, foreign
/// plugins.
class Author {
 public:
  explicit Author(std::uint64_t seed) : rng_(seed) {}

  std::string Containerd() {
    const int version = static_cast<int>(rng_.Below(3)) + 1;
    std::string text = Maybe("# Managed by site tools\n") +
                       (version > 1 || Coin() ? "version" + Blanks() + "=" + Blanks() + std::to_string(version) +
                                                    Maybe("  # schema") + "\n"
                                              : "");
    if (Coin()) text += "root = \"/var/lib/containerd\"\n";
    if (Coin()) text += Coin() ? "imports = [\"/etc/containerd/certs.toml\"]\n" : "imports = [\n  # none yet\n]\n";
    if (Coin()) text += "\n[grpc]\n  address = '/run/containerd/containerd.sock'\n";
    const std::string plugin = version == 1   ? "cri"
                               : version == 2 ? Quoted("io.containerd.grpc.v1.cri")
                                              : Quoted("io.containerd.cri.v1.runtime");
    text += Maybe("\n[plugins]\n") + Cri("plugins." + plugin);
    if (Coin()) text += "\n[plugins." + Quoted("io.containerd.internal.v1.opt") + "]\npath = \"/opt/containerd\"\n";
    if (Coin()) text += "\n[[proxy]]\nname = \"a\"\n[[proxy]]\nname = \"b\"\n";
    if (Coin()) text += "# the end";
    if (Coin()) Replace(text, "\n", "\r\n");
    return text;
  }

  std::string Docker() {
    std::string text = "{" + Line() + "\"log-driver\": \"json-file\"";
    if (Coin()) text += "," + Line() + "\"features\": {\"buildkit\": true}";
    if (Coin()) text += "," + Line() + "\"runtimes\": {\"custom\": {\"path\": \"/opt/c\"}}";
    if (Coin()) text += "," + Line() + "\"default-runtime\": \"custom\"";
    return text + Line() + "}" + Maybe("\n");
  }

 private:
  bool Coin() { return rng_.Below(2) == 0; }
  std::string Maybe(const char* text) { return Coin() ? text : ""; }
  std::string Blanks() { return std::string(rng_.Below(3), ' '); }
  std::string Line() { return Coin() ? "\n" + Blanks() : " "; }
  std::string Quoted(const std::string& key) { return Coin() ? "\"" + key + "\"" : "'" + key + "'"; }
  static void Replace(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i + to.size()))
      text.replace(i, from.size(), to);
  }
  std::string Cri(const std::string& cri) {
    switch (rng_.Below(4)) {
      case 0: return "";
      case 1:
        return "\n[" + cri + ".containerd]\n  runtimes.runc.runtime_type = \"io.containerd.runc.v2\" # dotted\n" +
               Maybe("  default_runtime_name = \"runc\"\n");
      case 2:
        return "\n[" + cri + ".containerd]\n" + Maybe("\tdefault_runtime_name = \"runc\"\n") +
               "\truntimes = {runc = {runtime_type = \"io.containerd.runc.v2\"}}\n";
      default: break;
    }
    return "\n  [" + cri + "]\n    sandbox_image = \"reg/pause:3.10\"" + Maybe(" # pinned") + "\n    [" + cri +
           ".containerd]\n      default_runtime_name = \"crun\"\n\n      # site runtime\n      [" + cri +
           ".containerd.runtimes.crun]\n        runtime_type = \"io.containerd.runc.v2\"\n        [" + cri +
           ".containerd.runtimes.crun.options]\n          SystemdCgroup = true\n";
  }

  Rng rng_;
};

void ThereAndBack(EngineTarget target, const std::string& text, const EngineWish& wish) {
  os::FakeFs fs;
  fs.Put(target.files.config, text, {.mode = 0640, .uid = 1, .gid = 2});
  const auto before = fs.Snapshot();
  os::Journal journal(fs, os::kJournalFolder);
  struct Silent final : EngineControl {
    Result<> Reload() override { return {}; }
    Result<> Verify(const EngineConfig&) override { return {}; }
  } silent;
  EngineTransaction transaction(fs, journal, silent, target);
  const auto change = transaction.PlanSetUp(wish);
  ASSERT_TRUE(change) << change.error().text << "\n" << text;
  ASSERT_TRUE(transaction.Apply(*change));
  const auto again = transaction.PlanSetUp(wish);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(again->empty()) << again->files.Diff();
  const auto back = transaction.PlanCleanUp({"nvidia", "nvidia-cdi"}, "/opt/nvidia");
  ASSERT_TRUE(back) << back.error().text;
  ASSERT_TRUE(transaction.Apply(*back));
  auto after = fs.Snapshot();
  std::erase_if(after, [&](const auto& entry) { return !before.contains(entry.first); });
  EXPECT_EQ(after, before) << text;
}

TEST(EngineThereAndBackTest, AThousandConfigurationsComeBackByteForByte) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Author author(seed);
    EngineWish wish{.runtimes = {{"nvidia", "/opt/nvidia/r"}, {"nvidia-cdi", "/opt/nvidia/r.cdi"}}};
    wish.set_as_default = seed % 2 == 0;
    wish.cdi = seed % 3 == 0;
    EngineTarget target = kTarget;
    std::string text;
    if (seed % 4 == 3) {
      target.kind = EngineKind::kDocker;
      target.files = {.config = "/etc/docker/daemon.json"};
      text = author.Docker();
    } else {
      if (seed % 4 == 2) target.files.drop_in.clear();
      text = author.Containerd();
    }
    ThereAndBack(target, text, wish);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace gpuop::container
