#include "os/testing/journal_host.h"

#include "base/check.h"

namespace gpuop::os {

Tree TreeOf(const Fs& fs, const std::string& folder) {
  Tree tree;
  const auto names = fs.List(folder);
  GPUOP_CHECK(names.has_value());
  for (const std::string& name : *names) {
    const std::string path = (folder == "/" ? "" : folder) + "/" + name;
    if (path == kJournalFolder || path == "/run/engine") continue;
    const auto info = fs.Stat(path);
    GPUOP_CHECK(info.has_value());
    const FileAttributes& a = info->attributes;
    std::string& text = tree[path] = std::to_string(a.mode) + " " + std::to_string(a.uid) + ":" + std::to_string(a.gid);
    if (info->type == FileType::kFile) text += " " + fs.Read(path).value_or("unreadable");
    if (info->type == FileType::kSymlink) text = "-> " + fs.ReadLink(path).value_or("unreadable");
    if (info->type == FileType::kFolder) tree.merge(TreeOf(fs, path));
  }
  return tree;
}

void PrepareHost(Fs& fs) {
  for (const char* folder : {"/etc", "/run", "/var"}) GPUOP_CHECK(MakeFolders(fs, folder));
  GPUOP_CHECK(fs.WriteAtomic("/etc/config.toml", "version = 2\n"));
  GPUOP_CHECK(fs.SetMode("/etc/config.toml", 0640));
  GPUOP_CHECK(fs.WriteAtomic("/etc/unwanted.conf", "old\n"));
  GPUOP_CHECK(fs.WriteAtomic("/etc/plain", "a file\n"));
  GPUOP_CHECK(fs.Symlink("config.toml", "/etc/current"));
  GPUOP_CHECK(fs.WriteAtomic("/run/engine", "version = 2\n"));
}

std::vector<Change> EveryKindOfChange() {
  return {{.path = "/etc/config.toml", .bytes = "version = 3\nimports = []\n"},
          {.path = "/etc/conf.d/gpu/nvidia.toml", .bytes = "runtime = \"nvidia\"\n"},
          {.path = "/etc/unwanted.conf", .kind = FileState::Kind::kAbsent},
          {.path = "/etc/current", .kind = FileState::Kind::kLink, .bytes = "conf.d/gpu/nvidia.toml"},
          {.path = "/etc/plain", .kind = FileState::Kind::kLink, .bytes = "config.toml"}};
}

Hooks EngineHooks(Fs& fs) {
  return {.activate = [&fs](Hooks::Phase) -> Result<> {
            ASSIGN(const std::string config, fs.Read("/etc/config.toml"));
            return fs.WriteAtomic("/run/engine", config);
          },
          .verify = {}};
}

bool EngineIsCurrent(const Fs& fs) { return fs.Read("/run/engine").value() == fs.Read("/etc/config.toml").value(); }

}  // namespace gpuop::os
