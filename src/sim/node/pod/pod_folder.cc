#include "sim/node/pod/pod_folder.h"

#include "base/text.h"
#include "sim/node/pod/container_plan.h"

namespace gpuop::sim::node {
namespace {

std::string HostsText(const PodWish& pod, const PodFacts& facts, const std::string& hostname) {
  std::string out =
      "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
      "fe00::\tip6-localnet\nfe00::\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n";
  out += (pod.spec.host_network ? facts.host_ip : facts.pod_ip) + "\t" + hostname + "\n";
  for (const HostAlias& alias : pod.spec.host_aliases) {
    out += alias.ip;
    for (const std::string& name : alias.names) out += "\t" + name;
    out += "\n";
  }
  return out;
}

Result<> WriteOnce(os::Fs& host, const std::string& path, const std::string& text) {
  if (auto there = host.Read(path); there && *there == text) return {};
  return host.WriteAtomic(path, text);
}

Result<> SetUpVolume(os::Fs& host, const PodWish& pod, const Volume& volume, const VolumeFiles& files,
                     std::uint64_t version) {
  if (volume.host_path) return CheckHostPath(host, *volume.host_path);
  ASSIGN(const std::string folder, VolumePath(pod, volume));
  TRY(os::MakeFolders(host, folder));
  if (volume.empty_dir) return host.SetMode(folder, 0777);
  return WriteVolume(host, folder, files, version);
}

}  // namespace

PodFiles PlanPodFiles(const PodWish& pod, const PodFacts& facts) {
  PodFiles out;
  const std::string own = pod.spec.hostname.empty() ? pod.meta.name : pod.spec.hostname;
  out.hostname = pod.spec.host_network ? pod.spec.node_name : own.substr(0, 63);
  out.hosts = HostsText(pod, facts, out.hostname);
  out.resolv_conf = "search " + std::string(pod.meta.ns.view()) +
                    ".svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n";
  return out;
}

Result<> WritePodFiles(os::Fs& host, const PodWish& pod, const PodFiles& files, std::uint64_t version) {
  const std::string folder = PodFolder(pod.meta.uid);
  TRY(os::MakeFolders(host, folder));
  TRY(WriteOnce(host, folder + "/etc-hosts", files.hosts));
  TRY(WriteOnce(host, folder + "/hostname", files.hostname + "\n"));
  TRY(WriteOnce(host, folder + "/resolv.conf", files.resolv_conf));
  for (const auto& [volume, content] : files.volumes)
    if (auto made = SetUpVolume(host, pod, volume, content, version); !made)
      return std::unexpected(Error{
          made.error().code, "MountVolume.SetUp failed for volume " + Quote(volume.name) + " : " + made.error().text});
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers})
    for (const ContainerWish& c : *list) TRY(os::MakeFolders(host, folder + "/containers/" + c.name));
  return {};
}

Result<> MakeSubPaths(os::Fs& host, const ContainerWish& container, const data::Json& oci) {
  const data::JsonArray* mounts = data::GetArray(oci, "mounts");
  for (const VolumeMount& m : container.mounts) {
    if (mounts == nullptr || (m.sub_path.empty() && m.sub_path_expr.empty())) continue;
    for (const data::Json& mount : *mounts) {
      const std::string source(data::StringOr(mount, "source"));
      if (data::StringOr(mount, "destination") != MountTarget(m) || host.Resolve(source)) continue;
      if (auto made = os::MakeFolders(host, source); !made)
        return Fail(made.error().code, "failed to create subPath directory for volumeMount " + Quote(m.name) +
                                           " of container " + Quote(container.name) + ": " + made.error().text);
    }
  }
  return {};
}

Result<> RemovePodFiles(os::Fs& host, const PodWish& pod) {
  TRY(os::RemoveTree(host, PodFolder(pod.meta.uid)));
  TRY(os::RemoveTree(host, "/dev/shm/.volumes/" + pod.meta.uid));
  const std::string log = "/var/log/pods/" + std::string(pod.meta.ns.view()) + "_" + pod.meta.name + "_" + pod.meta.uid;
  return os::RemoveTree(host, log);
}

}  // namespace gpuop::sim::node
