#include "operands/toolkit/program/locate.h"

#include "os/fake_fs.h"

namespace gpuop::operands::toolkit {
namespace {

/// A host whose kubelet uses the containerd behind `socket`, which was started with `arguments`.
class Host {
 public:
  Host(const std::string& kubelet, const std::string& socket, const std::vector<std::string>& arguments) {
    Run(50, kubelet, {kubelet, "--container-runtime-endpoint=unix://" + socket}, "");
    Run(60, "containerd", arguments, "11");
    fs.Put("/proc/1/net/unix",
           "Num       RefCount Protocol Flags    Type St Inode Path\n0: 00000002 00000000 00010000 0001 01 11 " +
               socket + "\n");
    fs.Put(socket, "");
  }
  os::FakeFs fs;

 private:
  void Run(int pid, const std::string& name, const std::vector<std::string>& arguments, const std::string& inode) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::string line;
    for (const std::string& argument : arguments) line += argument + '\0';
    fs.Put(folder + "/comm", name + "\n");
    fs.Put(folder + "/cmdline", line);
    fs.Put(folder + "/fd/0", "");
    if (!inode.empty()) EXPECT_TRUE(fs.Symlink("socket:[" + inode + "]", folder + "/fd/7"));
  }
};

Options InAPod(const std::string& socket) {
  Options options;
  options.engine = container::EngineKind::kContainerd;
  options.host_root = options.files.host_root = "/host";
  options.files.config = "/runtime/config-dir/config.toml";
  options.socket = socket;
  options.restart_mode = "signal";
  return options;
}

TEST(HostPathTest, IsWhatIsMountedThere) {
  const auto host = os::ParseMountInfo(
                        "22 1 254:1 / / rw - ext4 /dev/vda rw\n"
                        "30 22 254:2 / /var rw - ext4 /dev/vdb rw\n"
                        "31 22 0:25 / /run rw - tmpfs tmpfs rw\n")
                        .value();
  const auto own = os::ParseMountInfo(
                       "90 80 0:99 / / rw - overlay overlay rw\n"
                       "91 90 254:1 /etc/containerd /runtime/config-dir rw - ext4 /dev/vda rw\n"
                       "92 90 254:2 /lib/k3s/agent /runtime/config-dir.d rw - ext4 /dev/vdb rw\n"
                       "93 90 0:25 /containerd /runtime/sock-dir rw - tmpfs tmpfs rw\n"
                       "94 90 0:50 / /elsewhere rw - tmpfs tmpfs rw\n")
                       .value();
  EXPECT_EQ(HostPathOf(own, host, "/runtime/config-dir/config.toml"), "/etc/containerd/config.toml");
  EXPECT_EQ(HostPathOf(own, host, "/runtime/config-dir.d/x.toml"), "/var/lib/k3s/agent/x.toml");
  EXPECT_EQ(HostPathOf(own, host, "/runtime/sock-dir/c.sock"), "/run/containerd/c.sock");
  EXPECT_EQ(HostPathOf(own, host, "/elsewhere/x"), "");
  EXPECT_EQ(HostPathOf(own, host, "/etc/passwd"), "") << "the container's own";
}

TEST(FindOtherEngineTest, TheEngineOfTheKubeletIsTheOneThatIsMeant) {
  const Host host("kubelet", "/run/containerd/containerd.sock", {"/usr/bin/containerd"});
  // The container sees the same socket at another path: the same tree stands for both here.
  const auto other = FindOtherEngine(host.fs, host.fs, InAPod("/run/containerd/containerd.sock"));
  ASSERT_TRUE(other) << other.error().text;
  EXPECT_FALSE(*other);
}

TEST(FindOtherEngineTest, DockersContainerdIsNotK3s) {
  Host host("k3s", "/run/k3s/containerd/containerd.sock",
            {"containerd", "-c", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"});
  host.fs.Put("/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
              "version = 3\nimports = [\"/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/*.toml\"]\n");
  host.fs.Put("/proc/60/cgroup", "0::/system.slice/k3s-agent.service\n");
  os::FakeFs own;
  own.Put("/runtime/sock-dir/containerd.sock", "");
  Options options = InAPod("/runtime/sock-dir/containerd.sock");
  const auto other = FindOtherEngine(host.fs, own, options);
  ASSERT_TRUE(other) << other.error().text;
  ASSERT_TRUE(*other);
  UseEngine(**other, "/proc/1/root", options);
  EXPECT_EQ(options.files.config, "/var/lib/rancher/k3s/agent/etc/containerd/config.toml");
  EXPECT_EQ(options.files.drop_in, "/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml");
  EXPECT_EQ(options.socket, "/host/run/k3s/containerd/containerd.sock");
  EXPECT_EQ(options.engine_root, "/proc/1/root");
  EXPECT_EQ(options.watch_root, "/host");
  EXPECT_EQ(options.restart_mode, "systemd");
  EXPECT_EQ(options.unit, "k3s-agent");
}

TEST(FindOtherEngineTest, WhereNobodyIsSeenTheOptionsStand) {
  const os::FakeFs empty;
  EXPECT_FALSE(FindOtherEngine(empty, empty, InAPod("/x")).value());
  Host dead("kubelet", "/run/containerd/containerd.sock", {"containerd"});
  dead.fs.Put("/proc/1/net/unix", "Num\n");
  EXPECT_FALSE(FindOtherEngine(dead.fs, empty, InAPod("/x")).value()) << "an engine that does not run is the options'";
}

TEST(FindOtherEngineTest, AnOlderRke2LeavesNoDoor) {
  Host host("k3s", "/run/k3s/containerd/containerd.sock",
            {"containerd", "-c", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"});
  host.fs.Put("/var/lib/rancher/rke2/agent/etc/containerd/config.toml", "version = 2\n");
  EXPECT_EQ(FindOtherEngine(host.fs, os::FakeFs(), InAPod("/x")).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace gpuop::operands::toolkit
