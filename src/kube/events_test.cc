#include "kube/events.h"

#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"
#include "kube/types/core.h"
#include "kube/types/node.h"

namespace gpuop::kube {
namespace {

using namespace std::chrono_literals;

struct World {
  VirtualExecutor executor{1};
  FakeDoor fake{executor};
  CountingDoor door{fake};
  EventRecorder events{executor, Client(door), {.component = "gpu-operator", .instance = "pod-1"}};
  ObjectReference node;

  World() {
    Node n;
    n.meta.name = "n1";
    n.meta.uid = "u1";
    node = ReferenceTo(n);
  }
  void Say(std::string_view reason, std::string_view message) {
    events.Emit(node, EventType::kWarning, reason, message);
    executor.RunFor(1s);
  }
  std::vector<Event> Written() const {
    std::vector<Event> out;
    for (const auto& o : fake.PeekAll(Event::kResource)) out.push_back(Decode<Event>(o).value());
    return out;
  }
};

TEST(Events, TheSameNewsRaiseTheCount) {
  World w;
  const CallScope calls(w.door);
  for (int i = 0; i < 3; ++i) w.Say("DriverMissing", "no driver");
  EXPECT_EQ(calls.ToString(), "1 create events, 2 patch events");
  ASSERT_EQ(w.Written().size(), 1U);
  const Event e = w.Written()[0];
  EXPECT_EQ(e.count, 3);
  EXPECT_EQ(e.meta.ns, "default");
  EXPECT_EQ(e.involved.kind, "Node");
  EXPECT_EQ(e.involved.uid, "u1");
  EXPECT_EQ(e.type, "Warning");
  EXPECT_EQ(e.last - e.first, 2s);
}

TEST(Events, AnEventThatHasExpiredIsMadeAnew) {
  World w;
  w.Say("A", "x");
  w.fake.Remove(Ref<Event>("default", w.Written()[0].meta.name));
  w.Say("A", "x");
  ASSERT_EQ(w.Written().size(), 1U);
  EXPECT_EQ(w.Written()[0].count, 1);
}

TEST(Events, TooManyAboutOneObjectAreDropped) {
  World w;
  for (int i = 0; i < 100; ++i) w.events.Emit(w.node, EventType::kNormal, "R" + std::to_string(i), "x");
  w.executor.RunFor(1s);
  EXPECT_EQ(w.Written().size(), 25U);
  EXPECT_EQ(w.events.dropped(), 75U);
  w.executor.RunFor(5min);
  w.Say("After", "x");
  EXPECT_EQ(w.Written().size(), 26U);
}

TEST(Events, ManySimilarOnesBecomeOne) {
  World w;
  for (int i = 0; i < 20; ++i) w.Say("Flapping", "message " + std::to_string(i));
  EXPECT_EQ(w.Written().size(), 10U);  // nine of their own and the common one
  int combined = 0;
  for (const Event& e : w.Written()) {
    if (!e.message.starts_with("(combined from similar events): ")) continue;
    ++combined;
    EXPECT_EQ(e.count, 11);
    EXPECT_EQ(e.message, "(combined from similar events): message 19");
  }
  EXPECT_EQ(combined, 1);
}

TEST(Events, AnUnreachableServerCostsALimitedNumberOfTries) {
  World w;
  w.fake.Intercept([](const ApiRequest&) { return Result<ApiResponse>(Fail(Code::kIo, "down")); });
  const CallScope calls(w.door);
  w.Say("A", "x");
  w.executor.RunFor(10min);
  EXPECT_EQ(calls.Writes(), 3U);
  EXPECT_EQ(w.events.dropped(), 1U);
  w.fake.Intercept(nullptr);
  w.Say("A", "x");
  EXPECT_EQ(w.Written().size(), 1U);
}

TEST(Events, ARefusalIsFinalAndALongMessageIsCutAtACharacter) {
  World w;
  w.fake.Intercept([](const ApiRequest&) { return Result<ApiResponse>(Unauthorized().ToResponse()); });
  const CallScope calls(w.door);
  w.Say("A", "x");
  w.executor.RunFor(10min);
  EXPECT_EQ(calls.Writes(), 1U);
  w.fake.Intercept(nullptr);
  std::string text(1023, 'a');
  w.Say("B", text + "é and more");
  EXPECT_EQ(w.Written().at(0).message, text);
}

}  // namespace
}  // namespace gpuop::kube
