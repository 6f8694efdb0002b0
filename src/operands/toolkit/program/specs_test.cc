#include "operands/toolkit/program/specs.h"

#include <gmock/gmock.h>

#include "os/fake_fs.h"

namespace gpuop::operands::toolkit {
namespace {

using testing::HasSubstr;

constexpr const char* kOurs = "/var/run/cdi/nvidia.yaml";

struct DeviceSpecTest : testing::Test {
  DeviceSpecTest() {
    options.self = "self";
    options.install_dir = "/usr/local/nvidia";
    options.driver_root = options.dev_root = "/";
    options.driver_root_ctr = options.dev_root_ctr = "/host";
    options.host_root = options.files.host_root = "/host";
    options.cdi_output_dir = "/var/run/cdi";
    options.cdi_vendor = "management.nvidia.com", options.cdi_class = "gpu";
    Say("GPU-1");
  }
  /// What the next generation says.
  void Say(const std::string& name) {
    processes.Install("self", [name](const os::Command&) -> Result<os::Exit> {
      return os::Exit{
          .out =
              R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":")" + name +
              R"(","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0","hostPath":"/host/dev/nvidia0"}]}}],)"
              R"("containerEdits":{"mounts":[{"hostPath":"/host/usr/lib64/libcuda.so.1","containerPath":"/usr/lib64/libcuda.so.1"}]}})"};
    });
  }
  Result<bool> Write() { return WriteDeviceSpec(options, host, processes, {}); }

  Options options;
  os::FakeFs host;
  os::FakeProcesses processes;
};

TEST_F(DeviceSpecTest, NamesPathsAsTheHostHasThemAndIsWrittenOnce) {
  EXPECT_EQ(Write().value(), true);
  const std::string text = host.Read(kOurs).value();
  EXPECT_THAT(text, HasSubstr("hostPath: /usr/lib64/libcuda.so.1"));
  EXPECT_EQ(text.find("/host"), std::string::npos) << text;
  EXPECT_EQ(Write().value(), false);
  const std::vector<std::string> argv = processes.Runs().front().argv;
  EXPECT_THAT(argv, testing::IsSupersetOf({"nvidia-ctk", "cdi", "generate", "--driver-root=/host", "--dev-root=/host",
                                           "--with-dev-of-dev-root",
                                           "--nvidia-cdi-hook-path=/usr/local/nvidia/toolkit/nvidia-cdi-hook"}));
  Say("GPU-2");
  EXPECT_EQ(Write().value(), true);
  EXPECT_THAT(host.Read(kOurs).value(), HasSubstr("GPU-2"));
}

TEST_F(DeviceSpecTest, TheOldOneStaysUntilANewOneIsGood) {
  ASSERT_TRUE(Write());
  const std::string before = host.Read(kOurs).value();
  for (const os::Exit& exit : {os::Exit{.status = 1, .err = "no driver\n"}, os::Exit{.out = "kind: nonsense"}}) {
    processes.Install("self", [exit](const os::Command&) -> Result<os::Exit> { return exit; });
    EXPECT_FALSE(Write());
    EXPECT_EQ(host.Read(kOurs).value(), before);
  }
  processes.Install("self", [](const os::Command&) -> Result<os::Exit> { return Fail(Code::kTimeout, "hangs"); });
  EXPECT_EQ(Write().error().code, Code::kTimeout);
  EXPECT_EQ(host.Read(kOurs).value(), before);
}

TEST_F(DeviceSpecTest, ASpecOfSomebodyElseCountsAndStays) {
  const std::string theirs =
      "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: [{name: x, containerEdits: {env: [A=b]}}]\n";
  for (const std::string& path :
       {std::string(kOurs), std::string("/var/run/cdi/hosts.yaml"), std::string("/host/etc/cdi/h.yaml")}) {
    os::FakeFs other;
    other.Put(path, theirs);
    const auto done = WriteDeviceSpec(options, other, processes, {});
    ASSERT_FALSE(done) << path;
    EXPECT_EQ(done.error().code, Code::kAlreadyExists);
    EXPECT_THAT(done.error().text, HasSubstr(path));
    EXPECT_EQ(other.Read(path).value(), theirs);
  }
}

TEST(SpecSourcesTest, AreSeenThroughTheContainersMounts) {
  Options options;
  options.driver_root_ctr = "/driver-root", options.dev_root_ctr = "/host", options.host_root = "/host";
  options.cdi_output_dir = "/var/run/cdi", options.cdi_vendor = "m.com", options.cdi_class = "gpu";
  const SpecSources sources = WhatSpecsComeFrom(options);
  EXPECT_THAT(sources.nodes,
              testing::IsSupersetOf({"/host/dev/nvidiactl", "/host/dev/nvidia0", "/host/dev/nvidia-caps"}));
  EXPECT_THAT(sources.files,
              testing::IsSupersetOf({"/driver-root/usr/lib64/libcuda.so.1", "/var/run/cdi/nvidia.yaml",
                                     "/var/run/cdi/m.com-gpu.yaml", "/run/nvidia/validations/driver-ready"}));
}

}  // namespace
}  // namespace gpuop::operands::toolkit
