#include "sim/node/pod/pod_life.h"

#include <gtest/gtest.h>

#include "data/json.h"

namespace gpuop::sim::node {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kStart = FakeClock::kStart;
constexpr int kKilled = 9;  // wait(2): ended by signal 9
int ExitWith(int code) { return code << 8; }

PodWish Wish(const std::string& spec) {
  const auto json = data::ParseJson(R"({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":)" + spec + "}");
  return kube::Decode<PodWish>(json.value().as_object()).value();
}

/// Plays a Pod by hand.
struct Play {
  explicit Play(const std::string& spec) : wish(Wish(spec)), life(wish, kStart) {}

  /// The orders at that time: "start a#0", "stop a 30".
  std::vector<std::string> Orders(Duration after = {}) {
    now = kStart + after;
    wake.reset();
    std::vector<std::string> out;
    for (const Order& o : life.Next(now, wake)) {
      if (o.kind == Order::Kind::kStart) out.push_back("start " + o.container + "#" + std::to_string(o.attempt));
      if (o.kind == Order::Kind::kStop)
        out.push_back("stop " + o.container + " " +
                      std::to_string(std::chrono::duration_cast<seconds>(o.grace).count()));
    }
    return out;
  }
  void Started(const std::string& c) { life.Started(c, "id-" + c, "image", now); }
  void Exited(const std::string& c, int status) { life.Exited(c, status, "", now); }
  std::string State(const std::string& c) {
    const PodView view = life.View("", "");
    for (const auto* list : {&view.init, &view.main})
      for (const ContainerView& v : *list) {
        if (v.name != c) continue;
        if (v.state == ContainerView::State::kRunning) return v.ready ? "ready" : "running";
        if (v.state == ContainerView::State::kWaiting) return v.waiting_reason;
        return v.end.reason + " " + std::to_string(v.end.exit_code);
      }
    return "";
  }

  PodWish wish;
  PodLife life;
  WallTime now = kStart;
  std::optional<WallTime> wake;
};

using Orders = std::vector<std::string>;

TEST(PodLifeTest, InitContainersComeOneAfterTheOtherAndThenAllOthers) {
  Play p(R"({"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(p.Orders(), Orders{"start i#0"});
  EXPECT_EQ(p.Orders(), Orders{});
  p.Started("i");
  p.Exited("i", ExitWith(0));
  EXPECT_EQ(p.Orders(), Orders{"start j#0"});
  p.Started("j");
  p.Exited("j", ExitWith(0));
  EXPECT_EQ(p.Orders(), (Orders{"start a#0", "start b#0"}));
  p.Started("a");
  p.Started("b");
  p.Orders();
  EXPECT_EQ(p.life.phase(), "Running");
  EXPECT_TRUE(p.life.Ready());
}

TEST(PodLifeTest, ASidecarHoldsTheOthersUntilItHasStartedAndStopsAfterThem) {
  Play p(R"({"restartPolicy":"Never","initContainers":[{"name":"s","restartPolicy":"Always","startupProbe":{}}],
             "containers":[{"name":"a"}]})");
  EXPECT_EQ(p.Orders(), Orders{"start s#0"});
  p.Started("s");
  EXPECT_EQ(p.Orders(), Orders{}) << "its startup probe has not succeeded";
  p.life.Probed("s", ProbeKind::kStartup, true);
  EXPECT_EQ(p.Orders(), Orders{"start a#0"});
  p.Started("a");
  p.Exited("a", ExitWith(0));
  EXPECT_EQ(p.Orders(), Orders{"stop s 30"});
  EXPECT_EQ(p.life.phase(), "Succeeded");
}

