#include "os/journal.h"

#include "os/fake_fs.h"
#include "os/testing/journal_host.h"

namespace gpuop::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct JournalTest : testing::Test {
  JournalTest() { PrepareHost(fs); }

  Plan Planned(std::vector<Change> changes) { return journal.MakePlan("runtime", changes).value(); }
  Plan Everything() { return Planned(EveryKindOfChange()); }

  FakeFs fs;
  Journal journal{fs, kJournalFolder};
};

TEST_F(JournalTest, ShowsWhatItWouldDoAndWritesNothing) {
  const std::size_t changes = fs.changes();
  const Plan plan = Everything();
  EXPECT_EQ(fs.changes(), changes);
  EXPECT_EQ(plan.Diff(),
            "--- a/etc/config.toml\n+++ b/etc/config.toml\n@@ -1 +1,2 @@\n-version = 2\n+version = 3\n+imports = []\n"
            "--- /dev/null\n+++ b/etc/conf.d/gpu/nvidia.toml\n@@ -0,0 +1 @@\n+runtime = \"nvidia\"\n"
            "new mode 0644 owner " +
                std::to_string(::geteuid()) + ":" + std::to_string(::getegid()) +
                "\n"
                "--- a/etc/unwanted.conf\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
                "--- a/etc/current\n+++ b/etc/current\n@@ -1 +1 @@\n-link to config.toml\n"
                "+link to conf.d/gpu/nvidia.toml\n"
                "--- a/etc/plain\n+++ b/etc/plain\n@@ -1 +1 @@\n-a file\n+link to config.toml\n");
}

TEST_F(JournalTest, MakesThePlanTrueAndLeavesNothingElse) {
  ASSERT_TRUE(journal.Apply(Everything(), EngineHooks(fs)));
  EXPECT_TRUE(Everything().empty());
  EXPECT_TRUE(EngineIsCurrent(fs));
  EXPECT_EQ(fs.Stat("/etc/config.toml")->attributes.mode, 0640U);
  EXPECT_THAT(fs.List("/etc").value(), ElementsAre("conf.d", "config.toml", "current", "plain"));
  EXPECT_THAT(fs.List(kJournalFolder).value(), ElementsAre("lock"));
}

TEST_F(JournalTest, NothingToChangeMeansNothingIsWritten) {
  const std::size_t changes = fs.changes();
  bool called = false;
  const Plan plan = Planned({{.path = "/etc/config.toml", .bytes = "version = 2\n"},
                             {.path = "/etc/nothing", .kind = FileState::Kind::kAbsent}});
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.Diff(), "");
  EXPECT_TRUE(journal.Apply(plan, {.activate = [&](auto) { return called = true, Result<>(); }, .verify = {}}));
  EXPECT_TRUE(journal.Recover());
  EXPECT_FALSE(called);
  EXPECT_EQ(fs.changes(), changes);
}

TEST_F(JournalTest, AModeAloneIsAChange) {
  const Plan plan = Planned(
      {{.path = "/etc/plain", .bytes = "a file\n", .attributes = FileAttributes{0600, ::geteuid(), ::getegid()}}});
  EXPECT_THAT(plan.Diff(), HasSubstr("--- a/etc/plain\n+++ b/etc/plain\nold mode 0644"));
  ASSERT_TRUE(journal.Apply(plan));
  EXPECT_EQ(fs.Stat("/etc/plain")->attributes.mode, 0600U);
}

TEST_F(JournalTest, RefusesPlansThatMakeNoSense) {
  EXPECT_EQ(journal.MakePlan("x", {{.path = "/etc"}}).error(), (Error{Code::kInvalid, "/etc: is a folder"}));
  for (const char* path : {"", "etc/x", "/", "/etc/", "/etc/..", "/etc/."})
    EXPECT_EQ(journal.MakePlan("x", {{.path = path}}).error().code, Code::kInvalid) << path;
  EXPECT_EQ(journal.MakePlan("x", {{.path = "/a"}, {.path = "/a"}}).error().text, "/a: comes twice in one plan");
}

