#include <cstdio>

#include "base/text.h"
#include "machine/host/render.h"

namespace gpuop::machine {
namespace {

void Line(std::string& out, std::string_view key, std::string_view value, bool quote) {
  if (value.empty()) return;
  out.append(key).append("=");
  out.append(quote ? "\"" : "").append(value).append(quote ? "\"" : "").append("\n");
}

std::string OsRelease(const OsSpec& os) {
  std::string out;
  const std::string name = os.name.empty() ? os.id : os.name;
  Line(out, "PRETTY_NAME", name + " " + (os.version.empty() ? os.version_id : os.version), true);
  Line(out, "NAME", name, true);
  Line(out, "VERSION_ID", os.version_id, true);
  Line(out, "VERSION", os.version, true);
  Line(out, "VERSION_CODENAME", os.codename, false);
  Line(out, "ID", os.id, os.id == "rhel");
  Line(out, "ID_LIKE", os.id_like, os.id == "rhel");
  if (os.id == "ubuntu") Line(out, "UBUNTU_CODENAME", os.codename, false);
  return out;
}

std::string DgxRelease(const DgxSpec& dgx) {
  std::string out;
  Line(out, "DGX_NAME", dgx.name, true);
  Line(out, "DGX_PRETTY_NAME", dgx.pretty_name, true);
  Line(out, "DGX_SWBUILD_DATE", "2025-06-10-12-00-00", true);
  Line(out, "DGX_SWBUILD_VERSION", dgx.software_version, true);
  Line(out, "DGX_PLATFORM", dgx.platform, true);
  Line(out, "DGX_SERIAL_NUMBER", dgx.serial, true);
  return out;
}

void Engines(const EngineSpec& engine, Tree& tree) {
  const bool two = engine.version.starts_with("2.");
  switch (engine.name) {
    case Engine::kContainerd:
      tree.File("/etc/containerd/config.toml",
                two ? "version = 3\n\n[plugins.'io.containerd.cri.v1.runtime'.containerd]\n  default_runtime_name = "
                      "'runc'\n\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n  runtime_type = "
                      "'io.containerd.runc.v2'\n\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc."
                      "options]\n  SystemdCgroup = true\n"
                    : "version = 2\n\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n  default_runtime_name = "
                      "\"runc\"\n\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n  runtime_type = "
                      "\"io.containerd.runc.v2\"\n\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc."
                      "options]\n  SystemdCgroup = true\n");
      break;
    case Engine::kCrio:
      tree.File("/etc/crio/crio.conf.d/10-crio.conf",
                "[crio.image]\nsignature_policy = \"/etc/crio/policy.json\"\n\n[crio.runtime]\ndefault_runtime = "
                "\"crun\"\n\n[crio.runtime.runtimes.crun]\nruntime_path = \"/usr/libexec/crio/crun\"\nruntime_root = "
                "\"/run/crun\"\nmonitor_path = \"/usr/libexec/crio/conmon\"\n");
      break;
    case Engine::kDocker:
      tree.File("/etc/docker/daemon.json", "{\n  \"exec-opts\": [\"native.cgroupdriver=systemd\"]\n}\n");
      break;
    case Engine::kNone: break;
  }
}

}  // namespace

void RenderEtc(const Spec& spec, Tree& tree) {
  tree.File("/usr/lib/os-release", OsRelease(spec.host.os));
  tree.Link("/etc/os-release", "../usr/lib/os-release");
  if (spec.host.dgx) tree.File("/etc/dgx-release", DgxRelease(*spec.host.dgx));
  tree.File("/etc/hostname", spec.name + "\n");
  char id[40];
  const std::uint64_t high = Hash64(spec.host.serial + "/" + spec.name), low = Hash64(spec.name, high);
  std::snprintf(id, sizeof id, "%016llx%016llx\n", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  tree.File("/etc/machine-id", id, 0444);
  Engines(spec.host.engine, tree);
}

}  // namespace gpuop::machine