TEST(PodLifeTest, RestartsComeAtOnceAndThenAfterAGrowingBackOff) {
  Play p(R"({"containers":[{"name":"a"}]})");
  p.Orders();
  p.Started("a");
  p.Exited("a", ExitWith(1));
  EXPECT_EQ(p.Orders(), Orders{"start a#1"});
  p.Started("a");
  p.Exited("a", ExitWith(1));
  EXPECT_EQ(p.Orders(seconds(1)), Orders{});
  EXPECT_EQ(p.State("a"), "CrashLoopBackOff");
  EXPECT_EQ(p.wake, kStart + seconds(10));
  EXPECT_EQ(p.life.View("", "").main[0].waiting_message, "back-off 10s restarting failed container=a pod=p_ns(u)");
  EXPECT_EQ(p.Orders(seconds(10)), Orders{"start a#2"});
}

TEST(PodLifeTest, ARestartedKubeletAndARebootForgetTheBackOff) {
  for (const bool reboot : {false, true}) {
    Play p(R"({"containers":[{"name":"a"}]})");
    p.Orders();
    for (int i = 0; i < 2; ++i) {
      p.Started("a");
      p.Exited("a", ExitWith(1));
      p.Orders();
    }
    EXPECT_EQ(p.State("a"), "CrashLoopBackOff");
    reboot ? p.life.Reboot(p.now) : p.life.ForgetBackOff(p.now);
    p.life.SetSandbox(true);
    EXPECT_EQ(p.Orders(), Orders{"start a#2"});
    p.Started("a");
    p.Exited("a", ExitWith(1));
    p.Orders();
    EXPECT_EQ(p.wake, p.now + seconds(10)) << "and counts from the beginning";
  }
}

TEST(PodLifeTest, TenGoodMinutesMakeUpForWhatWasBefore) {
  Play p(R"({"containers":[{"name":"a"}]})");
  p.Orders();
  p.Started("a");
  p.Exited("a", ExitWith(1));
  p.Orders();
  p.Started("a");
  p.now = kStart + minutes(11);
  p.Exited("a", ExitWith(1));
  EXPECT_EQ(p.Orders(minutes(11)), Orders{"start a#2"});
}

