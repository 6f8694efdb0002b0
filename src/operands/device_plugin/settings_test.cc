#include "operands/device_plugin/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/device_plugin/testing/profiles.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::ElementsAre;

TEST(DevicePluginSettingsTest, FlagsCountBeforeVariablesBeforeTheFile) {
  const char* file = R"(
flags:
  migStrategy: single
  failOnInitError: false
  gdsEnabled: true
  plugin:
    deviceListStrategy: [envvar, cdi-annotations]
    deviceIDStrategy: index
    passDeviceSpecs: true
    sharedDevicesAllocationPolicy: packed
    nvidiaCTKPath: /x/nvidia-ctk
imex: {channelIDs: [0], required: true}
)";
  const auto plain = *TrySettings({}, file);
  EXPECT_EQ(plain.mig, MigStrategy::kSingle);
  EXPECT_FALSE(plain.fail_on_init_error);
  EXPECT_TRUE(plain.gds);
  EXPECT_THAT(plain.lists, ElementsAre(ListStrategy::kEnvvar, ListStrategy::kCdiAnnotations));
  EXPECT_EQ(plain.ids, IdStrategy::kIndex);
  EXPECT_TRUE(plain.pass_device_specs);
  EXPECT_EQ(plain.spread, Spread::kPacked);
  EXPECT_EQ(plain.cdi_hook, "/x/nvidia-ctk");
  EXPECT_THAT(plain.imex_channels, ElementsAre(0U));
  EXPECT_TRUE(plain.imex_required);
  EXPECT_EQ(TrySettings({}, file, {{"MIG_STRATEGY", "mixed"}})->mig, MigStrategy::kMixed);
  EXPECT_EQ(TrySettings({"--mig-strategy=none"}, file, {{"MIG_STRATEGY", "mixed"}})->mig, MigStrategy::kNone);
  EXPECT_TRUE(TrySettings({"--fail-on-init-error"}, file)->fail_on_init_error);
  EXPECT_FALSE(TrySettings({}, file, {{"GDS_ENABLED", "false"}})->gds);
  EXPECT_THAT(TrySettings({"--device-list-strategy", "cdi-cri"}, file)->lists, ElementsAre(ListStrategy::kCdiCri));
}

TEST(DevicePluginSettingsTest, DefaultsAndOtherNames) {
  const auto plain = *TrySettings({});
  EXPECT_EQ(plain.dev_root, "/");
  EXPECT_EQ(plain.container_driver_root, "/driver-root");
  EXPECT_EQ(plain.kubelet_socket, "/var/lib/kubelet/device-plugins/kubelet.sock");
  EXPECT_THAT(plain.lists, ElementsAre(ListStrategy::kEnvvar));
  EXPECT_EQ(TrySettings({"--nvidia-driver-root=/run/nvidia/driver"})->dev_root, "/run/nvidia/driver");
  EXPECT_EQ(TrySettings({"--nvidia-dev-root=/d", "--container-driver-root=/c"})->container_driver_root, "/c");
  EXPECT_EQ(TrySettings({}, nullptr, {{"NVIDIA_CTK_PATH", "/a"}})->cdi_hook, "/a");
  EXPECT_EQ(TrySettings({}, nullptr, {{"NVIDIA_CTK_PATH", "/a"}, {"NVIDIA_CDI_HOOK_PATH", "/b"}})->cdi_hook, "/b");
  EXPECT_EQ(TrySettings({}, nullptr, {{"KUBELET_SOCKET", ""}})->kubelet_socket, "");
  EXPECT_EQ(TrySettings({"--kubelet-socket="})->kubelet_socket, "");
  EXPECT_EQ(TrySettings({}, "imex: {channelIDs: null}")->imex_channels.size(), 0U);
  EXPECT_EQ(TrySettings({}, "imex: {channelIDs: []}")->imex_channels.size(), 0U);
}

struct Broken {
  std::vector<std::string> args;
  const char* file;
  const char* error;
};

