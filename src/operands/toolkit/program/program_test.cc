#include <sys/stat.h>
#include <unistd.h>

#include "kube/kubelet/cri.pb.h"
#include "operands/toolkit/program/engine.h"
#include "operands/toolkit/program/install.h"
#include "operands/toolkit/program/options.h"
#include "os/real_fs.h"
#include "os/testing/memory_folder.h"

namespace gpuop::operands::toolkit {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Options> Read(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  return ReadOptions(arguments, [&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(ToolkitOptionsTest, TakeWhatTheOperatorsDaemonSetSays) {
  const auto o = Read({}, {{"ROOT", "/usr/local/nvidia"},
                           {"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND", "management.nvidia.com/gpu"},
                           {"RUNTIME", "containerd"},
                           {"RUNTIME_CONFIG", "/runtime/config-dir/config.toml"},
                           {"RUNTIME_DROP_IN_CONFIG", "/runtime/config-dir.d/99-nvidia.toml"},
                           {"RUNTIME_DROP_IN_CONFIG_HOST_PATH", "/etc/containerd/conf.d/99-nvidia.toml"},
                           {"RUNTIME_SOCKET", "/runtime/sock-dir/containerd.sock"},
                           {"CONTAINERD_RUNTIME_CLASS", "nvidia"},
                           {"CDI_ENABLED", "true"},
                           {"NVIDIA_RUNTIME_SET_AS_DEFAULT", "false"},
                           {"NVIDIA_CONTAINER_RUNTIME_MODE", "cdi"},
                           {"NVIDIA_DRIVER_ROOT", "/run/nvidia/driver"},
                           {"DRIVER_ROOT_CTR_PATH", "/driver-root"},
                           {"NODE_NAME", "dgx-1"}});
  ASSERT_TRUE(o) << o.error().text;
  EXPECT_EQ(o->node, "dgx-1");
  EXPECT_EQ(o->engine, container::EngineKind::kContainerd);
  EXPECT_FALSE(o->wish.set_as_default);
  EXPECT_TRUE(o->wish.cdi) << "as cdi itself unless said otherwise";
  EXPECT_EQ(o->wish.runtimes.size(), 3U);
  EXPECT_EQ(o->wish.runtimes[1].binary, "/usr/local/nvidia/toolkit/nvidia-container-runtime.cdi");
  EXPECT_EQ(o->files.drop_in_for_engine, "/etc/containerd/conf.d/99-nvidia.toml");
  EXPECT_EQ(o->files.host_root, "/host");
  EXPECT_EQ(o->dev_root_ctr, "/driver-root");
  EXPECT_EQ(o->restart_mode, "signal");
}

TEST(ToolkitOptionsTest, FlagsGoBeforeVariablesAndNamesReplaceVariants) {
  const auto o =
      Read({"-r", "crio", "--nvidia-runtime-name=nvidia-cdi", "--set-as-default=false"}, {{"RUNTIME", "docker"}});
  ASSERT_TRUE(o) << o.error().text;
  EXPECT_EQ(o->engine, container::EngineKind::kCrio);
  EXPECT_EQ(o->restart_mode, "systemd");
  std::vector<std::string> names;
  for (const auto& runtime : o->wish.runtimes) names.push_back(runtime.name);
  EXPECT_EQ(names, (std::vector<std::string>{"nvidia-cdi", "nvidia", "nvidia-legacy"}));
}

TEST(ToolkitOptionsTest, CrioByHookGetsTheRuntimesForEveryContainer) {
  const auto o = Read({"-r", "crio", "--set-as-default=false"}, {{"CRIO_CONFIG_MODE", "hook"}});
  ASSERT_TRUE(o) << o.error().text;
  EXPECT_TRUE(o->crio_by_hook);
  EXPECT_TRUE(o->wish.set_as_default);
  EXPECT_EQ(o->crio_hook_file, "/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json");
  EXPECT_FALSE(Read({"-r", "crio"})->crio_by_hook);
  EXPECT_EQ(Read({"-r", "containerd"}, {{"CRIO_CONFIG_MODE", "hook"}})->crio_hook_file, "");
}

TEST(ToolkitOptionsTest, SourcesMayNameAFileWithBlanks) {
  EXPECT_EQ(Read({"--runtime=containerd", "--config-source= command , file = /x.toml "})->files.config, "/x.toml");
}

TEST(ToolkitOptionsTest, RefuseWhatCannotBe) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--runtime=podman"},
                                             {"--runtime=cri-o", "--restart-mode=signal"},
                                             {"--restart-mode=maybe"},
                                             {"--pid-file=/run/x.pid"},
                                             {"--driver-root=relative"},
                                             {"--cdi-kind=nokind"},
                                             {"--create-device-nodes=all"},
                                             {"--no-such-flag"},
                                             {"--no-daemon=perhaps"},
                                             {"stray"}})
    EXPECT_FALSE(Read(arguments)) << arguments[0];
  EXPECT_FALSE(Read({"--enable-nri-plugin"})) << "without a namespace";
  EXPECT_FALSE(Read({"--enable-nri-plugin", "--nri-namespace=gpu-operator", "--nri-plugin-index=100"}));
  EXPECT_TRUE(Read({"--enable-nri-plugin", "--nri-namespace=gpu-operator"})->no_runtime_config);
  EXPECT_FALSE(Read({}, {{"NO_DAEMON", "perhaps"}}));
}

TEST(ToolkitConfigTest, WritesWhatWasAskedAndNoMore) {
  Options o = *Read({"--runtime=containerd", "--driver-root=/d", "--nvidia-container-runtime.mode=cdi"});
  const std::string text = RuntimeConfigText(o, {"/usr/bin/runc", "runc", "crun"});
  EXPECT_TRUE(text.contains("ldconfig = \"@/d/sbin/ldconfig\"")) << text;
  EXPECT_TRUE(text.contains("runtimes = [\"/usr/bin/runc\", \"runc\", \"crun\"]"));
  EXPECT_TRUE(text.contains("mode = \"cdi\""));
  EXPECT_FALSE(text.contains("log-level"));
  EXPECT_FALSE(text.contains("spec-dirs"));
  o.cdi_output_dir = "/run/other";
  EXPECT_TRUE(RuntimeConfigText(o, {}).contains(R"(spec-dirs = ["/etc/cdi", "/var/run/cdi", "/run/other"])"));
}

TEST(InstallPayloadTest, ReplacesTheFolderInOneStepAndTouchesNothingTwice) {
  const os::TempFolder temp = os::MemoryFolder();
  const auto fs = os::RealFs::Open(temp.path()).value();
  const std::string folder = temp.path() + "/toolkit";
  Payload payload{
      .programs = {{"run", "v1"}}, .files = {{".config/x/c.toml", "a = 1\n"}}, .links = {{"run.cdi", "run"}}};
  EXPECT_EQ(InstallPayload(folder, payload).value(), true);
  const auto inode = fs->Stat("/toolkit/run")->inode;
  EXPECT_EQ(fs->Stat("/toolkit/run")->attributes.mode, 0755U);
  EXPECT_EQ(InstallPayload(folder, payload).value(), false);
  EXPECT_EQ(fs->Stat("/toolkit/run")->inode, inode);
  ASSERT_TRUE(fs->WriteAtomic("/toolkit/stale", ""));
  payload.programs["run"] = "v2";
  EXPECT_EQ(InstallPayload(folder, payload).value(), true);
  EXPECT_EQ(fs->Read("/toolkit/run").value(), "v2");
  EXPECT_EQ(fs->List("/").value(), std::vector<std::string>{"toolkit"}) << "nothing stays beside it";
  EXPECT_FALSE(fs->Read("/toolkit/stale"));
}

TEST(SandboxRequestTest, AsksForAHandlerInTheHostsNetworkAndItsKindOfControlGroups) {
  for (const bool systemd : {false, true}) {
    kube::cri::RunPodSandboxRequest request;
    ASSERT_TRUE(request.ParseFromString(SandboxRequest("nvidia", systemd)));
    EXPECT_EQ(request.runtime_handler(), "nvidia");
    EXPECT_EQ(request.config().linux().cgroup_parent(), systemd ? "/system.slice" : "");
    EXPECT_EQ(request.config().linux().security_context().namespace_options().network(), kube::cri::NODE);
    EXPECT_FALSE(request.config().metadata().name().empty());
  }
}

TEST(EngineStatusTest, IsBelievedOnlyWhenItKnowsEveryHandler) {
  container::EngineConfig expected;
  expected.runtimes = {{"runc", "", {}}, {"nvidia", "", {}}};
  kube::cri::StatusResponse message;
  auto* condition = message.mutable_status()->add_conditions();
  condition->set_type("RuntimeReady");
  condition->set_reason("Dead");
  condition->set_message("it is");
  const auto check = [&] { return CheckEngineStatus(ReadEngineStatus(message.SerializeAsString()).value(), expected); };
  EXPECT_EQ(check().error().text, "the engine is not ready: Dead: it is");
  condition->set_status(true);
  EXPECT_TRUE(check()) << "an engine that lists none is not asked for more";
  message.add_runtime_handlers()->set_name("runc");
  EXPECT_EQ(check().error().text, "the engine does not know the handler nvidia; it has runc");
  message.add_runtime_handlers()->set_name("nvidia");
  EXPECT_TRUE(check());
  message.clear_runtime_handlers();
  (*message.mutable_info())["config"] = R"({"containerd":{"runtimes":{"runc":{}}}})";
  EXPECT_FALSE(check());
  EXPECT_FALSE(ReadEngineStatus("\xff\xff\xff"));
}

}  // namespace
}  // namespace gpuop::operands::toolkit
