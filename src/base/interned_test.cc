#include "base/interned.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace gpuop {
namespace {

TEST(Interned, EqualTextsShareOneCopyThatIsFreedWithItsLastUser) {
  const std::size_t before = Interned::Count();
  {
    const Interned a = "nvidia.com/gpu.present-test";
    const Interned b = std::string("nvidia.com/gpu.present-") + "test";
    EXPECT_EQ(a, b);
    EXPECT_EQ(a.view().data(), b.view().data());
    EXPECT_EQ(Interned::Count(), before + 1);
  }
  EXPECT_EQ(Interned::Count(), before);
}

TEST(Interned, OrdersByText) {
  EXPECT_LT(Interned("a"), Interned("b"));
  EXPECT_TRUE(Interned("").empty());
  EXPECT_EQ(Interned(""), Interned());
}

TEST(Interned, SurvivesThreadsThatMakeAndDropTheSameTexts) {
  const std::size_t before = Interned::Count();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 20'000; ++i) {
          const Interned a = "shared-" + std::to_string(i % 7);
          Interned b = a;
          b = Interned("shared-" + std::to_string(i % 3));
          ASSERT_TRUE(b.view().starts_with("shared-"));
        }
      });
    }
  }
  EXPECT_EQ(Interned::Count(), before);
}

}  // namespace
}  // namespace gpuop
