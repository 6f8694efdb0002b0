#include "kube/lease.h"

#include <gtest/gtest.h>

#include <future>

#include "base/thread_executor.h"
#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"
#include "kube/types/cluster.h"

namespace gpuop::kube {
namespace {

using namespace std::chrono_literals;

const ObjectRef kLease = Ref<Lease>("ops", "operator");

/// An executor whose calendar is wrong by `skew`.
class SkewedExecutor final : public Executor {
 public:
  SkewedExecutor(Executor& real, Duration skew) : real_(real), skew_(skew) {}
  TimePoint Now() const override { return real_.Now(); }
  WallTime Wall() const override { return real_.Wall() + skew_; }
  void PostAt(TimePoint when, Task task) override { real_.PostAt(when, std::move(task)); }

 private:
  Executor& real_;
  const Duration skew_;
};

struct Candidate {
  Candidate(Executor& real, Door& door, std::string id, Duration skew, std::uint64_t seed, Duration deadline = 10s)
      : executor(real, skew) {
    LeaderLease::Options o;
    o.ns = "ops";
    o.name = "operator";
    o.identity = std::move(id);
    o.renew_deadline = deadline;
    o.seed = seed;
    lease = std::make_unique<LeaderLease>(
        executor, Client(door), o, [this] { told.push_back(true); }, [this] { told.push_back(false); });
    lease->Start();
  }
  SkewedExecutor executor;
  std::vector<bool> told;
  std::unique_ptr<LeaderLease> lease;
};

Lease Peek(const FakeDoor& door) {
  const auto object = door.Peek(kLease);
  EXPECT_TRUE(object);
  return object ? Decode<Lease>(*object).value_or(Lease()) : Lease();
}

TEST(LeaderLease, TheFirstLeadsAndRenewsWithOneWriteEachTime) {
  VirtualExecutor executor(1);
  FakeDoor fake(executor);
  CountingDoor door(fake);
  Candidate a(executor, door, "a", 0s, 1);
  executor.RunFor(1s);
  EXPECT_TRUE(a.lease->Leads());
  EXPECT_EQ(a.told, std::vector{true});
  const CallScope calls(door);
  executor.RunFor(60s);
  EXPECT_EQ(calls.ToString(), "30 update leases.coordination.k8s.io");
  const Lease lease = Peek(fake);
  EXPECT_EQ(lease.spec.holder, "a");
  EXPECT_EQ(lease.spec.duration_seconds, 15);
  EXPECT_EQ(lease.spec.transitions, 0);
}

TEST(LeaderLease, ALeaderThatDiesIsFollowedAfterTheLeaseHasRunOut) {
  VirtualExecutor executor(1);
  FakeDoor door(executor);
  auto a = std::make_unique<Candidate>(executor, door, "a", 0s, 1);
  executor.RunFor(1s);
  Candidate b(executor, door, "b", -3h, 2);
  executor.RunFor(30s);
  EXPECT_TRUE(a->lease->Leads());
  EXPECT_FALSE(b.lease->Leads());
  a.reset();
  const TimePoint died = executor.Now();
  ASSERT_TRUE(executor.RunUntil([&] { return b.lease->Leads(); }, 60s));
  EXPECT_GE(executor.Now() - died, 12s);
  EXPECT_LE(executor.Now() - died, 21s);
  EXPECT_EQ(Peek(door).spec.transitions, 1);
}

TEST(LeaderLease, AnOrderlyStopHandsOverAtOnce) {
  VirtualExecutor executor(1);
  FakeDoor door(executor);
  Candidate a(executor, door, "a", 0s, 1);
  executor.RunFor(1s);
  Candidate b(executor, door, "b", 0s, 2);
  executor.RunFor(1s);
  bool done = false;
  a.lease->Stop([&] {
    done = true;
    EXPECT_EQ(a.told, (std::vector{true, false}));
    EXPECT_EQ(Peek(door).spec.holder, "");
  });
  EXPECT_FALSE(a.lease->Leads());
  ASSERT_TRUE(executor.RunUntil([&] { return b.lease->Leads(); }, 5s));
  EXPECT_TRUE(done);
}

TEST(LeaderLease, WhoCannotRenewStepsDownBeforeTheLeaseRunsOut) {
  VirtualExecutor executor(1);
  FakeDoor door(executor);
  Candidate a(executor, door, "a", 0s, 1);
  executor.RunFor(1s);
  door.Intercept([](const ApiRequest&) { return Result<ApiResponse>(Fail(Code::kIo, "network is down")); });
  const TimePoint cut = executor.Now();
  ASSERT_TRUE(executor.RunUntil([&] { return a.told.size() == 2; }, 60s));
  EXPECT_LE(executor.Now() - cut, 10s);
  EXPECT_FALSE(a.lease->Leads());
  door.Intercept(nullptr);
  executor.RunFor(10s);
  EXPECT_TRUE(a.lease->Leads());
  EXPECT_EQ(a.told, (std::vector{true, false, true}));
}

TEST(LeaderLease, WhoseRequestHangsStepsDownAllTheSame) {
  VirtualExecutor executor(1);
  FakeDoor door(executor);
  Candidate a(executor, door, "a", 0s, 1);
  executor.RunFor(1s);
  bool told_while_hanging = false;
  door.Intercept([&](const ApiRequest&) -> std::optional<Result<ApiResponse>> {
    executor.RunFor(10s);
    told_while_hanging = told_while_hanging || a.told == std::vector{true, false};
    return Result<ApiResponse>(Fail(Code::kTimeout, "no answer in time"));
  });
  executor.RunFor(20s);
  EXPECT_TRUE(told_while_hanging);
  door.Intercept(nullptr);
}

TEST(LeaderLease, LeavesWhatOthersWroteIntoTheLeaseAlone) {
  VirtualExecutor executor(1);
  FakeDoor door(executor);
  door.Put(Lease::kResource, {{"metadata", {{"namespace", "ops"}, {"name", "operator"}, {"labels", {{"x", "y"}}}}},
                              {"spec", {{"holderIdentity", ""}, {"leaseTransitions", 4}, {"strategy", "Oldest"}}}});
  Candidate a(executor, door, "a", 0s, 1);
  executor.RunFor(5s);
  EXPECT_TRUE(a.lease->Leads());
  EXPECT_EQ(Peek(door).meta.labels.Get("x"), "y");
  EXPECT_EQ(Peek(door).spec.transitions, 5);
  EXPECT_EQ(door.Peek(kLease)->at("spec").at("strategy"), "Oldest");
}

/// Three candidates with wrong calendars against a server whose answers are slow, lost, refused or in conflict.
/// The answer is how often two led at once.
int Contest(std::uint64_t seed, Duration deadline) {
  VirtualExecutor executor(seed);
  FakeDoor door(executor, seed);
  Rng rng(seed * 31 + 7);
  std::vector<std::unique_ptr<Candidate>> candidates;
  int clashes = 0;
  bool calm = false;
  const auto check = [&] {
    int leaders = 0;
    for (const auto& c : candidates) leaders += c->lease->Leads() ? 1 : 0;
    clashes += leaders > 1 ? 1 : 0;
  };
  const auto pass = [&](Duration span) {
    for (const TimePoint end = executor.Now() + span; executor.Now() < end;) {
      executor.RunFor(std::min<Duration>(100ms, end - executor.Now()));
      check();
    }
  };
  int depth = 0;
  door.Intercept([&](const ApiRequest&) -> std::optional<Result<ApiResponse>> {
    if (calm || depth > 4) return std::nullopt;
    ++depth;
    const std::uint64_t what = rng.Below(10);
    if (what < 3) pass(std::chrono::milliseconds(rng.Below(9000)));
    --depth;
    if (what == 3) return Result<ApiResponse>(Unavailable("busy").ToResponse());
    if (what == 4) return Result<ApiResponse>(Fail(Code::kTimeout, "the request was lost"));
    return std::nullopt;
  });
  door.Spoil([&](const ApiRequest&, const ApiResponse&) -> std::optional<Result<ApiResponse>> {
    if (calm || depth > 4) return std::nullopt;
    ++depth;
    const std::uint64_t what = rng.Below(10);
    if (what < 3) pass(std::chrono::milliseconds(rng.Below(9000)));
    --depth;
    if (what > 7) return Result<ApiResponse>(Fail(Code::kTimeout, "the answer was lost"));
    return std::nullopt;
  });
  for (int i = 0; i < 3; ++i) {
    candidates.push_back(std::make_unique<Candidate>(executor, door, std::string(1, static_cast<char>('a' + i)),
                                                     std::chrono::hours(i * 5 - 5),
                                                     seed + static_cast<std::uint64_t>(i), deadline));
  }
  pass(10min);
  calm = true;
  pass(2min);
  EXPECT_EQ(std::ranges::count_if(candidates, [](const auto& c) { return c->lease->Leads(); }), 1) << "seed " << seed;
  return clashes;
}

TEST(LeaderLease, NoTwoLeadWhateverTheServerDoes) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) EXPECT_EQ(Contest(seed, 10s), 0) << "seed " << seed;
}

TEST(LeaderLease, TheContestWouldShowTwoLeaders) {
  int clashes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) clashes += Contest(seed, 40s);
  EXPECT_GT(clashes, 0);
}

TEST(LeaderLease, RunsOnThreads) {
  ThreadExecutor executor(3);
  FakeDoor door(executor);
  std::promise<void> led;
  LeaderLease::Options o;
  o.ns = "ops";
  o.name = "operator";
  o.identity = "a";
  std::promise<void> done;
  LeaderLease lease(executor, Client(door), o, [&] { led.set_value(); }, [] {});
  lease.Start();
  led.get_future().wait();
  EXPECT_TRUE(lease.Leads());
  lease.Stop([&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_EQ(Peek(door).spec.holder, "");
}

}  // namespace
}  // namespace gpuop::kube
