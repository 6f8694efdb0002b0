#include "container/cdi/inject.h"

#include "data/yaml.h"
#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

data::Json Yaml(std::string_view text) { return data::ParseYaml(text).value(); }

CdiEdits Edits(const std::string& text) {
  const std::string indented = "cdiVersion: 1.1.0\nkind: v.com/c\ndevices: [{name: d, containerEdits: " + text + "}]\n";
  return ReadCdiSpec("test", indented).value().devices[0].edits;
}

struct Case {
  const char* name;
  const char* oci;
  const char* edits;
  /// The OCI specification afterwards, or how the error begins.
  const char* want;
};

class ApplyCdiEditsTest : public testing::TestWithParam<Case> {};

TEST_P(ApplyCdiEditsTest, ChangesWhatItMust) {
  os::FakeFs fs;
  fs.PutDevice("/dev/null", {.major = 1, .minor = 3});
  fs.PutDevice("/dev/disk", {.block = true, .major = 8, .minor = 1}, {.mode = 0660});
  fs.Put("/dev/file", "");
  data::Json oci = Yaml(GetParam().oci);
  const auto done = ApplyCdiEdits(Edits(GetParam().edits), NodesOf(fs), oci);
  if (std::string_view(GetParam().want).starts_with("error: ")) {
    ASSERT_FALSE(done) << data::ToJson(oci);
    EXPECT_EQ("error: " + done.error().text, GetParam().want);
  } else {
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_TRUE(data::JsonEqual(oci, Yaml(GetParam().want))) << data::ToJson(oci);
  }
}

