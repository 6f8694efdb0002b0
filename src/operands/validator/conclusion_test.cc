// What the node offers, and what all of it comes to.

#include "operands/validator/conclusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/validator/resources.h"

namespace gpuop::operands::validator {
namespace {

using testing::HasSubstr;
using enum api::ReasonCode;

gpu::XidMessage SomeXid(unsigned code) {
  gpu::XidMessage out;
  out.pci = "0000:07:00";
  out.code = code;
  return out;
}

kube::Node NodeWith(kube::StringMap capacity, kube::StringMap allocatable, kube::StringMap labels = {}) {
  kube::Node node;
  node.meta.name = "n1";
  node.meta.labels = std::move(labels);
  node.status.capacity = std::move(capacity);
  node.status.allocatable = std::move(allocatable);
  return node;
}

std::string ReasonOf(const std::optional<api::Finding>& finding) {
  return finding ? std::string(api::Find(finding->code).name) : "right";
}

TEST(NodeResourcesTest, OnlyTheDevicePluginsCount) {
  const auto resources = GpuResources(NodeWith({{"cpu", "8"},
                                                {"nvidia.com/gpu", "2"},
                                                {"nvidia.com/gpu-memory", "80"},
                                                {"nvidia.com/mig-1g.5gb", "7"},
                                                {"nvidia.com/gpu.shared", "0"}},
                                               {{"nvidia.com/gpu", "2"}, {"nvidia.com/mig-1g.5gb", "7"}}));
  EXPECT_EQ(Describe(resources), "nvidia.com/mig-1g.5gb: 7, nvidia.com/gpu: 2");
}

TEST(NodeResourcesTest, WhatIsWrongIsNamed) {
  const std::vector<GpuState> two(2);
  std::vector<GpuState> mig(2);
  mig[0].mig = true;
  const auto check = [](kube::StringMap capacity, kube::StringMap allocatable, const std::vector<GpuState>& gpus,
                        kube::StringMap labels = {}) {
    return ReasonOf(CheckResources(NodeWith(std::move(capacity), std::move(allocatable), std::move(labels)), gpus));
  };
  EXPECT_EQ(check({}, {}, two), "ResourceMissing");
  EXPECT_EQ(check({{"nvidia.com/gpu", "2"}}, {{"nvidia.com/gpu", "2"}}, two), "right");
  EXPECT_EQ(check({{"nvidia.com/gpu", "2"}}, {{"nvidia.com/gpu", "1"}}, two), "DeviceUnhealthy");
  EXPECT_EQ(check({{"nvidia.com/gpu", "1"}}, {{"nvidia.com/gpu", "1"}}, two), "ResourceCountWrong");
  EXPECT_EQ(check({{"nvidia.com/gpu.shared", "8"}}, {{"nvidia.com/gpu.shared", "8"}}, two), "right");
  EXPECT_EQ(check({{"nvidia.com/gpu", "7"}}, {{"nvidia.com/gpu", "7"}}, mig), "right");
  EXPECT_EQ(check({{"nvidia.com/gpu", "1"}}, {{"nvidia.com/gpu", "1"}}, {}), "right");
  EXPECT_EQ(
      check({{"nvidia.com/gpu", "2"}}, {{"nvidia.com/gpu", "2"}}, two, {{"nvidia.com/mig.config.state", "failed"}}),
      "MIGProfileWrong");
}

TEST(ConclusionTest, TheFirstBrokenLinkIsTold) {
  Evidence e;
  e.driver.driver = {.driver_version = "550.163.01", .gpus = {{.product = "A"}, {.product = "A"}}};
  e.platform = "DGX";
  e.offered = {{"nvidia.com/gpu", 2, 2}};
  EXPECT_EQ(Conclude(e).evidence, "driver 550.163.01 of the host (DGX); 2 x A; nvidia.com/gpu: 2");
  e.cuda = api::Finding{kCudaFailed, "c"};
  EXPECT_EQ(Conclude(e).code, kCudaFailed);
  e.resources = api::Finding{kDeviceUnhealthy, "r"};
  EXPECT_EQ(Conclude(e).code, kDeviceUnhealthy);
  e.cdi = api::Finding{kCdiSpecStale, "s"};
  EXPECT_EQ(Conclude(e).code, kCdiSpecStale);
  e.driver.findings = {{kPowerBrake, "p"}, {kGpuLost, "l"}};
  EXPECT_EQ(Conclude(e).code, kGpuLost);
}

TEST(ConclusionTest, AGpuThatThePluginTookOutForAnXidIsTheXidsWork) {
  Evidence e;
  e.xids = {SomeXid(79)};
  e.resources = api::Finding{kDeviceUnhealthy, "nvidia.com/gpu: 1 of 2 can be allocated"};
  EXPECT_EQ(Conclude(e).code, kXidFatal);
  EXPECT_THAT(Conclude(e).evidence, testing::AllOf(HasSubstr("0000:07:00: Xid 79"), HasSubstr("1 of 2")));
}

TEST(ConclusionTest, AGpuThatThePluginTookOutForItsHealthIsTheHealthsWork) {
  Evidence e;
  e.driver.findings = {{kPowerBrake, "clocks"}, {kRowRemapPending, "GPU 3: row remapping is pending"}};
  e.resources = api::Finding{kDeviceUnhealthy, "nvidia.com/gpu: 7 of 8 can be allocated"};
  EXPECT_EQ(Conclude(e).code, kPowerBrake) << "two warnings of one link: the first that was found";
  e.driver.findings.erase(e.driver.findings.begin());
  EXPECT_EQ(Conclude(e).code, kRowRemapPending);
  EXPECT_THAT(Conclude(e).evidence, testing::AllOf(HasSubstr("GPU 3"), HasSubstr("7 of 8")));
  e.resources->code = kResourceMissing;
  EXPECT_EQ(Conclude(e).code, kResourceMissing) << "a node that offers nothing has another fault";
}

TEST(ConclusionTest, AnXidThatEverythingSurvivedIsNoNewsAnyMore) {
  Evidence e;
  e.xids = {SomeXid(79)};
  EXPECT_EQ(Conclude(e).code, kProved);
  e.xids_survived = false;
  EXPECT_EQ(Conclude(e).code, kXidReported);
  EXPECT_TRUE(IsFatal(SomeXid(79)));
  EXPECT_FALSE(IsFatal(SomeXid(13)));
}

}  // namespace
}  // namespace gpuop::operands::validator