// Each says what is wrong, where, and what would be right.
const Broken kBroken[] = {
    {{"--bogus"}, nullptr, "unknown flag \"--bogus\""},
    {{"extra"}, nullptr, "unexpected argument \"extra\""},
    {{"--mig-strategy"}, nullptr, "flag --mig-strategy needs a value"},
    {{"--mig-strategy=all"}, nullptr, "--mig-strategy: \"all\" is none of none, single, mixed"},
    {{"--mig-strategy="}, nullptr, "--mig-strategy: \"\" is none of none, single, mixed"},
    {{"--device-id-strategy=name"}, nullptr, "--device-id-strategy: \"name\" is none of uuid, index"},
    {{"--device-list-strategy=envvar,cdi"},
     nullptr,
     "--device-list-strategy: \"cdi\" is none of envvar, volume-mounts, cdi-annotations, cdi-cri"},
    {{"--device-list-strategy="}, nullptr, "--device-list-strategy: names no strategy"},
    {{"--shared-devices-allocation-policy=random"},
     nullptr,
     "--shared-devices-allocation-policy: \"random\" is none of distributed, packed"},
    {{"--device-discovery-strategy=vfio"},
     nullptr,
     "--device-discovery-strategy: only auto and nvml are served, not \"vfio\""},
    {{"--imex-channel-ids=2"}, nullptr, "--imex-channel-ids: only channel 0, or none, can be given to containers"},
    {{"--imex-channel-ids=0,1"}, nullptr, "--imex-channel-ids: only channel 0, or none, can be given to containers"},
    {{"--imex-channel-ids=x"}, nullptr, "--imex-channel-ids: \"x\" is no number"},
    {{"--gds-enabled=maybe"}, nullptr, "flag --gds-enabled=maybe: not a boolean"},
    {{"--driver-root=run/nvidia"}, nullptr, "--driver-root: \"run/nvidia\" is not an absolute path"},
    {{"--dev-root=dev"}, nullptr, "--dev-root: \"dev\" is not an absolute path"},
    {{"--driver-root-ctr-path=x"}, nullptr, "--driver-root-ctr-path: \"x\" is not an absolute path"},
    {{"--gpu-condition"}, nullptr, "--node-name (NODE_NAME) must be given for --gpu-condition and the readiness gate"},
    {{"--readiness-taint=true"},
     nullptr,
     "--node-name (NODE_NAME) must be given for --gpu-condition and the readiness gate"},
    {{"--kubelet-socket=kubelet.sock"}, nullptr, "--kubelet-socket: \"kubelet.sock\" is not an absolute path"},
    {{}, "version: v2", "c.yaml: version: \"v2\" is unknown; only v1 is"},
    {{}, "version: 1", "c.yaml: version: expected a string, got a number"},
    {{}, "[]", "c.yaml: expected an object, got an array"},
    {{}, "bogus: 1", "c.yaml: bogus: unknown field"},
    {{}, "migStrategy: single", "c.yaml: migStrategy: unknown field; it belongs to flags.migStrategy"},
    {{}, "timeSlicing: {}", "c.yaml: timeSlicing: unknown field; it belongs to sharing.timeSlicing"},
    {{}, "replicas: 4", "c.yaml: replicas: unknown field; it belongs to sharing.timeSlicing.resources[].replicas"},
    {{}, "xids: []", "c.yaml: xids: unknown field; it belongs to health.xids"},
    {{}, "flags: {migStrategy: bogus}", "c.yaml: flags.migStrategy: \"bogus\" is none of none, single, mixed"},
    {{}, "flags: {migStrategy: [single]}", "c.yaml: flags.migStrategy: expected a string, got an array"},
    {{},
     "flags: {passDeviceSpecs: true}",
     "c.yaml: flags.passDeviceSpecs: unknown field; it belongs to flags.plugin.passDeviceSpecs"},
    {{},
     "flags: {deviceListStrategy: envvar}",
     "c.yaml: flags.deviceListStrategy: unknown field; it belongs to flags.plugin.deviceListStrategy"},
    {{},
     "flags: {sharedDevicesAllocationPolicy: packed}",
     "c.yaml: flags.sharedDevicesAllocationPolicy: unknown field; it belongs to "
     "flags.plugin.sharedDevicesAllocationPolicy"},
    {{}, "flags: {failOnInitError: maybe}", "c.yaml: flags.failOnInitError: expected a boolean, got a string"},
    {{}, "flags: {nvidiaDriverRoot: x}", "--driver-root: \"x\" is not an absolute path"},
    {{},
     "flags: {deviceDiscoveryStrategy: vfio}",
     "--device-discovery-strategy: only auto and nvml are served, not \"vfio\""},
    {{}, "flags: {plugin: {migStrategy: none}}", "c.yaml: flags.plugin.migStrategy: unknown field"},
    {{},
     "flags: {plugin: {deviceListStrategy: bogus}}",
     "c.yaml: flags.plugin.deviceListStrategy: \"bogus\" is none of envvar, volume-mounts, cdi-annotations, cdi-cri"},
    {{},
     "flags: {plugin: {deviceListStrategy: [envvar, 3]}}",
     "c.yaml: flags.plugin.deviceListStrategy: expected a list of strings, got one holding a number"},
    {{}, "flags: {plugin: {deviceListStrategy: []}}", "c.yaml: flags.plugin.deviceListStrategy: names no strategy"},
    {{},
     "flags: {plugin: {deviceListStrategy: 5}}",
     "c.yaml: flags.plugin.deviceListStrategy: expected a string or a list of strings, got a number"},
    {{},
     "flags: {plugin: {deviceIDStrategy: pci}}",
     "c.yaml: flags.plugin.deviceIDStrategy: \"pci\" is none of uuid, index"},
    {{},
     "flags: {plugin: {sharedDevicesAllocationPolicy: ''}}",
     "c.yaml: flags.plugin.sharedDevicesAllocationPolicy: \"\" is none of distributed, packed"},
    {{},
     "flags: {plugin: {passDeviceSpecs: yes please}}",
     "c.yaml: flags.plugin.passDeviceSpecs: expected a boolean, got a string"},
    {{}, "flags: {plugin: []}", "c.yaml: flags.plugin: expected an object, got an array"},
    {{}, "imex: {channelIDs: [2]}", "c.yaml: imex.channelIDs: only channel 0, or none, can be given to containers"},
    {{}, "imex: {channelIDs: 0}", "c.yaml: imex.channelIDs: expected an array, got a number"},
    {{}, "imex: {channels: [0]}", "c.yaml: imex.channels: unknown field"},
    {{}, "resources: {gpus: [{pattern: '*'}]}", "c.yaml: resources.gpus[0].name: must be given"},
    {{}, "resources: {gpus: [{name: gpu}]}", "c.yaml: resources.gpus[0].pattern: must be given"},
    {{},
     "resources: {mig: [{pattern: '*', name: 'a b'}]}",
     "c.yaml: resources.mig[0].name: \"nvidia.com/a b\" is no resource name: at most 63 characters, and a DNS name "
     "after nvidia.com/"},
    {{}, "resources: {cpus: []}", "c.yaml: resources.cpus: unknown field"},
    {{}, "sharing: {timeSlicing: {}}", "c.yaml: sharing.timeSlicing.resources: must name at least one resource"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].replicas: must be 1 or more, is 0"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: -4}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].replicas: must be 1 or more, is -4"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: two}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].replicas: expected an integer, got a string"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: amd.com/gpu, replicas: 2}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].name: \"nvidia.com/amd.com/gpu\" is no resource name: at most 63 "
     "characters, and a DNS name after nvidia.com/"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, rename: 'UP'}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].rename: \"nvidia.com/UP\" is no resource name: at most 63 characters, "
     "and a DNS name after nvidia.com/"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: not-all}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].devices: expected \"all\", a positive count, or a list of devices, got "
     "another text"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: ''}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].devices: expected \"all\", a positive count, or a list of devices, got "
     "another text"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: [-1]}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].devices: expected \"all\", a positive count, or a list of devices, got "
     "a list holding a number"},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: ['-1']}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].devices: expected \"all\", a positive count, or a list of devices, got "
     "a list holding \"-1\""},
    {{},
     "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: [MIG-UUID]}]}}",
     "c.yaml: sharing.timeSlicing.resources[0].devices: expected \"all\", a positive count, or a list of devices, got "
     "a list holding \"MIG-UUID\""},
    {{},
     "sharing: {timeSlicing: {replicas: 4}}",
     "c.yaml: sharing.timeSlicing.replicas: unknown field; it belongs to sharing.timeSlicing.resources[].replicas"},
    {{},
     "sharing: {failRequestsGreaterThanOne: true}",
     "c.yaml: sharing.failRequestsGreaterThanOne: unknown field; it belongs to "
     "sharing.timeSlicing.failRequestsGreaterThanOne"},
    {{},
     "sharing: {mps: {resources: [{name: gpu, replicas: 4}]}}",
     "sharing.mps: needs --mps-root (MPS_ROOT), the MPS daemon's folder on the host"},
    {{"--mig-strategy=mixed", "--mps-root=/m"},
     "sharing: {mps: {resources: [{name: gpu, replicas: 4}]}}",
     "sharing.mps: MPS does not go together with --mig-strategy=mixed"},
    {{}, "health: {quiet: soon}", "c.yaml: health.quiet: time: invalid duration \"soon\""},
    {{}, "health: {quiet: 0s}", "c.yaml: health.quiet: must be longer than nothing"},
    {{}, "health: {xids: [{effect: ignore}]}", "c.yaml: health.xids[0].xid: must be given, 0 or more"},
    {{}, "health: {xids: [{xid: -3}]}", "c.yaml: health.xids[0].xid: must be given, 0 or more"},
    {{}, "health: {xids: [{xid: 79}, {xid: 79}]}", "c.yaml: health.xids[1].xid: is in the list twice"},
    {{},
     "health: {xids: [{xid: 79, effect: explode}]}",
     "c.yaml: health.xids[0].effect: expected one of \"ignore\", \"unhealthy\", got \"explode\""},
    {{},
     "health: {xids: [{xid: 79, recovery: sometimes}]}",
     "c.yaml: health.xids[0].recovery: expected one of \"reset\", \"quiet\", \"never\", got \"sometimes\""},
    {{}, "health: {ignore: [79]}", "c.yaml: health.ignore: unknown field"},
};

TEST(DevicePluginSettingsTest, MistakesSayWhatIsWrongAndWhere) {
  EXPECT_GE(std::size(kBroken), 60U);
  for (const Broken& broken : kBroken) {
    const auto settings = TrySettings(broken.args, broken.file);
    ASSERT_FALSE(settings) << broken.error;
    EXPECT_EQ(settings.error().text, broken.error);
  }
}

TEST(DevicePluginSettingsTest, WhatGoesIntoDevicesOfASharedResource) {
  for (const char* devices :
       {"all", "2", "[0]", "['0']", "['0:0']", "[GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c]",
        "[MIG-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c]", "[MIG-GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c/0/0]",
        "[0, '1:2', GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c]"}) {
    const std::string file =
        std::string("sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: ") + devices + "}]}}";
    EXPECT_TRUE(TrySettings({}, file.c_str())) << devices;
  }
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
