// nvidia-ctk runtime configure: one runtime in an engine's configuration, by the same plan as the toolkit's.
#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "cli/ctk/cdi.h"
#include "container/engine/transaction.h"
#include "container/flags.h"
#include "os/real_fs.h"

namespace gpuop::cli {
namespace {

using container::EngineKind;
using container::FlagSpec;
using container::FlagValues;

const std::vector<FlagSpec>& Flags() {
  static const std::vector<FlagSpec> kFlags = {
      {{"--dry-run"}, {}, "false", true},
      {{"--runtime"}, {}, "docker"},
      {{"--config"}},
      {{"--drop-in-config"}},
      {{"--executable-path"}},
      {{"--config-mode"}, {}, "config-file"},
      {{"--config-source"}, {}, "file"},
      {{"--oci-hook-path"}, {}, "/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json"},
      {{"--nvidia-runtime-name"}, {}, "nvidia"},
      {{"--nvidia-runtime-path", "--runtime-path"}, {}, "nvidia-container-runtime"},
      {{"--nvidia-runtime-hook-path"}, {}, "/usr/bin/nvidia-container-runtime-hook"},
      {{"--nvidia-set-as-default", "--set-as-default"}, {}, "false", true},
      {{"--cdi.enabled", "--cdi.enable", "--enable-cdi"}, {}, "false", true}};
  return kFlags;
}

/// A person restarts the engine when it suits.
struct NobodyToTell final : container::EngineControl {
  Result<> Reload() override { return {}; }
  Result<> Verify(const container::EngineConfig&) override { return {}; }
};

Result<std::string> BinaryOf(EngineKind kind, std::string path) {
  if (kind == EngineKind::kDocker || path.starts_with('/')) return path;
  if (path == "nvidia-container-runtime") return "/usr/bin/" + path;
  return Fail(Code::kInvalid, "--nvidia-runtime-path: " + Quote(path) + " is not an absolute path");
}

Result<container::EngineFiles> FilesOf(EngineKind kind, const FlagValues& v) {
  container::EngineFiles files;
  files.config = v.Text("--config");
  switch (kind) {
    case EngineKind::kContainerd:
      if (files.config.empty()) files.config = "/etc/containerd/config.toml";
      files.drop_in = "/etc/containerd/conf.d/99-nvidia.toml";
      break;
    case EngineKind::kCrio:
      if (files.config.empty()) files.config = "/etc/crio/crio.conf";
      files.drop_in = "/etc/crio/crio.conf.d/99-nvidia.toml";
      break;
    case EngineKind::kDocker:
      if (files.config.empty()) files.config = "/etc/docker/daemon.json";
      break;
  }
  if (v.given("--drop-in-config")) files.drop_in = v.Text("--drop-in-config");
  for (const std::string& path : {files.config, files.drop_in})
    if (!path.empty() && !path.starts_with('/')) return Fail(Code::kInvalid, Quote(path) + " is not an absolute path");
  return files;
}

/// A hook that CRI-O does not look for, or whose program is not there, has no effect.
Result<> WriteCrioHook(os::Fs& host, const FlagValues& v) {
  const std::string path = v.Text("--oci-hook-path"), program = v.Text("--nvidia-runtime-hook-path");
  ASSIGN(const container::EngineFiles files, FilesOf(EngineKind::kCrio, v));
  ASSIGN(const auto texts, container::ReadEngineTexts(EngineKind::kCrio, host, files));
  ASSIGN(const auto config, container::UnderstandEngine(EngineKind::kCrio, texts, files));
  std::vector<std::string> folders;
  if (const data::JsonArray* listed = data::GetArray(config.whole, "crio.runtime.hooks_dir"))
    for (const data::Json& folder : *listed)
      if (folder.is_string()) folders.emplace_back(data::AsView(folder.get_string()));
  if (folders.empty()) folders = {"/usr/share/containers/oci/hooks.d"};
  if (std::ranges::find(folders, os::FolderOf(path)) == folders.end())
    return Fail(Code::kConflict, "--oci-hook-path: CRI-O looks for hooks in " + Join(folders, ", ") +
                                     " (crio.runtime.hooks_dir) and not in " + os::FolderOf(path));
  if (!host.Resolve(program))
    return Fail(Code::kNotFound,
                "--nvidia-runtime-hook-path: " + program + " is not there, and CRI-O would fail by it");
  return host.WriteAtomic(path, container::CrioHookText(program));
}

}  // namespace

Result<std::string> RuntimeConfigure(const std::vector<std::string>& arguments) {
  ASSIGN(const FlagValues v,
         container::ParseFlags(Flags(), arguments, [](const char* n) -> const char* { return std::getenv(n); }));
  const auto kind = container::EngineNamed(v.Text("--runtime"));
  if (!kind)
    return Fail(Code::kInvalid, "--runtime: " + Quote(v.Text("--runtime")) + " is not docker, crio or containerd");
  ASSIGN(const auto host, os::RealFs::Open("/"));
  if (*kind == EngineKind::kCrio && v.Text("--config-mode").ends_with("hook")) {
    TRY(WriteCrioHook(*host, v));
    return std::string();
  }
  container::EngineWish wish;
  ASSIGN(const std::string binary, BinaryOf(*kind, v.Text("--nvidia-runtime-path")));
  wish.runtimes = {{v.Text("--nvidia-runtime-name"), binary}};
  wish.set_as_default = v.On("--nvidia-set-as-default");
  wish.cdi = v.On("--cdi.enabled");
  ASSIGN(const container::EngineFiles files, FilesOf(*kind, v));
  if (v.On("--dry-run")) {
    ASSIGN(const auto texts, container::ReadEngineTexts(*kind, *host, files));
    ASSIGN(const auto plan, container::PlanEngineSetUp(*kind, texts, files, wish));
    std::string out;
    for (const auto& [path, text] : plan.texts) out += "# " + path + "\n" + text.value_or("") + "\n";
    return out;
  }
  NobodyToTell nobody;
  os::Journal journal(*host, "/var/lib/nvidia-container-toolkit/journal");
  container::EngineTransaction transaction(
      *host, journal, nobody,
      {.kind = *kind, .files = files, .record = "/var/lib/nvidia-container-toolkit/engine.json"});
  TRY(transaction.Recover());
  ASSIGN(const container::EngineChange change, transaction.PlanSetUp(wish));
  TRY(transaction.Apply(change));
  return std::string();
}

}  // namespace gpuop::cli
