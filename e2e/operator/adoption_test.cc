// A cluster that NVIDIA's operator made is taken over: nothing is deleted and made again, nothing restarts that is
// right as it is, and in the end it is what a fresh installation makes.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/nvidia_objects.h"
#include "e2e/operator/outcome.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr const char* kSets = "/apis/apps/v1/namespaces/gpu-operator/daemonsets";
constexpr const char* kPods = "/api/v1/namespaces/gpu-operator/pods";

/// As a program would that NVIDIA's operator is: by POST, under the name that both operators have.
void Create(Bed& bed, const std::string& collection, const json::object& object) {
  const auto answer = bed.Call("POST", collection + "?fieldManager=gpu-operator", json::serialize(object));
  EXPECT_LT(answer.status, 300) << collection << " " << answer.body;
}

std::string PolicyUid(Bed& bed) { return std::string(data::StringOr(bed.Policy(), "metadata.uid")); }

/// The uid of each object of a list by its name.
std::map<std::string, std::string> Uids(Bed& bed, const std::string& collection, const std::string& begin = {}) {
  std::map<std::string, std::string> out;
  for (const json::value object : bed.List(collection)) {
    const std::string name(data::StringOr(object, "metadata.name"));
    if (name.starts_with(begin)) out[name] = data::StringOr(object, "metadata.uid");
  }
  return out;
}

std::string FreshInstallation() {
  Bed bed({.pools = {GpuPool(2)}});
  bed.Apply(DefaultPolicy());
  EXPECT_TRUE(bed.BecomesReady());
  bed.RunFor(10s);
  return Outcome(bed);
}

/// The labels that NVIDIA's operator sets on a GPU node.
void LabelNodes(Bed& bed) {
  for (const char* node : {"gpu-0", "gpu-1"}) {
    bed.SetLabel(node, "nvidia.com/gpu.present", "true");
    for (const char* operand : {"container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver",
                                "gpu-feature-discovery", "node-status-exporter", "operator-validator"})
      bed.SetLabel(node, std::string("nvidia.com/gpu.deploy.") + operand, "true");
  }
}

/// Deletes the driver's Pods as an upgrade of the driver does: only so are they made anew.
void RestartDrivers(Bed& bed) {
  for (const auto& [name, uid] : Uids(bed, kPods, "nvidia-driver-daemonset"))
    bed.Delete(std::string(kPods) + "/" + name + "?gracePeriodSeconds=0");
}

TEST(AdoptionTest, OfWhatNvidiasOperatorMadeEndsAsAFreshInstallation) {
  const std::string fresh = FreshInstallation();
  Bed bed({.pools = {GpuPool(2)}, .start = false});
  bed.Apply(DefaultPolicy());
  for (const auto& [collection, object] : NvidiaObjects(PolicyUid(bed))) Create(bed, collection, object);
  LabelNodes(bed);
  bed.RunFor(1min);
  const auto sets = Uids(bed, kSets), drivers = Uids(bed, kPods, "nvidia-driver-daemonset");
  ASSERT_EQ(sets.size(), 8U);
  ASSERT_EQ(drivers.size(), 2U);
  bed.StartOperator();
  bed.RunFor(3min);
  EXPECT_EQ(Uids(bed, kSets), sets);
  EXPECT_EQ(Uids(bed, kPods, "nvidia-driver-daemonset"), drivers);
  EXPECT_THAT(bed.Condition("DriverReady"), testing::EndsWith("0 of 2 Pods run the wanted version"));
  for (const json::value set : bed.List(kSets))
    EXPECT_LE(data::IntOr(set, "metadata.generation"), 2) << data::StringOr(set, "metadata.name");
  RestartDrivers(bed);
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_EQ(Outcome(bed), fresh);
  const kube::CallScope calls(bed.door());
  bed.RunFor(5min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

/// What a fresh installation's operands are, as somebody would have made them who writes by POST and labels no states;
/// each by the collection that it goes to.
std::vector<std::pair<std::string, json::object>> SameInMeaning() {
  Bed other({.pools = {GpuPool(2)}});
  other.Apply(DefaultPolicy());
  EXPECT_TRUE(other.BecomesReady());
  std::vector<std::pair<std::string, json::object>> out;
  for (const char* collection :
       {"/apis/node.k8s.io/v1/runtimeclasses", "/api/v1/namespaces/gpu-operator/serviceaccounts",
        "/api/v1/namespaces/gpu-operator/configmaps", kSets}) {
    for (json::object object : other.List(collection)) {
      json::object& meta = object["metadata"].as_object();
      if (!meta.contains("ownerReferences")) continue;
      for (const char* field : {"uid", "resourceVersion", "managedFields", "generation", "creationTimestamp"})
        meta.erase(field);
      object.erase("status");
      object.erase("apiVersion");
      if (json::value* labels = meta.if_contains("labels")) labels->as_object().erase("nvidia.com/gpu-operator.state");
      out.emplace_back(collection, std::move(object));
    }
  }
  return out;
}

TEST(AdoptionTest, OfDaemonSetsThatMeanTheSameRestartsNoPod) {
  auto objects = SameInMeaning();
  Bed bed({.pools = {GpuPool(2)}, .start = false});
  bed.Apply(DefaultPolicy());
  for (auto& [collection, object] : objects) {
    for (json::value& owner : object["metadata"].as_object()["ownerReferences"].as_array())
      owner.as_object()["uid"] = PolicyUid(bed);
    Create(bed, collection, object);
  }
  LabelNodes(bed);
  for (const char* node : {"gpu-0", "gpu-1"})
    for (const auto& [key, value] : {std::pair("os", "ubuntu24.04"), std::pair("runtime", "containerd")})
      bed.SetLabel(node, std::string("nvidia.com/gpu-operator.") + key, value);
  bed.RunFor(1min);
  const auto pods = Uids(bed, kPods);
  ASSERT_GE(pods.size(), 12U);
  bed.StartOperator();
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  bed.RunFor(2min);
  EXPECT_EQ(Uids(bed, kPods), pods);
  for (const json::value set : bed.List(kSets))
    EXPECT_EQ(data::IntOr(set, "metadata.generation"), 1) << data::StringOr(set, "metadata.name");
}

TEST(AdoptionTest, AnUninstallAfterwardsLeavesNothing) {
  Bed bed({.pools = {GpuPool(2)}, .start = false});
  bed.Apply(DefaultPolicy());
  for (const auto& [collection, object] : NvidiaObjects(PolicyUid(bed))) Create(bed, collection, object);
  LabelNodes(bed);
  bed.StartOperator();
  bed.RunFor(1min);
  bed.Delete(kPolicyPath);
  bed.RunFor(2min);
  EXPECT_THAT(bed.DaemonSets(), IsEmpty());
  for (const json::value map : bed.List("/api/v1/namespaces/gpu-operator/configmaps"))
    EXPECT_EQ(data::StringOr(map, "metadata.name"), "kube-root-ca.crt");
  EXPECT_THAT(bed.List("/apis/node.k8s.io/v1/runtimeclasses"), IsEmpty());
  for (const auto& [key, value] : bed.Get("/api/v1/nodes/gpu-0").at("metadata").at("labels").as_object())
    EXPECT_FALSE(std::string_view(key).starts_with("nvidia.com/")) << key;
}

}  // namespace
}  // namespace gpuop::e2e
