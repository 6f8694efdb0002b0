#include "operands/device_plugin/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/device_plugin/testing/profiles.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Resource Gpus(const std::vector<std::string>& uuids, unsigned replicas = 1,
              SharingStrategy sharing = SharingStrategy::kNone) {
  Resource out{.name = "nvidia.com/gpu", .sharing = sharing};
  for (const std::string& uuid : uuids) {
    const std::string n = std::to_string(out.units.size());
    out.units.push_back({.uuid = uuid,
                         .index = n,
                         .gpu = uuid,
                         .nodes = {"/dev/nvidia" + n},
                         .replicas = replicas,
                         .shared = replicas > 1});
  }
  return out;
}

Answer Ask(const Resource& resource, const std::vector<std::string>& ids, const std::vector<std::string>& args,
           const Extras& extras = {}) {
  return MakeAnswer(resource, ids, SettingsOf(args), extras, "fresh");
}

TEST(AnswerTest, ByDefaultAVariableNamesTheDevicesEachOnce) {
  EXPECT_THAT(Ask(Gpus({"foo"}), {"foo"}, {}).env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "foo")));
  EXPECT_THAT(Ask(Gpus({"foo", "bar"}), {"foo", "bar", "foo"}, {}).env,
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "foo,bar")));
  EXPECT_THAT(Ask(Gpus({"u0", "u1"}, 4), {"u0::0", "u0::1", "u1::0"}, {}).env,
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "u0,u1")));
  EXPECT_THAT(Ask(Gpus({"u0"}), {}, {}).env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "")));
}

TEST(AnswerTest, IndicesComeInTheOrderAsked) {
  EXPECT_THAT(Ask(Gpus({"a", "b", "c"}), {"c", "a"}, {"--device-id-strategy=index"}).env,
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "2,0")));
}

TEST(AnswerTest, CdiNamesGoIntoAnAnnotationOrTheCriField) {
  const Answer annotated = Ask(Gpus({"gpu0", "gpu1"}), {"gpu0", "gpu1"}, {"--device-list-strategy=cdi-annotations"});
  EXPECT_THAT(annotated.annotations,
              ElementsAre(Pair("cdi.k8s.io/nvidia-device-plugin_fresh",
                               "k8s.device-plugin.nvidia.com/gpu=gpu0,k8s.device-plugin.nvidia.com/gpu=gpu1")));
  EXPECT_THAT(annotated.env, IsEmpty());
  EXPECT_THAT(
      Ask(Gpus({"g"}), {"g"}, {"--device-list-strategy=cdi-annotations", "--cdi-annotation-prefix=custom.cdi.k8s.io/"})
          .annotations,
      ElementsAre(Pair("custom.cdi.k8s.io/nvidia-device-plugin_fresh", "k8s.device-plugin.nvidia.com/gpu=g")));
  EXPECT_EQ(Ask(Gpus({"g"}), {}, {"--device-list-strategy=cdi-annotations,cdi-cri"}), Answer());
  const Answer cri = Ask(Gpus({"g"}), {"g"}, {"--device-list-strategy=cdi-cri", "--pass-device-specs"},
                         {.control_nodes = {"/dev/nvidiactl"}});
  EXPECT_THAT(cri.cdi_devices, ElementsAre("k8s.device-plugin.nvidia.com/gpu=g"));
  EXPECT_THAT(cri.nodes, IsEmpty());
  EXPECT_THAT(cri.env, IsEmpty());
}

TEST(AnswerTest, VolumeMountsNameDevicesByMountsAndWinTheVariable) {
  const Answer answer = Ask(Gpus({"u0"}), {"u0"}, {"--device-list-strategy=envvar,volume-mounts"});
  EXPECT_THAT(answer.env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "/var/run/nvidia-container-devices")));
  EXPECT_THAT(answer.mounts, ElementsAre(Answer::Mount{"/var/run/nvidia-container-devices/u0", "/dev/null"}));
}