INSTANTIATE_TEST_SUITE_P(Env, ApplyCdiEditsTest,
                         testing::Values(Case{"EmptySpec", "{}", "{env: [FOO=bar]}", "process: {env: [FOO=bar]}"},
                                         Case{"ReplacesInPlace", "process: {env: [A=1, FOO=x, B=2]}", "{env: [FOO=y]}",
                                              "process: {env: [A=1, FOO=y, B=2]}"},
                                         Case{"LastValueWins", "{}", "{env: [FOO=1, FOO=2]}",
                                              "process: {env: [FOO=2]}"},
                                         Case{"NoDoubleStays", "process: {env: [FOO=1, A=1, FOO=2]}", "{env: [FOO=3]}",
                                              "process: {env: [FOO=3, A=1]}"},
                                         Case{"WrongType", "process: {env: 1}", "{env: [FOO=1]}",
                                              "error: config.json: process.env: expected an array, got a number"}),
                         [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Nodes, ApplyCdiEditsTest,
    testing::Values(
        Case{"FilledFromTheHost", "{}", "{deviceNodes: [{path: /dev/null}]}",
             "linux: {devices: [{path: /dev/null, type: c, major: 1, minor: 3, fileMode: 438}], "
             "resources: {devices: [{allow: true, type: c, major: 1, minor: 3, access: rwm}]}}"},
        Case{"AtAnotherPath", "{}", "{deviceNodes: [{path: /dev/x, hostPath: /dev/disk, permissions: r}]}",
             "linux: {devices: [{path: /dev/x, type: b, major: 8, minor: 1, fileMode: 432}], "
             "resources: {devices: [{allow: true, type: b, major: 8, minor: 1, access: r}]}}"},
        Case{"NotOnTheHostButSpecified", "{}",
             "{deviceNodes: [{path: /dev/nil, type: c, major: 1, minor: 3, permissions: none}]}",
             "linux: {devices: [{path: /dev/nil, type: c, major: 1, minor: 3}], "
             "resources: {devices: [{allow: true, type: c, major: 1, minor: 3, access: ''}]}}"},
        Case{"NotOnTheHost", "{}", "{deviceNodes: [{path: /dev/nil}]}",
             "error: device node /dev/nil: look at /dev/nil: /dev/nil: no such file or directory"},
        Case{"NoNode", "{}", "{deviceNodes: [{path: /dev/file}]}",
             "error: device node /dev/file: look at /dev/file: /dev/file: not a device node"},
        Case{"OtherType", "{}", "{deviceNodes: [{path: /dev/null, type: b}]}",
             "error: device node /dev/null: the spec says type b, /dev/null on the host is of type c"},
        Case{"Fifo", "{}", "{deviceNodes: [{path: /dev/pipe, type: p}]}",
             "linux: {devices: [{path: /dev/pipe, type: p}]}"},
        Case{"OwnedByTheUser", "process: {user: {uid: 1000, gid: 100}}", "{deviceNodes: [{path: /dev/null, gid: 5}]}",
             "process: {user: {uid: 1000, gid: 100}}\n"
             "linux: {devices: [{path: /dev/null, type: c, major: 1, minor: 3, fileMode: 438, uid: 1000, gid: 5}], "
             "resources: {devices: [{allow: true, type: c, major: 1, minor: 3, access: rwm}]}}"},
        Case{"SamePathIsReplaced", "linux: {devices: [{path: /dev/null, type: c, major: 9, minor: 9}]}",
             "{deviceNodes: [{path: /dev/null}]}",
             "linux: {devices: [{path: /dev/null, type: c, major: 1, minor: 3, fileMode: 438}], "
             "resources: {devices: [{allow: true, type: c, major: 1, minor: 3, access: rwm}]}}"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Mounts, ApplyCdiEditsTest,
    testing::Values(
        Case{"ParentsFirst", "mounts: [{destination: /dest/path/b}, {destination: /dest/path/a}]",
             "{mounts: [{hostPath: /h, containerPath: /dest/edit}]}",
             "mounts: [{destination: /dest/edit, source: /h}, {destination: /dest/path/b}, {destination: "
             "/dest/path/a}]"},
        Case{"OthersKeepTheirOrder", "mounts: [{destination: /dest/path/c}, {destination: /dest/path/b}]",
             "{mounts: [{hostPath: /h, containerPath: /dest/path/a, options: [ro], type: bind}]}",
             "mounts: [{destination: /dest/path/c}, {destination: /dest/path/b}, {destination: /dest/path/a, source: "
             "/h, options: [ro], type: bind}]"},
        Case{"SameDestinationGoes", "mounts: [{destination: /a, source: /old}, {destination: /b}]",
             "{mounts: [{hostPath: /h, containerPath: /a}]}",
             "mounts: [{destination: /b}, {destination: /a, source: /h}]"},
        Case{"UserNamespace", "linux: {namespaces: [{type: user}], uidMappings: [{containerID: 0}]}",
             "{mounts: [{hostPath: /h, containerPath: /a, type: bind}, {hostPath: /h, containerPath: /b, type: bind, "
             "options: [rbind]}]}",
             "linux: {namespaces: [{type: user}], uidMappings: [{containerID: 0}]}\n"
             "mounts: [{destination: /a, type: bind, source: /h, options: [idmap]}, {destination: /b, type: bind, "
             "source: /h, options: [rbind, ridmap]}]"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Others, ApplyCdiEditsTest,
    testing::Values(
        Case{"Hooks", "hooks: {createContainer: [{path: /first}]}",
             "{hooks: [{hookName: createContainer, path: /h, args: [h, x], env: [A=b], timeout: 3}, {hookName: "
             "poststop, path: /p}]}",
             "hooks: {createContainer: [{path: /first}, {path: /h, args: [h, x], env: [A=b], timeout: 3}], poststop: "
             "[{path: /p}]}"},
        Case{"Rdt", "linux: {intelRdt: {closID: old, l3CacheSchema: x}}",
             "{intelRdt: {closID: new, schemata: [a], enableMonitoring: true}}",
             "linux: {intelRdt: {closID: new, schemata: [a], enableMonitoring: true}}"},
        Case{"NetDevices", "linux: {netDevices: {eth0: {name: old}, eth1: {name: b}}}",
             "{netDevices: [{hostInterfaceName: eth0, name: new}]}",
             "linux: {netDevices: {eth0: {name: new}, eth1: {name: b}}}"},
        Case{"Gids", "process: {user: {additionalGids: [5]}}", "{additionalGids: [0, 5, 7, 7]}",
             "process: {user: {additionalGids: [5, 7]}}"}),
    [](const auto& c) { return std::string(c.param.name); });

class InjectCdiDevicesTest : public testing::Test {
 protected:
  InjectCdiDevicesTest() {
    fs_.Put("/etc/cdi/a.yaml", R"(cdiVersion: 0.5.0
kind: v/c
devices:
- {name: a, containerEdits: {env: [DEVICE=a], hooks: [{hookName: prestart, path: /a}]}}
- {name: b, containerEdits: {env: [DEVICE=b]}}
- {name: sick, containerEdits: {env: [DEVICE=sick], deviceNodes: [{path: /dev/gone}]}}
containerEdits: {env: [DEVICE=spec], hooks: [{hookName: prestart, path: /spec}]}
)");
    cache_.Refresh();
  }
  Result<> Inject(const std::vector<std::string>& devices) {
    return InjectCdiDevices(cache_, devices, NodesOf(fs_), oci_);
  }

  os::FakeFs fs_;
  CdiCache cache_{fs_};
  data::Json oci_ = Yaml("{ociVersion: 1.2.0, future: {kept: 1}}");
};

TEST_F(InjectCdiDevicesTest, EditsOfASpecComeOnceAndBeforeItsDevices) {
  ASSERT_TRUE(Inject({"v/c=a", "v/c=b", "v/c=a"}));
  EXPECT_EQ(data::ToJson(oci_), R"({"ociVersion":"1.2.0","future":{"kept":1},"process":{"env":["DEVICE=b"]},)"
                                R"("hooks":{"prestart":[{"path":"/spec"},{"path":"/a"}]}})");
}

TEST_F(InjectCdiDevicesTest, NamesAllThatDoNotResolveAndChangesNothing) {
  const std::string before = data::ToJson(oci_);
  EXPECT_EQ(Inject({"v/c=a", "v/c=missing", "w/c=0"}).error(),
            (Error{Code::kNotFound, "unresolvable CDI devices v/c=missing, w/c=0"}));
  EXPECT_EQ(data::ToJson(oci_), before);
}

TEST_F(InjectCdiDevicesTest, AnErrorOfOneDeviceNamesItAndChangesNothing) {
  const std::string before = data::ToJson(oci_);
  EXPECT_EQ(Inject({"v/c=a", "v/c=sick"}).error().text,
            "inject v/c=sick of /etc/cdi/a.yaml: device node /dev/gone: look at /dev/gone: /dev/gone: no such file or "
            "directory");
  EXPECT_EQ(data::ToJson(oci_), before);
}

}  // namespace
}  // namespace gpuop::container
