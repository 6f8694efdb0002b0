#include "os/kernel_events.h"

#include <gtest/gtest.h>

namespace gpuop::os {
namespace {

using namespace std::string_literals;

TEST(KernelEventTest, AMessageSaysWhatHappenedToWhat) {
  const auto event =
      ParseKernelEvent("add@/module/nvidia\0ACTION=add\0DEVPATH=/module/nvidia\0SUBSYSTEM=module\0SEQNUM=7\0"s);
  ASSERT_TRUE(event);
  EXPECT_EQ(*event, (KernelEvent{"add", "/module/nvidia", "module"}));
}

TEST(KernelEventTest, WhatIsNoMessageOfTheKernelIsRefused) {
  for (const std::string& text : {""s, "libudev\0\xfe\xed"s, "add@/module/x\0ACTION=add\0"s, "SUBSYSTEM=pci\0"s})
    EXPECT_FALSE(ParseKernelEvent(text)) << text;
}

TEST(KernelEventTest, ListeningEndsWhenItIsDestroyed) {
  auto events = KernelEvents::Start([](const KernelEvent&) {});
  if (!events) {
    EXPECT_EQ(events.error().code, Code::kUnsupported);
    return;
  }
  events->reset();
}

}  // namespace
}  // namespace gpuop::os
