#include "container/engine/site.h"

#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

/// A host with processes and listening sockets.
class Host {
 public:
  void Run(int pid, const std::string& name, const std::vector<std::string>& arguments, const std::string& inode = "") {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::string line;
    for (const std::string& argument : arguments) line += argument + '\0';
    fs.Put(folder + "/comm", name + "\n");
    fs.Put(folder + "/cmdline", line);
    fs.Put(folder + "/fd/0", "");
    if (!inode.empty()) EXPECT_TRUE(fs.Symlink("socket:[" + inode + "]", folder + "/fd/7"));
  }
  void Listen(const std::string& path, const std::string& inode) {
    table_ += "0000000000000000: 00000002 00000000 00010000 0001 01 " + inode + " " + path + "\n";
    fs.Put("/proc/1/net/unix", table_);
  }

  os::FakeFs fs;

 private:
  std::string table_ = "Num       RefCount Protocol Flags    Type St Inode Path\n";
};

TEST(FindKubeletSocketTest, AsksTheKubeletsArgumentsThenItsConfiguration) {
  Host flag;
  flag.Run(50, "kubelet", {"kubelet", "--container-runtime-endpoint=unix:///var/run/crio/crio.sock"});
  EXPECT_EQ(FindKubeletSocket(flag.fs).value(), "/run/crio/crio.sock");

  Host config;
  config.Run(50, "kubelet", {"kubelet", "--config", "/var/lib/kubelet/config.yaml"});
  config.fs.Put("/var/lib/kubelet/config.yaml",
                "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/x.sock\n");
  EXPECT_EQ(FindKubeletSocket(config.fs).value(), "/run/x.sock");

  // RKE2 since 1.32 and others: nothing but files of a folder, of which the last one counts.
  Host folder;
  folder.Run(50, "kubelet",
             {"kubelet", "--config=/k.yaml", "--config-dir=/var/lib/rancher/rke2/agent/etc/kubelet.conf.d"});
  folder.fs.Put("/k.yaml", "containerRuntimeEndpoint: /run/none.sock\n");
  folder.fs.Put("/var/lib/rancher/rke2/agent/etc/kubelet.conf.d/00-rke2-defaults.conf",
                "containerRuntimeEndpoint: unix:///run/k3s/containerd/containerd.sock\n");
  folder.fs.Put("/var/lib/rancher/rke2/agent/etc/kubelet.conf.d/99-mine.conf", "maxPods: 99\n");
  folder.fs.Put("/var/lib/rancher/rke2/agent/etc/kubelet.conf.d/README", "containerRuntimeEndpoint: /run/no.sock\n");
  EXPECT_EQ(FindKubeletSocket(folder.fs).value(), "/run/k3s/containerd/containerd.sock");

  Host plain;
  plain.Run(50, "kubelet", {"kubelet"});
  EXPECT_EQ(FindKubeletSocket(plain.fs).value(), "/run/containerd/containerd.sock");

  Host k3s;
  k3s.Run(50, "k3s-agent", {"/usr/local/bin/k3s", "agent"});
  EXPECT_EQ(FindKubeletSocket(k3s.fs).value(), "/run/k3s/containerd/containerd.sock");

  k3s.fs.Put("/etc/rancher/k3s/config.yaml.d/10-docker.yaml", "docker: true\n");
  EXPECT_EQ(FindKubeletSocket(k3s.fs).value(), "/run/k3s/cri-dockerd/cri-dockerd.sock");
  k3s.fs.Put("/etc/rancher/k3s/config.yaml", "container-runtime-endpoint: /run/containerd/containerd.sock\n");
  EXPECT_EQ(FindKubeletSocket(k3s.fs).value(), "/run/containerd/containerd.sock");

  Host snap;
  snap.Run(50, "kubelite", {"/snap/microk8s/1/kubelite"});
  snap.fs.Put("/var/snap/microk8s/current/args/kubelet",
              "--container-runtime-endpoint=${SNAP_COMMON}/run/containerd.sock\n");
  EXPECT_EQ(FindKubeletSocket(snap.fs).value(), "/var/snap/microk8s/common/run/containerd.sock");

  EXPECT_EQ(FindKubeletSocket(os::FakeFs()).error().code, Code::kNotFound);
}

