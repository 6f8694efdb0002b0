#include "container/engine/transaction.h"

#include <set>

#include "data/json_editor.h"
#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

constexpr const char* kConfig = "/etc/containerd/config.toml";
constexpr const char* kDropIn = "/etc/containerd/conf.d/99-nvidia.toml";
constexpr const char* kRecord = "/usr/local/nvidia/state/engine.json";
constexpr const char* kText =
    "# theirs\nversion = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
    "default_runtime_name = \"crun\"  # C064\n";

/// An engine that loads its files when told and refuses some.
class FakeEngine final : public EngineControl {
 public:
  explicit FakeEngine(const os::FakeFs& fs) : fs_(fs) {}
  Result<> Reload() override {
    ++reloads;
    loaded = fs_.Read(kConfig).value_or("absent") + fs_.Read(kDropIn).value_or("absent");
    return refuse_reload ? Result<>(Fail(Code::kUnavailable, "containerd: it is dead")) : Result<>();
  }
  Result<> Verify(const EngineConfig& expected) override {
    ++verifies;
    handlers.clear();
    for (const EngineRuntime& runtime : expected.runtimes) handlers.push_back(runtime.name);
    return refuse ? Result<>(Fail(Code::kUnavailable, "containerd: failed to load plugin cri")) : Result<>();
  }

  int reloads = 0, verifies = 0;
  bool refuse = false, refuse_reload = false;
  std::string loaded;
  std::vector<std::string> handlers;

 private:
  const os::FakeFs& fs_;
};

class EngineTransactionTest : public testing::Test {
 protected:
  EngineTransactionTest() { fs.Put(kConfig, kText, {.mode = 0600, .uid = 3, .gid = 4}); }

  EngineTransaction Make() {
    return {fs, journal, engine, {.files = {.config = kConfig, .drop_in = kDropIn}, .record = kRecord}};
  }
  Result<> Install(bool set_as_default = true) {
    EngineTransaction transaction = Make();
    EngineWish wish{.runtimes = {{"nvidia", "/usr/local/nvidia/toolkit/nvidia-container-runtime"}}};
    wish.set_as_default = set_as_default;
    ASSIGN(const EngineChange change, transaction.PlanSetUp(wish));
    return transaction.Apply(change);
  }
  Result<> Uninstall() {
    EngineTransaction transaction = Make();
    ASSIGN(const EngineChange change, transaction.PlanCleanUp({"nvidia"}, "/usr/local/nvidia/toolkit"));
    return transaction.Apply(change);
  }
  /// All but the journal's own folder and folders.
  std::map<std::string, std::string> Files() const {
    auto all = fs.Snapshot();
    std::erase_if(all, [](const auto& entry) {
      return entry.first.starts_with("/var/journal") || entry.second.starts_with("folder");
    });
    return all;
  }

  os::FakeFs fs;
  os::Journal journal{fs, "/var/journal"};
  FakeEngine engine{fs};
};

TEST_F(EngineTransactionTest, SetUpThenCleanUpGivesBackEveryByteModeAndOwner) {
  const auto before = Files();
  ASSERT_TRUE(Install());
  EXPECT_EQ(engine.reloads, 1);
  EXPECT_EQ(engine.handlers, std::vector<std::string>{"nvidia"});
  EXPECT_NE(Files(), before);
  ASSERT_TRUE(Uninstall());
  EXPECT_EQ(engine.reloads, 2);
  EXPECT_EQ(Files(), before);
}

TEST_F(EngineTransactionTest, NothingToDoIsNoWriteAndNoRestart) {
  ASSERT_TRUE(Install());
  const std::size_t changes = fs.changes();
  ASSERT_TRUE(Install());
  EXPECT_EQ(fs.changes(), changes);
  EXPECT_EQ(engine.reloads, 1);
}

TEST_F(EngineTransactionTest, SetUpTwiceThenCleanUpStillKnowsTheFirstBytes) {
  const auto before = Files();
  ASSERT_TRUE(Install(true));
  ASSERT_TRUE(Install(false));
  EXPECT_EQ(engine.reloads, 2);
  ASSERT_TRUE(Uninstall());
  EXPECT_EQ(Files(), before);
}

TEST_F(EngineTransactionTest, WhatTheEngineRefusesIsNeverLeftInPlace) {
  const auto before = Files();
  engine.refuse = true;
  const auto done = Install();
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().text.contains("failed to load plugin cri")) << done.error().text;
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(engine.reloads, 2) << "the engine must read the old configuration again";
  EXPECT_EQ(engine.loaded, std::string(kText) + "absent");
}

