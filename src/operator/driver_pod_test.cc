#include "operator/driver_pod.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace gpuop::op {
namespace {

namespace json = boost::json;

std::string MissingImage(const char* list, const char* reason) {
  const json::object waits{{"image", "nvcr.io/nvidia/driver:550"}, {"state", {{"waiting", {{"reason", reason}}}}}};
  const json::object runs{{"image", "other"}, {"state", {{"running", json::object()}}}};
  const auto pod = DriverPod::FromJson({{"metadata", {{"name", "p"}}}, {"status", {{list, json::array{runs, waits}}}}});
  return std::string(pod.value().missing_image.view());
}

TEST(DriverPodTest, NamesTheImageThatCannotBePulled) {
  EXPECT_EQ(MissingImage("containerStatuses", "ImagePullBackOff"), "nvcr.io/nvidia/driver:550");
  EXPECT_EQ(MissingImage("initContainerStatuses", "ErrImagePull"), "nvcr.io/nvidia/driver:550");
  EXPECT_EQ(MissingImage("containerStatuses", "CrashLoopBackOff"), "");
}

/// Only then is it the driver that somebody must publish.
TEST(DriverPodTest, TellsTheDriversImageFromThoseThatRunBeforeIt) {
  const auto pod = [](const char* before, const char* driver) {
    const auto list = [](const char* image, const char* reason) {
      return json::array{{{"image", image}, {"state", {{"waiting", {{"reason", reason}}}}}}};
    };
    return DriverPod::FromJson({{"metadata", {{"name", "p"}}},
                                {"status",
                                 {{"initContainerStatuses", list("manager:v1", before)},
                                  {"containerStatuses", list("driver:550", driver)}}}})
        .value();
  };
  EXPECT_EQ(pod("ErrImagePull", "PodInitializing").missing_image, "manager:v1");
  EXPECT_FALSE(pod("ErrImagePull", "PodInitializing").missing_is_driver);
  EXPECT_EQ(pod("Completed", "ErrImagePull").missing_image, "driver:550");
  EXPECT_TRUE(pod("Completed", "ErrImagePull").missing_is_driver);
  EXPECT_FALSE(pod("Completed", "PodInitializing").missing_is_driver);
}

}  // namespace
}  // namespace gpuop::op
