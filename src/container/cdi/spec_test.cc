#include "container/cdi/spec.h"

namespace gpuop::container {
namespace {

std::string Spec(std::string_view version, std::string_view edits, std::string_view more = "",
                 std::string_view kind = "vendor.com/class", std::string_view device = "dev") {
  return "cdiVersion: \"" + std::string(version) + "\"\nkind: " + std::string(kind) + "\n" + std::string(more) +
         "devices:\n- name: \"" + std::string(device) + "\"\n  containerEdits: " + std::string(edits) + "\n";
}

constexpr std::string_view kEnv = "{env: [A=b]}";

struct Case {
  const char* name;
  std::string text;
  /// "" when the spec is accepted.
  const char* error;
};

class ReadCdiSpecTest : public testing::TestWithParam<Case> {};

TEST_P(ReadCdiSpecTest, AcceptsOrNamesTheField) {
  const auto spec = ReadCdiSpec("/etc/cdi/x.yaml", GetParam().text);
  const std::string got = spec ? "" : spec.error().text;
  const std::string want = GetParam().error;
  EXPECT_EQ(got, want.empty() ? "" : "/etc/cdi/x.yaml: " + want) << GetParam().text;
  if (spec) {
    EXPECT_EQ(ReadCdiSpec("again", CdiSpecToYaml(*spec)), *spec);
    EXPECT_EQ(ReadCdiSpec("again", CdiSpecToJson(*spec)), *spec);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Versions, ReadCdiSpecTest,
    testing::Values(
        Case{"V010", Spec("0.1.0", kEnv), "cdiVersion: \"0.1.0\" is too old; the oldest that is read is 0.3.0"},
        Case{"V020", Spec("0.2.0", kEnv), "cdiVersion: \"0.2.0\" is too old; the oldest that is read is 0.3.0"},
        Case{"V030", Spec("0.3.0", kEnv), ""}, Case{"V030WithV", Spec("v0.3.0", kEnv), ""},
        Case{"V040", Spec("0.4.0", kEnv), ""}, Case{"V110", Spec("1.1.0", kEnv), ""},
        Case{"V999", Spec("9.9.9", kEnv), "cdiVersion: \"9.9.9\" is not known; the newest is 1.1.0"},
        Case{"MountType", Spec("0.3.0", "{mounts: [{hostPath: /a, containerPath: /b, type: bind}]}"),
             "cdiVersion: 0.3.0 cannot say devices[0].containerEdits.mounts[0].type: at least 0.4.0 is needed"},
        Case{"HostPath", Spec("0.4.0", "{deviceNodes: [{path: /dev/a, hostPath: /dev/b}]}"),
             "cdiVersion: 0.4.0 cannot say devices[0].containerEdits.deviceNodes[0].hostPath: at least 0.5.0 is "
             "needed"},
        Case{"DigitFirst", Spec("0.4.0", kEnv, "", "vendor.com/class", "0"),
             "cdiVersion: 0.4.0 cannot say devices[0].name (no letter first): at least 0.5.0 is needed"},
        Case{"DotInClass", Spec("0.5.0", kEnv, "", "vendor.com/a.b"),
             "cdiVersion: 0.5.0 cannot say kind (a dot in the class): at least 0.6.0 is needed"},
        Case{"Annotation", Spec("0.5.0", kEnv, "annotations: {a: b}\n"),
             "cdiVersion: 0.5.0 cannot say annotations: at least 0.6.0 is needed"},
        Case{"Gids", Spec("0.6.0", "{additionalGids: [5]}"),
             "cdiVersion: 0.6.0 cannot say devices[0].containerEdits.additionalGids: at least 0.7.0 is needed"},
        Case{"SpecLevelGids", Spec("0.6.0", kEnv, "containerEdits: {additionalGids: [5]}\n"),
             "cdiVersion: 0.6.0 cannot say containerEdits.additionalGids: at least 0.7.0 is needed"},
        Case{"NetDevices", Spec("0.8.0", "{netDevices: [{hostInterfaceName: a, name: b}]}"),
             "cdiVersion: 0.8.0 cannot say devices[0].containerEdits.netDevices: at least 1.1.0 is needed"},
        Case{"OldMonitoring", Spec("0.7.0", "{intelRdt: {enableCMT: true}}"), ""},
        Case{"OldMonitoringIsGone", Spec("1.1.0", "{intelRdt: {enableCMT: true}}"),
             "devices[0] \"dev\": containerEdits.intelRdt: enableCMT and enableMBM end with 1.0.0; use "
             "enableMonitoring"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Shape, ReadCdiSpecTest,
    testing::Values(
        Case{"Empty", "", "the file is empty"}, Case{"AList", "[]", "expected an object, got an array"},
        Case{"NoVersion", "kind: a/b\ndevices: []\n", "cdiVersion: required"},
        Case{"NoDevices", "cdiVersion: 0.5.0\nkind: a/b\ndevices: []\n", "devices: must hold at least one device"},
        Case{"Kind", Spec("0.5.0", kEnv, "", "vendor.com"), "kind: \"vendor.com\" is not vendor/class"},
        Case{"Vendor", Spec("0.5.0", kEnv, "", "_v.com/class"), "kind: vendor \"_v.com\" must begin with a letter"},
        Case{"UnknownField", Spec("0.5.0", "{env: [A=b], foo: 1}"), "devices[0].containerEdits.foo: unknown field"},
        Case{"TwiceInOneMap", "cdiVersion: 0.5.0\nkind: a/b\nkind: a/c\ndevices: []\n", "kind: comes twice"},
        Case{"WrongType", Spec("0.5.0", "{deviceNodes: [{path: /dev/a, major: x}]}"),
             "devices[0].containerEdits.deviceNodes[0].major: expected an integer, got a string"},
        Case{"EmptyEdits", Spec("0.5.0", "{}"), "devices[0] \"dev\": containerEdits: must not be empty"},
        Case{"SameName", Spec("0.5.0", kEnv) + "- name: dev\n  containerEdits: {env: [A=b]}\n",
             "devices[1] \"dev\": the name comes twice in this spec"},
        Case{"Env", Spec("0.5.0", "{env: [=b]}"),
             "devices[0] \"dev\": containerEdits.env[0]: \"=b\" is not NAME=value"},
        Case{"EnvWithoutValue", Spec("0.5.0", "{env: [A=, B]}"),
             "devices[0] \"dev\": containerEdits.env[1]: \"B\" is not NAME=value"},
        Case{"NodePath", Spec("0.5.0", "{deviceNodes: [{path: \"\"}]}"),
             "devices[0] \"dev\": containerEdits.deviceNodes[0].path: must not be empty"},
        Case{"NodeType", Spec("0.5.0", "{deviceNodes: [{path: /dev/a, type: x}]}"),
             "devices[0] \"dev\": containerEdits.deviceNodes[0].type: \"x\" is not b, c, u or p"},
        Case{"Permissions", Spec("0.5.0", "{deviceNodes: [{path: /dev/a, permissions: rwx}]}"),
             "devices[0] \"dev\": containerEdits.deviceNodes[0].permissions: \"rwx\" is neither some of \"rwm\" nor "
             "\"none\""},
        Case{"NoPermissions", Spec("0.5.0", "{deviceNodes: [{path: /dev/a, permissions: none}]}"), ""},
        Case{"OctalMode", Spec("0.5.0", "{deviceNodes: [{path: /dev/a, fileMode: 0666}]}"), ""},
        Case{"HookName", Spec("0.5.0", "{hooks: [{hookName: start, path: /h}]}"),
             "devices[0] \"dev\": containerEdits.hooks[0].hookName: \"start\" is not a stage of a container"},
        Case{"HookPath", Spec("0.5.0", "{hooks: [{hookName: prestart, path: \"\"}]}"),
             "devices[0] \"dev\": containerEdits.hooks[0].path: must not be empty"},
        Case{"HookEnv", Spec("0.5.0", "{hooks: [{hookName: prestart, path: /h, env: [x]}]}"),
             "devices[0] \"dev\": containerEdits.hooks[0].env[0]: \"x\" is not NAME=value"},
        Case{"Mount", Spec("0.5.0", kEnv, "containerEdits: {mounts: [{hostPath: /a}]}\n"),
             "containerEdits.mounts[0].containerPath: must not be empty"},
        Case{"NetDeviceTwice",
             Spec("1.1.0", "{netDevices: [{hostInterfaceName: a, name: b}, {hostInterfaceName: c, name: b}]}"),
             "devices[0] \"dev\": containerEdits.netDevices[1].name: \"b\" comes twice"},
        Case{"ClosId", Spec("0.7.0", "{intelRdt: {closID: a/b}}"),
             "devices[0] \"dev\": containerEdits.intelRdt.closID: \"a/b\" is not the name of a folder"},
        Case{"RootClosId", Spec("0.7.0", "{intelRdt: {closID: /}}"), ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(MinimumCdiVersionTest, IsTheLowestThatCanSayIt) {
  CdiSpec spec{"", "vendor.com/class", {}, {{"dev", {}, {.env = {"A=b"}}}}, {}};
  EXPECT_EQ(MinimumCdiVersion(spec).version, "0.3.0");
  EXPECT_EQ(MinimumCdiVersion(spec).field, "");
  spec.devices[0].name = "0";
  EXPECT_EQ(MinimumCdiVersion(spec).version, "0.5.0");
  spec.edits.device_nodes = {{.path = "/dev/a", .host_path = "/dev/b"}};
  EXPECT_EQ(MinimumCdiVersion(spec).version, "0.5.0");
  spec.annotations["a"] = "b";
  EXPECT_EQ(MinimumCdiVersion(spec).version, "0.6.0");
  spec.devices[0].edits.intel_rdt.emplace();
  EXPECT_EQ(MinimumCdiVersion(spec).version, "0.7.0");
  spec.devices[0].edits.net_devices = {{"a", "b"}};
  EXPECT_EQ(MinimumCdiVersion(spec).version, "1.1.0");
  EXPECT_EQ(MinimumCdiVersion(spec).field, "devices[0].containerEdits.netDevices");
}

TEST(CdiSpecToYamlTest, WritesTheBytesThatPeopleExpect) {
  const CdiSpec spec{
      "0.5.0",
      "nvidia.com/gpu",
      {},
      {{"0", {}, {.device_nodes = {{.path = "/dev/nvidia0", .major = 195, .file_mode = 0666, .permissions = "rwm"}}}}},
      {.env = {"NVIDIA_VISIBLE_DEVICES=void"}}};
  EXPECT_EQ(CdiSpecToYaml(spec), R"(---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      major: 195
      fileMode: 438
      permissions: rwm
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
)");
}

}  // namespace
}  // namespace gpuop::container