TEST(FindEngineTest, TellsDockersContainerdFromK3sOne) {
  Host host;
  host.Run(1, "systemd", {"/sbin/init"}, "12");
  host.Run(100, "containerd", {"/usr/bin/containerd", "--config", "/var/run/docker/containerd/containerd.toml"}, "10");
  host.Run(200, "containerd", {"containerd", "-c", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"}, "11");
  host.Run(300, "dockerd", {"/usr/bin/dockerd", "-H", "fd://"}, "12");
  host.Listen("/var/run/docker/containerd/containerd.sock", "10");
  host.Listen("/run/k3s/containerd/containerd.sock", "11");
  host.Listen("/run/docker.sock", "12");
  host.fs.Put("/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
              "version = 3\nimports = [\"/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/*.toml\"]\n");

  host.fs.Put("/proc/200/cgroup", "0::/system.slice/k3s-agent.service\n");
  const auto k3s = FindEngine(host.fs, "/run/k3s/containerd/containerd.sock");
  ASSERT_TRUE(k3s) << k3s.error().text;
  EXPECT_EQ(k3s->pid, 200);
  EXPECT_EQ(k3s->distribution, "k3s");
  EXPECT_EQ(k3s->files.drop_in, "/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml");
  EXPECT_EQ(k3s->restart_mode, "systemd");
  EXPECT_EQ(k3s->unit, "k3s-agent");

  const auto docker = FindEngine(host.fs, "/var/run/docker.sock");
  ASSERT_TRUE(docker) << docker.error().text;
  EXPECT_EQ(docker->pid, 300);
  EXPECT_EQ(docker->unit, "docker");
  EXPECT_EQ(docker->files.config, "/etc/docker/daemon.json");
  EXPECT_EQ(FindEngine(host.fs, "/run/nobody.sock").error().code, Code::kNotFound);
}

TEST(FindEngineTest, AGeneratedConfigurationWithoutImportsIsLeftAlone) {
  Host host;
  host.Run(200, "containerd", {"containerd", "-c", "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"}, "11");
  host.Listen("/run/k3s/containerd/containerd.sock", "11");
  host.fs.Put("/var/lib/rancher/rke2/agent/etc/containerd/config.toml", "version = 2\n");
  const auto site = FindEngine(host.fs, "/run/k3s/containerd/containerd.sock");
  EXPECT_EQ(site.error().code, Code::kUnsupported);
  EXPECT_TRUE(site.error().text.contains("rke2")) << site.error().text;
}

TEST(FindEngineTest, BehindWhatTranslatesForTheKubeletIsDocker) {
  for (const char* name : {"cri-dockerd", "k3s-server"}) {
    Host host;
    host.Run(300, "dockerd", {"/usr/bin/dockerd", "--config-file=/x.json"}, "12");
    host.Run(400, name, {name, "--docker-endpoint", "unix:///var/run/docker.sock"}, "13");
    host.Listen("/run/docker.sock", "12");
    host.Listen("/run/k3s/cri-dockerd/cri-dockerd.sock", "13");
    const auto site = FindEngine(host.fs, "/run/k3s/cri-dockerd/cri-dockerd.sock");
    ASSERT_TRUE(site) << site.error().text;
    EXPECT_EQ(site->kind, EngineKind::kDocker);
    EXPECT_EQ(site->socket, "/run/docker.sock") << "a signal to " << name << " would end it";
    EXPECT_EQ(site->pid, 300);
    EXPECT_EQ(site->files.config, "/x.json");
  }
  Host alone;
  alone.Run(400, "cri-dockerd", {"cri-dockerd"}, "13");
  alone.Listen("/run/cri-dockerd.sock", "13");
  EXPECT_EQ(FindEngine(alone.fs, "/run/cri-dockerd.sock").error().code, Code::kNotFound);
}

TEST(FindEngineTest, K3sKeepsItsLayoutBelowAnotherDataFolder) {
  Host host;
  host.Run(200, "containerd", {"containerd", "-c", "/data/k3s/agent/etc/containerd/config.toml"}, "11");
  host.Listen("/run/k3s/containerd/containerd.sock", "11");
  host.fs.Put("/data/k3s/agent/etc/containerd/config.toml",
              "version = 2\nimports = [\"/data/k3s/agent/etc/containerd/config.toml.d/*.toml\"]\n");
  const auto site = FindEngine(host.fs, "/run/k3s/containerd/containerd.sock");
  ASSERT_TRUE(site) << site.error().text;
  EXPECT_EQ(site->distribution, "k3s");
  EXPECT_EQ(site->files.drop_in, "/data/k3s/agent/etc/containerd/config.toml.d/99-nvidia.toml");
}

TEST(FindEngineTest, K0sReadsItsFolderOnlyWhileTheFileIsItsOwn) {
  for (const bool managed : {true, false}) {
    Host host;
    host.Run(200, "containerd", {"/var/lib/k0s/bin/containerd", "--config=/etc/k0s/containerd.toml"}, "11");
    host.Listen("/run/k0s/containerd.sock", "11");
    host.fs.Put("/etc/k0s/containerd.toml", std::string(managed ? "# k0s_managed=true\n" : "# mine\n") +
                                                "version = 2\nimports = [\"/run/k0s/containerd-cri.toml\"]\n");
    const auto site = FindEngine(host.fs, "/run/k0s/containerd.sock");
    ASSERT_TRUE(site) << site.error().text;
    EXPECT_EQ(site->distribution, "k0s");
    EXPECT_EQ(site->files.drop_in_is_read, managed);
    EXPECT_EQ(site->unit, "") << "k0s starts it again by itself";
  }
}

struct Layout {
  EngineKind kind;
  std::vector<std::string> arguments;
  const char* config;
  const char* drop_in;
  const char* unit;
};

TEST(DescribeEngineTest, KnowsTheDistributionsLayouts) {
  using enum EngineKind;
  for (const Layout& c :
       {Layout{kContainerd,
               {"containerd"},
               "/etc/containerd/config.toml",
               "/etc/containerd/conf.d/99-nvidia.toml",
               "containerd"},
        Layout{kContainerd,
               {"containerd", "--config=/opt/c/c.toml"},
               "/opt/c/c.toml",
               "/opt/c/conf.d/99-nvidia.toml",
               "containerd"},
        Layout{kContainerd,
               {"containerd", "--config", "/var/snap/microk8s/1/args/containerd.toml"},
               "/var/snap/microk8s/current/args/containerd-template.toml",
               "",
               "snap.microk8s.daemon-containerd"},
        Layout{kContainerd,
               {"containerd", "--config=/etc/k0s/containerd.toml"},
               "/etc/k0s/containerd.toml",
               "/etc/k0s/containerd.d/99-nvidia.toml",
               ""},
        Layout{kCrio, {"crio"}, "/etc/crio/crio.conf", "/etc/crio/crio.conf.d/99-nvidia.toml", "crio"},
        Layout{kDocker, {"dockerd", "--config-file=/x.json"}, "/x.json", "", "docker"}}) {
    const EngineSite site = DescribeEngine(c.kind, "/run/s", c.arguments);
    EXPECT_EQ(site.files.config, c.config);
    EXPECT_EQ(site.files.drop_in, c.drop_in);
    EXPECT_EQ(site.unit, c.unit);
  }
}

}  // namespace
}  // namespace gpuop::container