TEST_F(JournalTest, WhatFailsVerificationIsUndoneAndTheEngineGoesBack) {
  const Tree before = TreeOf(fs);
  std::vector<Hooks::Phase> phases;
  Hooks hooks = EngineHooks(fs);
  hooks.activate = [&, engine = hooks.activate](Hooks::Phase phase) {
    phases.push_back(phase);
    return engine(phase);
  };
  hooks.verify = [] { return Fail(Code::kUnavailable, "engine does not answer"); };
  EXPECT_EQ(journal.Apply(Everything(), hooks).error(), (Error{Code::kUnavailable, "runtime: engine does not answer"}));
  EXPECT_EQ(TreeOf(fs), before);
  EXPECT_TRUE(EngineIsCurrent(fs));
  EXPECT_THAT(phases, ElementsAre(Hooks::Phase::kApply, Hooks::Phase::kUndo));
  EXPECT_THAT(fs.List(kJournalFolder).value(), ElementsAre("lock"));
}

TEST_F(JournalTest, AnEngineThatWasNeverToldIsNotRestarted) {
  bool called = false;
  const Plan plan = Everything();
  fs.fail["/etc/.plain.gpuop-new"] = {Code::kIo, "input/output error"};
  EXPECT_FALSE(journal.Apply(plan, {.activate = [&](auto) { return called = true, Result<>(); }, .verify = {}}));
  EXPECT_FALSE(called);
}

TEST_F(JournalTest, RefusesAPlanThatIsNoLongerTrue) {
  const Plan plan = Everything();
  fs.Put("/etc/plain", "edited\n");
  const Tree before = TreeOf(fs);
  EXPECT_EQ(journal.Apply(plan).error(), (Error{Code::kConflict, "/etc/plain: changed since it was planned"}));
  EXPECT_EQ(TreeOf(fs), before);
}

TEST_F(JournalTest, AnEditWhileItWritesIsKeptAndTheRestUndone) {
  Tree before = TreeOf(fs);
  const Plan plan = Everything();
  fs.before_change = [&](std::string_view operation, const std::string& path) {
    if (operation == "rename" && path == "/etc/.config.toml.gpuop-new") fs.Put("/etc/plain", "edited\n");
  };
  EXPECT_EQ(journal.Apply(plan).error().text,
            "runtime: /etc/plain: changed by somebody else meanwhile; put back except /etc/plain: changed by somebody "
            "else meanwhile; what was there before is /etc/.plain.gpuop-old");
  fs.before_change = nullptr;
  EXPECT_EQ(fs.Read("/etc/plain").value(), "edited\n");
  EXPECT_EQ(fs.Read("/etc/.plain.gpuop-old").value(), "a file\n");
  before.erase("/etc/plain");
  Tree after = TreeOf(fs);
  after.erase("/etc/plain");
  after.erase("/etc/.plain.gpuop-old");
  EXPECT_EQ(after, before);
}

TEST_F(JournalTest, AnEditBeforeRecoveryIsKeptAndReported) {
  struct Killed {};
  EXPECT_THROW((void)journal.Apply(Everything(), {.activate = [](auto) -> Result<> { throw Killed(); }, .verify = {}}),
               Killed);
  fs.Put("/etc/config.toml", "by hand\n");
  fs.Put("/etc/conf.d/gpu/other.toml", "theirs\n");
  auto recovery = Journal(fs, kJournalFolder).Recover();
  ASSERT_TRUE(recovery) << recovery.error().text;
  EXPECT_EQ(recovery->outcome, Recovery::Outcome::kUndone);
  EXPECT_EQ(recovery->name, "runtime");
  EXPECT_THAT(recovery->left, ElementsAre("/etc/config.toml: changed by somebody else meanwhile; what was there before "
                                          "is /etc/.config.toml.gpuop-old"));
  EXPECT_EQ(fs.Read("/etc/config.toml").value(), "by hand\n");
  EXPECT_EQ(fs.Read("/etc/.config.toml.gpuop-old").value(), "version = 2\n");
  EXPECT_EQ(fs.Read("/etc/conf.d/gpu/other.toml").value(), "theirs\n");
  EXPECT_EQ(fs.Read("/etc/unwanted.conf").value(), "old\n");
  EXPECT_EQ(Journal(fs, kJournalFolder).Recover()->outcome, Recovery::Outcome::kNothing);
}

