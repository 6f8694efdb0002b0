#include "cli/cleanup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "base/virtual_executor.h"
#include "data/yaml.h"
#include "kube/door_fake.h"

namespace gpuop::cli {
namespace {

boost::json::object Object(const char* yaml) { return data::ParseYaml(yaml)->as_object(); }

class CleanupTest : public ::testing::Test {
 protected:
  VirtualExecutor executor{1};
  kube::FakeDoor door{executor};
  kube::Client client{door};
};

TEST_F(CleanupTest, DeletesTheReleasesPoliciesAndCountsThoseOfOthers) {
  door.Put(api::ClusterPolicy::kResource, Object("metadata: {name: cluster-policy, labels: {release: gpu}}"));
  door.Put(api::NvidiaDriver::kResource, Object("metadata: {name: default, labels: {release: gpu}}"));
  door.Put(api::NvidiaDriver::kResource, Object("metadata: {name: mine}"));
  EXPECT_EQ(DeletePolicies(client, "release=gpu").value(), 1U);
  EXPECT_TRUE(door.PeekAll(api::ClusterPolicy::kResource).empty());
  ASSERT_EQ(door.PeekAll(api::NvidiaDriver::kResource).size(), 1U);
}

TEST_F(CleanupTest, EndsWhenTheLastOperandAndTheLastLabelAreGone) {
  const auto daemonset = kube::Ref<kube::DaemonSet>("gpu", "nvidia-dcgm");
  door.Put(
      daemonset.resource,
      Object("metadata: {name: nvidia-dcgm, namespace: gpu, labels: {nvidia.com/gpu-operator.state: state-dcgm}}"));
  door.Put(daemonset.resource, Object("metadata: {name: foreign, namespace: gpu}"));
  door.Put(kube::Node::kResource, Object("metadata: {name: n1, labels: {nvidia.com/gpu.present: 'true'}}"));
  bool gone = false;
  Leftovers leftovers(executor, client, "gpu", [&] { gone = true; });
  executor.RunFor(std::chrono::seconds(1));
  EXPECT_FALSE(gone);
  EXPECT_EQ(leftovers.Text(), "1 DaemonSets, 1 nodes with labels");
  door.Remove(daemonset);
  executor.RunFor(std::chrono::seconds(1));
  EXPECT_FALSE(gone);
  door.Put(kube::Node::kResource, Object("metadata: {name: n1}"));
  executor.RunFor(std::chrono::seconds(1));
  EXPECT_TRUE(gone);
}

TEST_F(CleanupTest, IsDoneAtOnceWhereNothingIs) {
  bool gone = false;
  const Leftovers leftovers(executor, client, "gpu", [&] { gone = true; });
  executor.RunFor(std::chrono::seconds(1));
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace gpuop::cli