TEST_F(EngineTransactionTest, AnEngineThatCannotBeToldIsPutBackToo) {
  const auto before = Files();
  engine.refuse_reload = true;
  EXPECT_FALSE(Install());
  engine.refuse_reload = false;
  ASSERT_TRUE(Make().Recover());
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(engine.loaded, std::string(kText) + "absent");
}

TEST_F(EngineTransactionTest, WhatPeopleChangedMeanwhileStaysWhenOursGoes) {
  ASSERT_TRUE(Install());
  ASSERT_TRUE(fs.Append(kConfig, "\n[debug]\nlevel = \"info\" # mine\n"));
  ASSERT_TRUE(Uninstall());
  const std::string after = fs.Read(kConfig).value();
  EXPECT_TRUE(after.contains("level = \"info\" # mine")) << after;
  EXPECT_TRUE(after.contains("default_runtime_name = \"crun\"  # C064")) << after;
  EXPECT_FALSE(fs.Read(kDropIn));
  EXPECT_FALSE(fs.Read(kRecord));
}

TEST_F(EngineTransactionTest, AMissingConfigurationIsMissingAgainAfterwards) {
  ASSERT_TRUE(fs.Remove(kConfig));
  const auto before = Files();
  ASSERT_TRUE(Install());
  EXPECT_TRUE(fs.Read(kConfig));
  ASSERT_TRUE(Uninstall());
  EXPECT_EQ(Files(), before);
}

TEST_F(EngineTransactionTest, ALinkedConfigurationStaysALink) {
  fs.Put("/opt/config.toml", kText);
  ASSERT_TRUE(fs.Symlink("/opt/config.toml", kConfig));
  const auto before = Files();
  ASSERT_TRUE(Install());
  EXPECT_EQ(fs.ReadLink(kConfig).value(), "/opt/config.toml");
  EXPECT_TRUE(fs.Read("/opt/config.toml")->contains("imports"));
  ASSERT_TRUE(Uninstall());
  EXPECT_EQ(Files(), before);
}

TEST_F(EngineTransactionTest, OursIsFoundWithoutARecord) {
  ASSERT_TRUE(Install());
  ASSERT_TRUE(fs.Remove(kRecord));
  ASSERT_TRUE(Uninstall());
  EXPECT_FALSE(fs.Read(kDropIn));
}

TEST_F(EngineTransactionTest, ADamagedRecordStopsEverything) {
  ASSERT_TRUE(Install());
  for (const char* text : {"", "{}", "{\"version\":2,\"files\":[]}",
                           "{\"version\":1,\"files\":[{\"path\":\"/x\",\"kind\":\"file\",\"content\":\"%\"}]}"}) {
    ASSERT_TRUE(fs.WriteAtomic(kRecord, text));
    const auto before = Files();
    EXPECT_FALSE(Uninstall());
    EXPECT_EQ(Files(), before);
  }
}

TEST_F(EngineTransactionTest, ThePlanShowsAPersonWhatWillChange) {
  const auto change = Make().PlanSetUp({.runtimes = {{"nvidia", "/x"}}});
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->reload);
  EXPECT_TRUE(change->files.Diff().contains("+imports = [\"/etc/containerd/conf.d/*.toml\"]")) << change->files.Diff();
}

TEST(EngineInAContainerTest, ImportsOfTheHostAreReadBelowItsRoot) {
  os::FakeFs fs;
  fs.Put("/runtime/config-dir/config.toml", "version = 2\nimports = [\"conf.d/*.toml\", \"/etc/site.toml\"]\n");
  fs.Put("/host/etc/containerd/conf.d/10-site.toml",
         "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nsandbox_image = 'x'\n");
  fs.Put("/runtime/config-dir.d/10-site.toml", "not read: this is our view of the same folder");
  const EngineFiles files{.config = "/runtime/config-dir/config.toml",
                          .drop_in = "/runtime/config-dir.d/99-nvidia.toml",
                          .config_for_engine = "/etc/containerd/config.toml",
                          .drop_in_for_engine = "/etc/containerd/conf.d/99-nvidia.toml",
                          .host_root = "/host"};
  const auto texts = ReadEngineTexts(EngineKind::kContainerd, fs, files);
  ASSERT_TRUE(texts);
  EXPECT_TRUE(texts->contains("/etc/containerd/conf.d/10-site.toml"));
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, *texts, files, {.runtimes = {{"nvidia", "/x"}}});
  ASSERT_TRUE(plan) << plan.error().text;
  ASSERT_EQ(plan->texts.size(), 1U) << "the folder is imported already";
  EXPECT_TRUE(plan->texts.at(files.drop_in)->contains("sandbox_image = \"x\""));
}