TEST_F(JournalTest, AFullDiskChangesNothing) {
  const Plan plan = Everything();
  ASSERT_TRUE(MakeFolders(fs, kJournalFolder));
  const Tree before = TreeOf(fs);
  std::size_t used = 0;
  for (const Plan::Item& item : plan.items) used += item.before.bytes.size();
  bool done = false;
  for (fs.disk_bytes = used; !done; fs.disk_bytes += 10) {
    auto applied = journal.Apply(plan);
    done = applied.has_value();
    if (done) break;
    ASSERT_THAT(applied.error().text, HasSubstr("no space left on device"));
    ASSERT_THAT(applied.error().text, testing::Not(HasSubstr("undoing it failed")));
    ASSERT_EQ(TreeOf(fs), before);
  }
  EXPECT_TRUE(Everything().empty());
}

TEST_F(JournalTest, ADamagedJournalIsReportedAndNothingIsTouched) {
  struct Killed {};
  EXPECT_THROW((void)journal.Apply(Everything(), {.activate = [](auto) -> Result<> { throw Killed(); }, .verify = {}}),
               Killed);
  const std::string path = std::string(kJournalFolder) + "/transaction";
  std::string text = fs.Read(path).value();
  text[text.size() / 2] ^= 1;
  fs.Put(path, text);
  const Tree before = TreeOf(fs);
  EXPECT_EQ(journal.Recover().error(), (Error{Code::kInvalid, path + ": the journal's checksum is wrong"}));
  EXPECT_EQ(journal.Apply(Planned({{.path = "/etc/x"}})).error().code, Code::kInvalid);
  EXPECT_EQ(TreeOf(fs), before);
}

TEST_F(JournalTest, AChangeCutShortMustBeRecoveredBeforeTheNext) {
  struct Killed {};
  EXPECT_THROW((void)journal.Apply(Everything(), {.activate = [](auto) -> Result<> { throw Killed(); }, .verify = {}}),
               Killed);
  EXPECT_EQ(journal.Apply(Planned({{.path = "/etc/x"}})).error(),
            (Error{Code::kConflict, "the change \"runtime\" was cut short and must be undone first"}));
  ASSERT_TRUE(journal.Recover());
  EXPECT_TRUE(journal.Apply(Planned({{.path = "/etc/x"}})));
}

TEST_F(JournalTest, TwoAtATimeAreKeptApart) {
  const Plan inner = Planned({{.path = "/etc/inner"}});
  Result<> second;
  Hooks hooks;
  hooks.verify = [&]() -> Result<> {
    second = Journal(fs, kJournalFolder).Apply(inner);
    return {};
  };
  EXPECT_TRUE(journal.Apply(Everything(), hooks));
  EXPECT_EQ(second.error(), (Error{Code::kConflict, "/var/journal/lock: locked by another process"}));
}

TEST_F(JournalTest, WhenTheCommitCannotBeReadBackTheNextStartDecides) {
  const Plan plan = Everything();
  Hooks hooks;
  hooks.verify = [&]() -> Result<> {
    fs.fail[std::string(kJournalFolder) + "/transaction"] = {Code::kIo, "input/output error"};
    return {};
  };
  const Tree before = TreeOf(fs);
  EXPECT_THAT(journal.Apply(plan, hooks).error().text, HasSubstr("whether it stays is settled at the next start"));
  fs.fail.clear();
  ASSERT_TRUE(journal.Recover());
  EXPECT_EQ(TreeOf(fs), before);
}

}  // namespace
}  // namespace gpuop::os
