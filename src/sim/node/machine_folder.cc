#include <filesystem>
#include <set>

#include "base/text.h"
#include "os/real_fs.h"
#include "sim/node/machines.h"

namespace gpuop::sim::node {
namespace {

constexpr std::string_view kKubelet = "v1.36.3";

Result<machine::Spec> ReadOne(const std::string& kind) {
  if (const auto text = machine::ReadyMadeMachine(kind)) return machine::ReadSpec(*text, kind);
  if (kind.find_first_of("./") == std::string::npos)
    return Fail(Code::kNotFound, "no machine is called " + Quote(kind) + "; there are " +
                                     Join(machine::ReadyMadeMachines(), ", ") + ", or a file");
  std::error_code error;
  const auto path = std::filesystem::canonical(kind, error);
  if (error) return Fail(Code::kNotFound, kind + ": " + error.message());
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(const std::string text, fs->Read(path));
  return machine::ReadSpec(text, kind);
}

std::string Numbered(const std::set<std::string>& taken, const std::string& name) {
  std::string out = name;
  for (int n = 2; taken.contains(out); ++n) out = name + "-" + std::to_string(n);
  return out;
}

std::string_view EngineUrl(machine::Engine engine) {
  return engine == machine::Engine::kCrio ? "cri-o" : engine == machine::Engine::kDocker ? "docker" : "containerd";
}

}  // namespace

Result<std::vector<MachineWish>> ReadMachines(const std::vector<std::string>& wishes) {
  std::vector<MachineWish> out;
  std::set<std::string> taken;
  for (const std::string& wish : wishes) {
    const auto parts = Cut(wish, '=');
    auto spec = ReadOne(std::string(parts ? parts->second : std::string_view(wish)));
    if (!spec) return std::unexpected(std::move(spec).error().During("--machine " + wish));
    const std::string name = Numbered(taken, parts ? std::string(parts->first) : spec->name);
    taken.insert(name);
    out.push_back({name, *std::move(spec)});
  }
  return out;
}

MachineOptions OptionsOf(const MachineWish& wish, const std::string& folder, std::size_t number) {
  const machine::HostSpec& host = wish.spec.host;
  MachineOptions out;
  out.name = wish.node;
  out.folder = folder;
  out.number = number;
  out.architecture = host.architecture == machine::Cpu::kArm64 ? "arm64" : "amd64";
  HollowPool& pool = out.pool;
  pool.name = wish.node;
  pool.capacity = {{"cpu", std::to_string(host.cpus)}, {"memory", std::to_string(host.memory_gib) + "Gi"}};
  pool.info.architecture = std::string_view(out.architecture);
  pool.info.kernel_version = std::string_view(host.kernel);
  pool.info.kubelet_version = kKubelet;
  pool.info.os_image =
      std::string_view(host.os.name + " " + (host.os.version.empty() ? host.os.version_id : host.os.version));
  pool.info.container_runtime_version =
      std::string_view(std::string(EngineUrl(host.engine.name)) + "://" + host.engine.version);
  return out;
}

Result<machine::MachineFolder> OpenMachine(const MachineWish& wish, const std::string& folder,
                                           const machine::DriverFiles& files) {
  std::error_code error;
  if (std::filesystem::exists(folder + "/machine.yaml", error)) return machine::MachineFolder::Open(folder, files);
  machine::Spec spec = wish.spec;
  spec.name = wish.node;
  return machine::MachineFolder::Create(folder, std::move(spec), files);
}

}  // namespace gpuop::sim::node
