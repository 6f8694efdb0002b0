#include "os/process.h"

#include <signal.h>

#include <thread>

namespace gpuop::os {
namespace {

using namespace std::chrono_literals;

Result<Exit> Finish(Command command, std::stop_token stop = {}) { return RealProcesses().Run(command, stop); }
Command Shell(std::string script) { return {.argv = {"/bin/sh", "-c", std::move(script)}}; }

TEST(Process, ReturnsWhatTheProgramSaidAndHowItEnded) {
  auto exit = Finish(Shell("echo out; echo first >&2; echo last >&2; exit 3"));
  ASSERT_TRUE(exit) << exit.error().text;
  EXPECT_EQ(exit->out, "out\n");
  EXPECT_EQ(exit->err, "first\nlast\n");
  EXPECT_EQ(exit->status, 3);
  EXPECT_FALSE(exit->ok());
  EXPECT_EQ(exit->Describe(), "exit status 3: last");
}

TEST(Process, ReportsTheSignalThatEndedIt) {
  auto exit = Finish(Shell("kill -9 $$"));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->signal, SIGKILL);
  EXPECT_EQ(exit->status, -1);
  EXPECT_EQ(exit->Describe(), "signal 9 (killed)");
}

TEST(Process, FindsTheProgramInThePathAndHandsOverArgumentsUntouched) {
  auto exit = Finish({.argv = {"printf", "%s|", "a b", "$HOME", "*", ""}});
  ASSERT_TRUE(exit) << exit.error().text;
  EXPECT_EQ(exit->out, "a b|$HOME|*||");
}

TEST(Process, FeedsInputLargerThanAPipe) {
  const std::string input(300'000, 'x');
  auto exit = Finish({.argv = {"cat"}, .input = input});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->out, input);
}

TEST(Process, AProgramThatDoesNotReadItsInputDoesNotHurtUs) {
  auto exit = Finish({.argv = {"true"}, .input = std::string(300'000, 'x')});
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->ok());
}

TEST(Process, GivesTheEnvironmentAndFolderThatWereAskedFor) {
  Command command = Shell("echo $A-$B; pwd");
  command.env = std::map<std::string, std::string>{{"A", "1"}};
  command.folder = "/proc";
  ::setenv("B", "inherited", 1);
  auto exit = Finish(command);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->out, "1-\n/proc\n");
  command.env.reset();
  ASSERT_TRUE(exit = Finish(command));
  EXPECT_EQ(exit->out, "-inherited\n/proc\n");
}

TEST(Process, InheritsNoDescriptors) {
  auto exit = Finish({.argv = {"ls", "/proc/self/fd"}});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->out, "0\n1\n2\n3\n");  // 3 is ls reading the folder
}

TEST(Process, NamesAProgramThatIsNotThere) {
  auto exit = Finish({.argv = {"/no/such/program"}});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error(), (Error{Code::kNotFound, "run /no/such/program: no such file or directory"}));
  EXPECT_EQ(Finish({.argv = {"/etc/passwd"}}).error().code, Code::kForbidden);
}

TEST(Process, EndsTheWholeGroupWhenTimeIsUp) {
  Command command = Shell("sleep 100 & echo $!; trap '' TERM; while :; do sleep 100; done");
  command.limit = 100ms;
  command.grace = 100ms;
  const auto before = std::chrono::steady_clock::now();
  auto exit = Finish(command);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error(), (Error{Code::kTimeout, "/bin/sh: not done after 100 ms"}));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

TEST(Process, WhatAProgramLeavesRunningEndsWithIt) {
  auto exit = Finish(Shell("sleep 100 & echo $!"));
  ASSERT_TRUE(exit);
  const pid_t left = std::stoi(exit->out);
  for (int i = 0; i < 500 && ::kill(left, 0) == 0; ++i) {
    // Killed; it stays a zombie until init collects it.
    auto state = Finish({.argv = {"ps", "-o", "stat=", "-p", std::to_string(left)}});
    if (state && (state->out.empty() || state->out.starts_with("Z"))) return;
  }
  EXPECT_NE(::kill(left, 0), 0);
}

TEST(Process, StopsWhenAsked) {
  std::stop_source stop;
  std::jthread asker([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  auto exit = Finish({.argv = {"sleep", "100"}}, stop.get_token());
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error(), (Error{Code::kCancelled, "sleep: stopped"}));
}

TEST(Process, AProgramThatNeverStopsTalkingIsEnded) {
  auto exit = Finish({.argv = {"yes"}, .grace = 100ms, .max_output = 1000});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error(), (Error{Code::kTooLarge, "yes: wrote more than 1000 bytes"}));
}

TEST(FakeProcesses, RunsFunctionsAndRemembersThem) {
  FakeProcesses fake;
  fake.Install("helm", [](const Command& c) -> Result<Exit> { return Exit{.out = c.argv[1]}; });
  auto exit = fake.Run({.argv = {"helm", "version"}}, {});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->out, "version");
  EXPECT_EQ(fake.Run({.argv = {"docker"}}, {}).error().code, Code::kNotFound);
  EXPECT_EQ(fake.Runs().size(), 2U);
}

}  // namespace
}  // namespace gpuop::os