TEST(PodLifeTest, ThePhaseOfAnEndedPodFollowsItsRestartPolicy) {
  for (const auto& [policy, code, phase] : {std::tuple("Never", 0, "Succeeded"),
                                            {"Never", 3, "Failed"},
                                            {"OnFailure", 0, "Succeeded"},
                                            {"OnFailure", 3, "Running"}}) {
    Play p(std::string(R"({"restartPolicy":")") + policy + R"(","containers":[{"name":"a"}]})");
    p.Orders();
    p.Started("a");
    p.Exited("a", ExitWith(code));
    p.Orders();
    EXPECT_EQ(p.life.phase(), phase) << policy << " " << code;
  }
}

TEST(PodLifeTest, AFailedInitContainerFailsAPodThatNeverRestarts) {
  Play p(R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  p.Orders();
  p.Started("i");
  p.Exited("i", ExitWith(2));
  EXPECT_EQ(p.Orders(), Orders{});
  EXPECT_EQ(p.life.phase(), "Failed");
}

TEST(PodLifeTest, ALivenessProbeThatFailsStopsTheContainerAndTheRestartPolicyDecides) {
  Play p(R"({"containers":[{"name":"a","livenessProbe":{"terminationGracePeriodSeconds":5}}]})");
  p.Orders();
  p.Started("a");
  p.life.Probed("a", ProbeKind::kLiveness, false);
  EXPECT_EQ(p.Orders(), Orders{"stop a 5"});
  EXPECT_EQ(p.Orders(), Orders{}) << "once";
  p.Exited("a", kKilled);
  EXPECT_EQ(p.State("a"), "Error 137");
  EXPECT_EQ(p.Orders(), Orders{"start a#1"});
}

TEST(PodLifeTest, ReadinessComesAndGoesWithItsProbe) {
  Play p(R"({"containers":[{"name":"a","readinessProbe":{}}]})");
  p.Orders();
  p.Started("a");
  EXPECT_EQ(p.State("a"), "running");
  p.life.Probed("a", ProbeKind::kReadiness, true);
  EXPECT_EQ(p.State("a"), "ready");
  p.life.Probed("a", ProbeKind::kReadiness, false);
  EXPECT_EQ(p.State("a"), "running");
}

TEST(PodLifeTest, ADeletionStopsTheContainersAndASecondOneCanShortenIt) {
  Play p(R"({"containers":[{"name":"a"},{"name":"b"}]})");
  p.Orders();
  p.Started("a");
  p.Started("b");
  p.life.Stop(kStart, seconds(30));
  EXPECT_EQ(p.Orders(), (Orders{"stop a 30", "stop b 30"}));
  p.Exited("a", ExitWith(0));
  p.life.Stop(kStart + seconds(1), seconds(2));
  EXPECT_EQ(p.Orders(seconds(1)), Orders{"stop b 2"});
  EXPECT_FALSE(p.life.Stopped());
  p.Exited("b", kKilled);
  p.Orders(seconds(3));
  EXPECT_TRUE(p.life.Stopped());
  EXPECT_EQ(p.life.phase(), "Failed");
}

TEST(PodLifeTest, AStartThatDoesNotComeToAProcessIsTriedAgainLater) {
  Play p(R"({"containers":[{"name":"a"}]})");
  p.Orders();
  p.life.NotStarted("a", "ErrImagePull", "not found", kStart);
  EXPECT_EQ(p.State("a"), "ErrImagePull");
  EXPECT_TRUE(p.life.Rename("a", "ErrImagePull", "ImagePullBackOff", "Back-off"));
  EXPECT_EQ(p.Orders(seconds(9)), Orders{});
  EXPECT_EQ(p.Orders(seconds(10)), Orders{"start a#0"});
  EXPECT_EQ(TryBackOff(1, false), seconds(1));
  EXPECT_EQ(TryBackOff(9, false), seconds(10));
}

TEST(PodLifeTest, AProgramThatCannotBeStartedCountsAsAnExitWithStatus128) {
  Play p(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  p.Orders();
  p.life.StartError("a", "id", "exec: not found", kStart);
  p.Orders();
  EXPECT_EQ(p.State("a"), "StartError 128");
  EXPECT_EQ(p.life.phase(), "Failed");
}

TEST(PodLifeTest, AfterARebootWhatRanStartsAgain) {
  Play p(R"({"containers":[{"name":"a"}]})");
  p.Orders();
  p.Started("a");
  p.life.Reboot(kStart + minutes(1));
  EXPECT_EQ(p.State("a"), "Unknown 255");
  EXPECT_EQ(p.Orders(minutes(1)), Orders{"start a#1"});
}

TEST(PodLifeTest, AfterARebootInitContainersRunAgainBeforeTheOthers) {
  Play p(R"({"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]})");
  p.Orders();
  for (const char* const init : {"i", "j"}) {
    p.Started(init);
    p.Exited(init, ExitWith(0));
    p.Orders();
  }
  p.Started("a");
  p.life.Reboot(kStart + minutes(1));
  EXPECT_EQ(p.Orders(minutes(1)), Orders{"start i#1"});
  p.Started("i");
  EXPECT_EQ(p.Orders(minutes(1)), Orders{});
  p.Exited("i", ExitWith(0));
  EXPECT_EQ(p.Orders(minutes(1)), Orders{"start j#1"});
  p.Started("j");
  p.Exited("j", ExitWith(0));
  EXPECT_EQ(p.Orders(minutes(1)), Orders{"start a#1"});
  EXPECT_EQ(p.life.phase(), "Running");
}

TEST(PodLifeTest, AfterARebootAPodThatMustNotRestartRunsNoInitContainer) {
  Play p(R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  p.Orders();
  p.Started("i");
  p.Exited("i", ExitWith(0));
  p.Orders();
  p.Started("a");
  p.life.Reboot(kStart + minutes(1));
  EXPECT_EQ(p.Orders(minutes(1)), Orders{});
  EXPECT_EQ(p.life.phase(), "Failed");
}

}  // namespace
}  // namespace gpuop::sim::node
