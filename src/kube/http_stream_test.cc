#include "kube/http_door_core.h"

namespace gpuop::kube {
namespace {

TEST(LineCutterTest, BoundsADocument) {
  LineCutter cutter(10);
  std::string got;
  const auto take = [&](std::string_view d) { got += "<" + std::string(d) + ">"; };
  EXPECT_TRUE(cutter.Add("0123456789\n01234", take));
  EXPECT_TRUE(cutter.Add("56789", take));
  EXPECT_EQ(got, "<0123456789>");
  EXPECT_EQ(cutter.End().error().text, "the watch ended in the middle of an event, after 10 bytes of it");
  EXPECT_FALSE(cutter.Add("x", take));
}

}  // namespace
}  // namespace gpuop::kube
