#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "operands/config_manager/follower.h"
#include "operands/config_manager/options.h"
#include "operands/config_manager/programs.h"
#include "operands/config_manager/selection.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::operands::config_manager {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Variables = std::map<std::string, std::string>;

const Variables kPod = {
    {"NODE_NAME", "n1"}, {"CONFIG_FILE_SRCDIR", "/available-configs"}, {"CONFIG_FILE_DST", "/config/config.yaml"}};

Result<Options> Read(const std::vector<std::string>& arguments, Variables variables = kPod) {
  return ReadOptions(arguments, [&](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

Variables With(Variables more) {
  more.insert(kPod.begin(), kPod.end());
  return more;
}

TEST(ConfigManagerOptionsTest, AreNvidiasByFlagAndVariable) {
  const Options plain = Read({}).value();
  EXPECT_EQ(plain.label, "nvidia.com/device-plugin.config");
  EXPECT_EQ(plain.process, "nvidia-device-plugin");
  EXPECT_EQ(plain.signal, 1);
  EXPECT_TRUE(plain.send_signal);
  EXPECT_FALSE(plain.oneshot);
  EXPECT_THAT(plain.fallbacks, IsEmpty());
  // As the operator's init container has them: what is empty is not given.
  const Options init = Read({}, With({{"ONESHOT", "true"},
                                      {"KUBECONFIG", ""},
                                      {"DEFAULT_CONFIG", "any"},
                                      {"SEND_SIGNAL", "false"},
                                      {"SIGNAL", ""},
                                      {"PROCESS_TO_SIGNAL", ""},
                                      {"FALLBACK_STRATEGIES", "empty"}}))
                           .value();
  EXPECT_TRUE(init.oneshot);
  EXPECT_FALSE(init.send_signal);
  EXPECT_EQ(init.default_config, "any");
  EXPECT_THAT(init.fallbacks, ElementsAre(Fallback::kEmpty));
  const Options flags = Read({"--node-name=n2", "--node-label", "a.b/c", "--config-file-srcdir=/s/", "--signal=12",
                              "--fallback-strategies=named,single", "--fallback-strategies=empty"})
                            .value();
  EXPECT_EQ(flags.node, "n2");
  EXPECT_EQ(flags.label, "a.b/c");
  EXPECT_EQ(flags.source, "/s");
  EXPECT_EQ(flags.signal, 12);
  EXPECT_THAT(flags.fallbacks, ElementsAre(Fallback::kNamed, Fallback::kSingle, Fallback::kEmpty));
}

TEST(ConfigManagerOptionsTest, WhatIsWrongIsNamed) {
  struct Bad {
    std::vector<std::string> arguments;
    Variables variables;
    const char* says;
  };
  const Bad cases[] = {
      {{}, {}, "--node-name (NODE_NAME) must be given"},
      {{"--node-name=n"}, {}, "--config-file-srcdir (CONFIG_FILE_SRCDIR) must be given"},
      {{"--node-name=n", "--config-file-srcdir=/s"}, {}, "--config-file-dst (CONFIG_FILE_DST) must be given"},
      {{"--config-file-srcdir=configs"}, kPod, "\"configs\" is not an absolute path"},
      {{"--config-file-dst=config.yaml"}, kPod, "\"config.yaml\" is not an absolute path"},
      {{"--config-file-dst=/available-configs/x"}, kPod, "is among the configurations of \"/available-configs\""},
      {{"--node-label=a b"}, kPod, "--node-label: \"a b\""},
      {{"--node-label=a/b/c"}, kPod, "--node-label: \"a/b/c\""},
      {{"--node-label="}, kPod, "--node-label: \"\""},
      {{"--fallback-strategies=first"}, kPod, "\"first\" is not named, single or empty"},
      {{"--fallback-strategies=named,Empty"}, kPod, "\"Empty\" is not named, single or empty"},
      {{"--signal=0"}, kPod, "--signal: \"0\" is not the number of a signal"},
      {{"--signal=HUP"}, kPod, "--signal: \"HUP\""},
      {{"--signal=-1"}, kPod, "--signal: \"-1\""},
      {{"--signal=65"}, kPod, "--signal: \"65\""},
      {{"--signal=99999999999999999999"}, kPod, "is not the number of a signal"},
      {{"--process-to-signal="}, kPod, "--process-to-signal (PROCESS_TO_SIGNAL) must be given"},
      {{"--oneshot=perhaps"}, kPod, "--oneshot=perhaps: not a boolean"},
      {{"--send-signal=2"}, kPod, "not a boolean"},
      {{}, With({{"ONESHOT", "ja"}}), "variable ONESHOT: not a boolean"},
      {{}, With({{"SIGNAL", "x"}}), "--signal: \"x\""},
      {{"--kubeconfig"}, kPod, "--kubeconfig needs a value"},
      {{"--config-file"}, kPod, "unknown flag \"--config-file\""},
      {{"stray"}, kPod, "unexpected argument \"stray\""},
  };
  for (const Bad& c : cases) {
    const auto options = Read(c.arguments, c.variables);
    ASSERT_FALSE(options) << c.says;
    EXPECT_EQ(options.error().code, Code::kInvalid);
    EXPECT_THAT(options.error().text, HasSubstr(c.says));
  }
}

struct Choice {
  const char* name;
  std::optional<std::string> label;
  std::vector<std::string> available;
  std::string default_config;
  std::vector<Fallback> fallbacks;
  const char* target;  ///< or a part of the error
};

class SelectTest : public testing::TestWithParam<Choice> {};

TEST_P(SelectTest, LabelThenDefaultThenFallbacks) {
  const Choice& c = GetParam();
  Options options = Read({}).value();
  options.default_config = c.default_config;
  options.fallbacks = c.fallbacks;
  const auto selected = Select(c.label, c.available, options);
  EXPECT_THAT(selected ? *selected : selected.error().text, HasSubstr(c.target));
}

const std::vector<Fallback> kHelm = {Fallback::kNamed, Fallback::kSingle};

INSTANTIATE_TEST_SUITE_P(
    All, SelectTest,
    testing::Values(
        Choice{"Label", "a100", {"a100", "t4"}, "t4", {}, "/available-configs/a100"},
        Choice{"NoLabel", {}, {"a100", "t4"}, "t4", kHelm, "/available-configs/t4"},
        Choice{"EmptyLabel", "", {"a100", "t4"}, "t4", {}, "/available-configs/t4"},
        Choice{"LabelOfNothing",
               "b200",
               {"a100", "t4"},
               "t4",
               kHelm,
               "label nvidia.com/device-plugin.config of node n1: there is no configuration \"b200\"; "
               "/available-configs holds a100, t4"},
        Choice{"DefaultOfNothing", {}, {"a100"}, "t4", kHelm, "--default-config: there is no configuration \"t4\""},
        Choice{"Named", {}, {"a100", "default"}, "", kHelm, "/available-configs/default"},
        Choice{"Single", {}, {"a100"}, "", kHelm, "/available-configs/a100"},
        Choice{"NamedBeforeSingle", {}, {"default"}, "", kHelm, "/available-configs/default"},
        Choice{"SingleOfSeveral", {}, {"a", "b"}, "", {Fallback::kSingle}, "no fallback names one"},
        Choice{"SingleOfNone", {}, {}, "", {Fallback::kSingle}, "/available-configs holds none"},
        Choice{"Empty", {}, {"a", "b"}, "", {Fallback::kSingle, Fallback::kEmpty}, "/dev/null"},
        Choice{"EmptyComesInOrder", {}, {"a"}, "", {Fallback::kEmpty, Fallback::kSingle}, "/dev/null"},
        Choice{"NoFallback", {}, {"default"}, "", {}, "node n1 has no label nvidia.com/device-plugin.config"},
        Choice{"LabelBeatsEmpty", "x", {}, "", {Fallback::kEmpty}, "there is no configuration \"x\""},
        Choice{"UpAndOut", "../../etc/passwd", {"a"}, "", {}, "cannot be the name of a configuration"},
        Choice{"TheLinkOfAMap", "..data", {"..data"}, "", {}, "cannot be the name of a configuration"},
        Choice{"DefaultIsAPath", {}, {"a"}, "/a", {}, "cannot be the name of a configuration"},
        Choice{"Dot", {}, {"a"}, ".", {}, "cannot be the name of a configuration"},
        Choice{"ControlCharacter", {}, {"a"}, "a\nb", {}, "cannot be the name of a configuration"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(SelectTest, TheLinksOfAMountedMapAreNoConfigurations) {
  EXPECT_THAT(Configurations({"..2026_01_01", "..data", ".hidden", "a"}), ElementsAre(".hidden", "a"));
}

struct FollowerTest : testing::Test {
  FollowerTest() {
    EXPECT_TRUE(os::MakeFolders(fs, "/available-configs"));
    Put("a", "version: v1\n");
    Put("b", "version: v1\nflags: {}\n");
    programs.running["nvidia-device-plugin"] = 1;
    Make({});
  }
  void Make(const std::vector<std::string>& flags) {
    follower.emplace(Follower::Parts{fs, programs, log, &metrics}, Read(flags).value());
  }
  void Put(const std::string& name, const std::string& text) {
    EXPECT_TRUE(fs.WriteAtomic("/available-configs/" + name, text));
  }
  std::string Target() { return fs.ReadLink("/config/config.yaml").value_or("none"); }

  os::FakeFs fs;
  FakePrograms programs;
  FakeLog log;
  MetricRegistry metrics;
  std::optional<Follower> follower;
};

TEST_F(FollowerTest, LinksAndTellsAtAChangeOfLabelOnly) {
  EXPECT_TRUE(follower->Follow("a").value());
  EXPECT_EQ(Target(), "/available-configs/a");
  EXPECT_THAT(programs.sent, ElementsAre(Pair("nvidia-device-plugin", 1)));
  EXPECT_FALSE(follower->Follow("a").value());
  EXPECT_EQ(programs.sent.size(), 1U);
  EXPECT_TRUE(follower->Follow("b").value());
  EXPECT_EQ(Target(), "/available-configs/b");
  EXPECT_EQ(programs.sent.size(), 2U);
}

TEST_F(FollowerTest, WhatTheInitContainerLinkedIsNoChange) {
  ASSERT_TRUE(follower->Follow("a"));
  programs.sent.clear();
  Make({});  // the side container begins
  EXPECT_FALSE(follower->Follow("a").value());
  EXPECT_THAT(programs.sent, IsEmpty());
}

TEST_F(FollowerTest, OtherWordsInTheSameFileAreToldOnce) {
  ASSERT_TRUE(follower->Follow("a"));
  Put("a", "version: v1\nsharing: {}\n");
  ASSERT_TRUE(follower->Follow("a"));
  ASSERT_TRUE(follower->Follow("a"));
  EXPECT_EQ(programs.sent.size(), 2U);
  Put("a", "version: v1\nsharing: {}\n");  // written again, as it was
  ASSERT_TRUE(follower->Follow("a"));
  EXPECT_EQ(programs.sent.size(), 2U);
}

TEST_F(FollowerTest, TheLastGoodLinkStaysWhenTheLabelNamesNothing) {
  ASSERT_TRUE(follower->Follow("a"));
  EXPECT_EQ(follower->Follow("c").error().code, Code::kNotFound);
  EXPECT_EQ(Target(), "/available-configs/a");
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_config_manager_selected 0"));
  Put("c", "version: v1\n");
  EXPECT_TRUE(follower->Follow("c").value());
  EXPECT_EQ(Target(), "/available-configs/c");
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_config_manager_selected 1"));
}

TEST_F(FollowerTest, NothingIsAChoiceToo) {
  Make({"--fallback-strategies=empty"});
  ASSERT_TRUE(follower->Follow(std::nullopt));
  EXPECT_EQ(Target(), "/dev/null");
  ASSERT_TRUE(follower->Follow("a"));
  EXPECT_EQ(Target(), "/available-configs/a");
  EXPECT_EQ(programs.sent.size(), 2U);
}

TEST_F(FollowerTest, AFileInTheLinksPlaceIsReplaced) {
  ASSERT_TRUE(os::MakeFolders(fs, "/config"));
  ASSERT_TRUE(fs.WriteAtomic("/config/config.yaml", "by hand"));
  ASSERT_TRUE(follower->Follow("a"));
  EXPECT_EQ(Target(), "/available-configs/a");
}

TEST_F(FollowerTest, AFullDiskLeavesTheOldLinkAndIsTriedAgain) {
  ASSERT_TRUE(follower->Follow("a"));
  fs.fail["/config/config.yaml"] = Error{Code::kIo, "/config/config.yaml: no space left on device"};
  EXPECT_EQ(follower->Follow("b").error().code, Code::kIo);
  fs.fail.clear();
  EXPECT_EQ(Target(), "/available-configs/a");
  EXPECT_EQ(programs.sent.size(), 1U);
  EXPECT_TRUE(follower->Follow("b").value());
  EXPECT_EQ(programs.sent.size(), 2U);
}

TEST_F(FollowerTest, AFileThatCannotBeReadIsNotLinked) {
  ASSERT_TRUE(follower->Follow("a"));
  fs.fail["/available-configs/b"] = Error{Code::kForbidden, "/available-configs/b: permission denied"};
  EXPECT_THAT(follower->Follow("b").error().text, HasSubstr("permission denied"));
  EXPECT_EQ(Target(), "/available-configs/a");
}

TEST_F(FollowerTest, WithoutAFolderTheErrorNamesIt) {
  ASSERT_TRUE(fs.Remove("/available-configs/a"));
  ASSERT_TRUE(fs.Remove("/available-configs/b"));
  ASSERT_TRUE(fs.Remove("/available-configs"));
  EXPECT_THAT(follower->Follow("a").error().text, HasSubstr("/available-configs"));
}

TEST_F(FollowerTest, AProgramThatDoesNotRunIsNoError) {
  programs.running.clear();
  EXPECT_TRUE(follower->Follow("a"));
  EXPECT_THAT(log.Lines(), testing::Contains(HasSubstr("nobody to tell")));
}

TEST_F(FollowerTest, SignalsCanBeOff) {
  Make({"--send-signal=false"});
  ASSERT_TRUE(follower->Follow("a"));
  EXPECT_THAT(programs.sent, IsEmpty());
}

TEST(ProgramsTest, AreKnownByTheNameTheyWereStartedAs) {
  EXPECT_TRUE(StartedAs("nvidia-device-plugin", "nvidia-device-plugin"));
  EXPECT_TRUE(StartedAs("mps-control-daemon", "/usr/bin/mps-control-daemon"));
  EXPECT_TRUE(StartedAs("/usr/bin/mps-control-daemon", "mps-control-daemon"));
  EXPECT_FALSE(StartedAs("/opt/mps-control-daemon", "/usr/bin/mps-control-daemon"));
  EXPECT_FALSE(StartedAs("nvidia-device-plugin2", "nvidia-device-plugin"));
  EXPECT_FALSE(StartedAs("", ""));
}

/// `sleep` under another name; the status with which it ends.
struct Sleeper {
  explicit Sleeper(std::string name) {
    std::string seconds = "600";
    char* argv[] = {name.data(), seconds.data(), nullptr};
    EXPECT_EQ(::posix_spawn(&pid, "/bin/sleep", nullptr, nullptr, argv, environ), 0);
  }
  ~Sleeper() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  int Wait() {
    int status = 0;
    ::waitpid(std::exchange(pid, 0), &status, 0);
    return status;
  }
  pid_t pid = 0;
};

TEST(ProgramsTest, RealOnesHearTheSignalAndOthersDoNot) {
  const std::string name = "gpuop-test-program-" + std::to_string(::getpid());
  const auto fs = os::RealFs::Open("/").value();
  RealPrograms programs(*fs);
  EXPECT_EQ(programs.Signal(name, SIGHUP).value(), 0U);
  Sleeper told(name), other(name + "x");
  EXPECT_EQ(programs.Signal(name, SIGHUP).value(), 1U);
  const int status = told.Wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
  EXPECT_EQ(::kill(other.pid, 0), 0);
}

}  // namespace
}  // namespace gpuop::operands::config_manager