TEST(AnswerTest, DeviceNodesCarryTheDevRootAndComeOnce) {
  const Answer answer =
      Ask(Gpus({"u0", "u1"}), {"u1", "u0", "u1"}, {"--pass-device-specs", "--dev-root=/run/nvidia/driver"},
          {.control_nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm"}});
  EXPECT_THAT(answer.nodes, ElementsAre(Answer::Mount{"/dev/nvidiactl", "/run/nvidia/driver/dev/nvidiactl"},
                                        Answer::Mount{"/dev/nvidia-uvm", "/run/nvidia/driver/dev/nvidia-uvm"},
                                        Answer::Mount{"/dev/nvidia1", "/run/nvidia/driver/dev/nvidia1"},
                                        Answer::Mount{"/dev/nvidia0", "/run/nvidia/driver/dev/nvidia0"}));
  Resource mig{.name = "nvidia.com/mig-1g.5gb"};
  for (const char* uuid : {"MIG-a", "MIG-b"})
    mig.units.push_back({.uuid = uuid,
                         .index = "0:0",
                         .gpu = "GPU-0",
                         .gpu_instance = 1,
                         .nodes = {"/dev/nvidia0", std::string("/dev/nvidia-caps/") + uuid}});
  EXPECT_EQ(Ask(mig, {"MIG-a", "MIG-b"}, {"--pass-device-specs"}).nodes.size(), 3U);
}

TEST(AnswerTest, MpsGivesThePipeAndSharedMemory) {
  const Answer answer =
      MakeAnswer(Gpus({"u0"}, 4, SharingStrategy::kMps), {"u0::2"},
                 SettingsOf({"--mps-root=/run/nvidia/mps", "--device-list-strategy=cdi-cri"}), {}, "");
  EXPECT_THAT(answer.env, ElementsAre(Pair("CUDA_MPS_PIPE_DIRECTORY", "/mps/nvidia.com/gpu/pipe")));
  EXPECT_THAT(answer.mounts,
              ElementsAre(Answer::Mount{"/mps/nvidia.com/gpu/pipe", "/run/nvidia/mps/nvidia.com/gpu/pipe"},
                          Answer::Mount{"/dev/shm", "/run/nvidia/mps/shm"}));
}

TEST(AnswerTest, ImexChannelsFollowTheDevices) {
  const Extras extras{.imex_channels = {0}};
  EXPECT_THAT(Ask(Gpus({"u"}), {"u"}, {"--imex-channel-ids=0"}, extras).env,
              UnorderedElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "u"), Pair("NVIDIA_IMEX_CHANNELS", "0")));
  EXPECT_THAT(
      Ask(Gpus({"u"}), {"u"}, {"--imex-channel-ids=0", "--pass-device-specs"}, extras).nodes,
      ElementsAre(Answer::Mount{"/dev/nvidia0", "/dev/nvidia0"},
                  Answer::Mount{"/dev/nvidia-caps-imex-channels/channel0", "/dev/nvidia-caps-imex-channels/channel0"}));
}

TEST(AnswerTest, WhatTheResourceDoesNotHaveIsRefusedInTheKubeletsWords) {
  const Resource gpus = Gpus({"device0", "device1"});
  EXPECT_TRUE(CheckRequest(gpus, {"device1"}));
  EXPECT_TRUE(CheckRequest(gpus, {}));
  const auto unknown = CheckRequest(gpus, {"device1", "device2"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().text,
            R"(invalid allocation request for "nvidia.com/gpu": invalid request: unknown device: device2)");
  EXPECT_FALSE(CheckRequest(gpus, {"device0::0"}));
  const Resource shared = Gpus({"u0"}, 2);
  EXPECT_TRUE(CheckRequest(shared, {"u0::1"}));
  for (const char* bad : {"u0", "u0::2", "u0::-1", "u0::x", "u0::"}) EXPECT_FALSE(CheckRequest(shared, {bad})) << bad;
}

TEST(AnswerTest, OnlyOneShareWhereTheSettingsSaySo) {
  Resource shared = Gpus({"u0", "u1"}, 2);
  EXPECT_TRUE(CheckRequest(shared, {"u0::0", "u1::0"}));
  shared.one_share_only = true;
  EXPECT_TRUE(CheckRequest(shared, {"u0::0"}));
  const auto two = CheckRequest(shared, {"u0::0", "u1::0"});
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().text,
            "invalid allocation request for \"nvidia.com/gpu\": invalid request: maximum request size for shared "
            "resources is 1; found 2");
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
