#include "net/ttrpc/trunk.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace gpuop::net {
namespace {

using namespace std::chrono_literals;

std::pair<std::unique_ptr<TtrpcTrunk>, std::unique_ptr<TtrpcTrunk>> Pair() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {std::make_unique<TtrpcTrunk>(os::Fd(ends[0])), std::make_unique<TtrpcTrunk>(os::Fd(ends[1]))};
}

Result<std::string> Echo(const std::string& method, const std::string& request) {
  if (method == "s.Echo/Say") return request + request;
  return Fail(Code::kUnsupported, "no method " + method);
}

TEST(TtrpcTrunkTest, BothSidesCallEachOther) {
  auto [a, b] = Pair();
  std::stop_source stop;
  std::jthread other([&b, &stop] {
    EXPECT_EQ(b->Call(2, "s.Echo", "Say", "from b", 5s, {}).value(), "from bfrom b");
    EXPECT_TRUE(b->Serve(1, Echo, stop.get_token()));
  });
  // One thread at a time: this side serves until the other has called, then calls itself.
  std::stop_source served;
  const auto once = [&served](const std::string& method, const std::string& request) {
    served.request_stop();
    return Echo(method, request);
  };
  EXPECT_TRUE(a->Serve(2, once, served.get_token()));
  EXPECT_EQ(a->Call(1, "s.Echo", "Say", "from a", 5s, {}).value(), "from afrom a");
  EXPECT_EQ(a->Call(1, "s.Echo", "Say", std::string(1'000'000, 'x'), 5s, {})->size(), 2'000'000U);
  const auto unknown = a->Call(1, "s.Echo", "Sing", "", 5s, {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().text, "no method s.Echo/Sing");
  stop.request_stop();
}

TEST(TtrpcTrunkTest, AnswersWhatCameWhileItCalled) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  TtrpcTrunk ours{os::Fd(ends[0])};
  auto theirs = std::make_unique<TtrpcTrunk>(os::Fd(ends[1]));
  std::jthread engine([&] {
    // Calls us first; our answer comes only after our own call has timed out.
    EXPECT_EQ(theirs->Call(1, "s.Echo", "Say", "x", 5s, {}).value(), "xx");
    theirs.reset();
  });
  EXPECT_EQ(ours.Call(2, "s.Other", "Slow", "", 200ms, {}).error().code, Code::kTimeout);
  EXPECT_EQ(ours.Serve(1, Echo, {}).error().code, Code::kUnavailable);
}

TEST(TtrpcTrunkTest, NonsenseAndSilenceEndWithAnError) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  TtrpcTrunk ours{os::Fd(ends[0])};
  const os::Fd theirs(ends[1]);
  EXPECT_EQ(ours.Call(2, "s", "M", "", 50ms, {}).error().code, Code::kTimeout);
  ASSERT_EQ(::write(theirs.get(), "\0\0\0\1\xff\xff\xff\xff", 8), 8);
  EXPECT_EQ(ours.Serve(1, Echo, {}).error().code, Code::kTooLarge);
  EXPECT_EQ(TtrpcTrunk::Connect("/no/such/socket").error().code, Code::kUnavailable);
  std::stop_source stop;
  stop.request_stop();
  auto [a, b] = Pair();
  EXPECT_TRUE(a->Serve(1, Echo, stop.get_token()));
}

}  // namespace
}  // namespace gpuop::net
