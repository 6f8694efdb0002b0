#include "cli/manage_crds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/crd.h"
#include "base/virtual_executor.h"
#include "kube/door_fake.h"
#include "kube/types/cluster.h"

namespace gpuop::cli {
namespace {

const kube::Resource& kCrds = kube::CustomResourceDefinition::kResource;

class ManageCrdsTest : public ::testing::Test {
 protected:
  VirtualExecutor executor{1};
  kube::FakeDoor door{executor};
  kube::Client client{door};
};

TEST_F(ManageCrdsTest, AppliesAllOrThoseNamedAndBringsOldOnesUpToDate) {
  ASSERT_TRUE(ApplyCrds(client, {"clusterpolicies.nvidia.com"}));
  EXPECT_EQ(door.PeekAll(kCrds).size(), 1U);
  ASSERT_TRUE(ApplyCrds(client, {}));
  EXPECT_EQ(door.PeekAll(kCrds).size(), api::Definitions().size());
}

TEST_F(ManageCrdsTest, DeletesWhatIsThere) {
  ASSERT_TRUE(ApplyCrds(client, {"clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com"}));
  ASSERT_TRUE(DeleteCrds(client, {"clusterpolicies.nvidia.com", "gpuclusters.nvidia.com"}));
  ASSERT_EQ(door.PeekAll(kCrds).size(), 1U);
}

TEST_F(ManageCrdsTest, TouchesNothingWhenANameIsNotOurs) {
  const Result<> applied = ApplyCrds(client, {"clusterpolicies.nvidia.com", "pods"});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().text, "no definition is called pods; see gpu-operator crds --names");
  EXPECT_TRUE(door.Requests().empty());
}

TEST_F(ManageCrdsTest, SaysWhichDefinitionWasRefused) {
  door.Intercept(
      [](const kube::ApiRequest&) -> std::optional<Result<kube::ApiResponse>> { return Fail(Code::kForbidden, "no"); });
  const Result<> applied = ApplyCrds(client, {"nvidiadrivers.nvidia.com"});
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().text, ::testing::StartsWith("apply nvidiadrivers.nvidia.com: "));
}

}  // namespace
}  // namespace gpuop::cli