/// dockerd as it reads its file again: what the file no longer says stays as it was.
class FakeDocker final : public EngineControl {
 public:
  explicit FakeDocker(const os::FakeFs& fs) : fs_(fs) {}
  Result<> Reload() override {
    ASSIGN(const data::Json file, data::ParseJson(fs_.Read("/etc/docker/daemon.json").value_or("{}")));
    if (const auto* name = data::Find(file, "default-runtime")) default_runtime = data::AsView(name->get_string());
    if (const data::JsonObject* all = data::GetObject(file, "runtimes")) {
      runtimes = {"runc"};
      for (const auto& member : *all) runtimes.insert(member.key());
    }
    return {};
  }
  Result<> Verify(const EngineConfig&) override { return {}; }

  std::string default_runtime = "runc";
  std::set<std::string> runtimes = {"runc"};

 private:
  const os::FakeFs& fs_;
};

TEST(DockerTransactionTest, ADaemonThatKeepsWhatItsFileNoLongerSaysForgetsOurRuntimesAndTheFileIsAsBefore) {
  const std::string folder = "/usr/local/nvidia/toolkit";
  for (const char* theirs : {static_cast<const char*>(nullptr), "{}", "{ \"log-level\":\"warn\" }\n",
                             R"({"runtimes": {"crun": {"path": "/usr/bin/crun"}}, "default-runtime": "crun"})"}) {
    os::FakeFs fs;
    if (theirs != nullptr) fs.Put("/etc/docker/daemon.json", theirs);
    FakeDocker docker(fs);
    ASSERT_TRUE(docker.Reload());
    const FakeDocker before = docker;
    os::Journal journal(fs, "/var/journal");
    EngineTransaction transaction(
        fs, journal, docker,
        {.kind = EngineKind::kDocker, .files = {.config = "/etc/docker/daemon.json"}, .record = kRecord});
    const EngineWish wish{.runtimes = {{"nvidia", folder + "/nvidia-container-runtime"}}, .set_as_default = true};
    ASSERT_TRUE(transaction.Apply(transaction.PlanSetUp(wish).value()));
    ASSERT_EQ(docker.default_runtime, "nvidia");
    ASSERT_TRUE(transaction.Apply(transaction.PlanForget({"nvidia"}, folder).value()));
    ASSERT_TRUE(transaction.Apply(transaction.PlanCleanUp({"nvidia"}, folder).value()));
    EXPECT_EQ(docker.default_runtime, before.default_runtime);
    EXPECT_EQ(docker.runtimes, before.runtimes);
    EXPECT_EQ(fs.Read("/etc/docker/daemon.json").value_or("absent"), theirs == nullptr ? "absent" : theirs);
    EXPECT_TRUE(transaction.PlanForget({"nvidia"}, folder)->empty());
  }
}

TEST(DockerTransactionTest, WhatPeopleWroteMeanwhileStaysAndARecordThatIsLostIsNotMadeAnew) {
  const std::string folder = "/usr/local/nvidia/toolkit", path = "/etc/docker/daemon.json";
  for (const bool lost : {false, true}) {
    os::FakeFs fs;
    FakeDocker docker(fs);
    os::Journal journal(fs, "/var/journal");
    EngineTransaction transaction(fs, journal, docker,
                                  {.kind = EngineKind::kDocker, .files = {.config = path}, .record = kRecord});
    const EngineWish wish{.runtimes = {{"nvidia", folder + "/nvidia-container-runtime"}}};
    ASSERT_TRUE(transaction.Apply(transaction.PlanSetUp(wish).value()));
    ASSERT_TRUE(fs.WriteAtomic(path, data::WithJsonMember(fs.Read(path).value(), {"debug"}, true).value()));
    if (lost) ASSERT_TRUE(fs.Remove(kRecord));
    ASSERT_TRUE(transaction.Apply(transaction.PlanForget({"nvidia"}, folder).value()));
    EXPECT_EQ(fs.Read(kRecord).has_value(), !lost);
    ASSERT_TRUE(transaction.Apply(transaction.PlanCleanUp({"nvidia"}, folder).value()));
    EXPECT_EQ(docker.runtimes, std::set<std::string>{"runc"});
    const data::Json after = data::ParseJson(fs.Read(path).value()).value();
    EXPECT_EQ(after.get_object().size(), lost ? 2U : 1U) << fs.Read(path).value();
    EXPECT_TRUE(data::Find(after, "debug")->get_bool());
    EXPECT_FALSE(fs.Read(kRecord));
  }
}

}  // namespace
}  // namespace gpuop::container
