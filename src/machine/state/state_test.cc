#include "machine/state/state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <thread>

#include "machine/state/clients.h"
#include "machine/state/fake_machine.h"
#include "machine/state/life.h"
#include "machine/state/nodes.h"

namespace gpuop::machine {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

/// Runs `child` in a process of its own and waits until it is gone; its exit status, or minus its signal.
int InAnotherProcess(const std::function<int()>& child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(StateTest, WhatOneProcessWritesAnotherReads) {
  FakeMachine fake;
  EXPECT_EQ(InAnotherProcess([&] {
              fake.Another()->Write()->devices[1].temperature_c = 77;
              return 0;
            }),
            0);
  EXPECT_EQ(fake.state().Read()->devices[1].temperature_c, 77U);
}

TEST(StateTest, ASecondCreateDoesNotTouchTheFirst) {
  FakeMachine fake;
  const auto again = State::Create(fake.path(), [](layout::Machine&) {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
  EXPECT_EQ(fake.state().Read()->device_count, 2U);
}

TEST(StateTest, AFileThatIsNoStateIsRefused) {
  FakeMachine fake;
  const std::string path = fake.folder() + "/other";
  std::ofstream(path) << std::string(100, 'x');
  EXPECT_EQ(State::Open(path).error().code, Code::kInvalid);
  EXPECT_EQ(State::Open(fake.folder() + "/none").error().code, Code::kNotFound);
}

TEST(StateTest, AWriterKilledInTheMiddleLeavesTheMachineUsable) {
  FakeMachine fake;
  EXPECT_EQ(InAnotherProcess([&] {
              auto state = fake.Another();
              auto machine = state->Write();
              machine->devices[0].temperature_c = 50;
              ::kill(::getpid(), SIGKILL);
              return 0;
            }),
            -SIGKILL);
  const std::uint32_t before = fake.state().changes();
  EXPECT_EQ(fake.state().Write()->writing, 1U);
  EXPECT_GE(fake.state().changes(), before + 2);  // the repair and this change
}

TEST(StateTest, CountsOfManyProcessesAndThreadsAllArrive) {
  FakeMachine fake;
  const auto add = [](State& state) {
    for (int i = 0; i < 500; ++i) ++state.Write()->devices[0].kernels;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    add(fake.state());  // the parent's own object, used after fork
    ::_exit(0);
  }
  std::thread other([&] { add(fake.state()); });
  add(fake.state());
  other.join();
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  EXPECT_EQ(fake.state().Read()->devices[0].kernels, 6U * 500U);
}

TEST(StateTest, AnEventWakesAWaiterInAnotherProcess) {
  FakeMachine fake;
  const std::uint32_t seen = fake.state().event_count();
  const pid_t child = ::fork();
  if (child == 0) {
    auto state = fake.Another();
    PushEvent(*state->Write(), {.kind = layout::kEventXid, .data = 79, .device = 1});
    ::_exit(0);
  }
  ASSERT_TRUE(fake.state().WaitEvent(seen, std::chrono::seconds(20)));
  ::waitpid(child, nullptr, 0);
  const auto machine = fake.state().Read();
  EXPECT_EQ(machine->events, 1U);
  EXPECT_EQ(machine->ring[0].data, 79U);
  EXPECT_EQ(machine->ring[0].sequence, 1U);
}

TEST(StateTest, AWaitEndsAtItsLimit) {
  FakeMachine fake;
  EXPECT_FALSE(fake.state().WaitChange(fake.state().changes(), std::chrono::milliseconds(1)));
  EXPECT_FALSE(fake.state().WaitEvent(fake.state().event_count(), std::chrono::milliseconds(1)));
}

TEST(ClientTest, MemoryIsLimitedByTheDeviceAndGoesWithTheContext) {
  FakeMachine fake;
  {
    auto client = Client::Attach(fake.state(), {.device = 0});
    ASSERT_TRUE(client);
    EXPECT_EQ(client->memory().total, 1008 * kMiB);
    ASSERT_TRUE(client->Allocate(1000 * kMiB));
    const auto more = client->Allocate(9 * kMiB);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, Code::kTooLarge);
    client->Free(600 * kMiB);
    EXPECT_EQ(client->memory().free, 608 * kMiB);
    EXPECT_EQ(BytesUsed(*fake.state().Read(), {.device = 0}), 400 * kMiB);
    EXPECT_EQ(BytesUsed(*fake.state().Read(), {.device = 1}), 0U);
  }
  EXPECT_FALSE(InUse(*fake.state().Read(), {.device = 0}));
}

TEST(ClientTest, AKilledProcessGivesItsMemoryBack) {
  FakeMachine fake;
  EXPECT_EQ(InAnotherProcess([&] {
              auto state = fake.Another();
              auto client = Client::Attach(*state, {.device = 0});
              if (!client || !client->Allocate(900 * kMiB)) return 1;
              ::kill(::getpid(), SIGKILL);
              return 0;
            }),
            -SIGKILL);
  auto client = Client::Attach(fake.state(), {.device = 0});
  ASSERT_TRUE(client);
  EXPECT_EQ(client->memory().free, 1008 * kMiB);
}

TEST(ClientTest, WhatARebootEndedStaysEndedWhenItsProcessComesBack) {
  FakeMachine fake;
  auto before = Client::Attach(fake.state(), {.device = 0});
  ASSERT_TRUE(before);
  Reboot(*fake.state().Write());
  auto after = Client::Attach(fake.state(), {.device = 0});
  ASSERT_TRUE(after);
  EXPECT_FALSE(before->alive());
  EXPECT_TRUE(after->alive());
}

TEST(ClientTest, ALivingProcessKeepsItsMemory) {
  FakeMachine fake;
  int ready[2], end[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(end[1]);
    auto state = fake.Another();
    auto client = Client::Attach(*state, {.device = 0});
    const bool ok = client && client->Allocate(900 * kMiB);
    char byte = ok ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    ::_exit(::read(end[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  {
    auto client = Client::Attach(fake.state(), {.device = 0});
    ASSERT_TRUE(client);
    EXPECT_EQ(client->memory().free, 108 * kMiB);
  }
  ::close(end[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ClientTest, AContextIsDeadAfterItsDeviceWasReset) {
  FakeMachine fake;
  auto client = Client::Attach(fake.state(), {.device = 1});
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->alive());
  ++fake.state().Write()->devices[1].generation;
  EXPECT_FALSE(client->alive());
}

TEST(ClientTest, AnExclusiveDeviceTakesOneProcess) {
  FakeMachine fake;
  fake.state().Write()->devices[0].compute_mode = 3;
  auto first = Client::Attach(fake.state(), {.device = 0});
  ASSERT_TRUE(first);
  EXPECT_TRUE(Client::Attach(fake.state(), {.device = 0}));  // the same process
  EXPECT_EQ(InAnotherProcess([&] {
              auto state = fake.Another();
              return Client::Attach(*state, {.device = 0}).has_value() ? 1 : 0;
            }),
            0);
}

TEST(NodesTest, OnlyDevicesWhoseNodeIsThereAreVisible) {
  FakeMachine fake(4);
  const std::string dev = fake.folder();
  for (const char* name : {"/nvidia1", "/nvidia3", "/nvidiactl"}) std::ofstream(dev + name);
  EXPECT_EQ(VisibleDevices(*fake.state().Read(), Nodes(dev)), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(VisibleDevices(*fake.state().Read(), Nodes::All()).size(), 4U);
  EXPECT_TRUE(Nodes(dev).Control());
  EXPECT_FALSE(Nodes(dev).Uvm());
}

TEST(NodesTest, CapabilityMinorsAreThoseOfTheKernelsList) {
  EXPECT_EQ(GpuInstanceMinor(0, 0), 3U);
  EXPECT_EQ(ComputeInstanceMinor(0, 0, 0), 4U);
  EXPECT_EQ(GpuInstanceMinor(0, 1), 12U);
  EXPECT_EQ(GpuInstanceMinor(1, 0), 138U);
  EXPECT_EQ(ComputeInstanceMinor(7, 14, 7), 3U + 7 * 135 + 14 * 9 + 8);
}

TEST(NodesTest, AMigUuidIsTheSameForTheSamePlaceAlone) {
  FakeMachine fake;
  const auto machine = fake.state().Read();
  const std::string one = MigUuid(machine->devices[0], 1, 0);
  EXPECT_EQ(one, MigUuid(machine->devices[0], 1, 0));
  EXPECT_NE(one, MigUuid(machine->devices[0], 1, 1));
  EXPECT_NE(one, MigUuid(machine->devices[0], 2, 0));
  EXPECT_NE(one, MigUuid(machine->devices[1], 1, 0));
  EXPECT_EQ(one.size(), 40U);
}

}  // namespace
}  // namespace gpuop::machine
