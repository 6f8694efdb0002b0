#include "operands/toolkit/program/install.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "container/cdi/cache.h"
#include "data/toml.h"
#include "os/real_fs.h"
#include "os/system_error.h"

namespace gpuop::operands::toolkit {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kLongestProgram = 64U << 20U;
constexpr const char* kConfig = ".config/nvidia-container-runtime/config.toml";

Result<std::string> ReadProgram(const Options& options, const std::string& name) {
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  std::vector<std::string> folders = {options.source + "/usr/bin", options.source, "/usr/bin", "/usr/local/bin"};
  std::error_code error;
  if (const stdfs::path self = stdfs::read_symlink("/proc/self/exe", error); !error)
    folders.push_back(self.parent_path());
  for (const std::string& folder : folders)
    if (auto bytes = fs->Read(folder + "/" + name, kLongestProgram)) return bytes;
  return Fail(Code::kNotFound, "program " + name + " is in none of " + Join(folders, ", "));
}

bool Holds(const os::Fs& fs, const Payload& payload) {
  for (const auto* part : {&payload.programs, &payload.files})
    for (const auto& [name, bytes] : *part)
      if (fs.Read("/" + name, kLongestProgram).value_or("") != bytes) return false;
  for (const auto& [name, target] : payload.links)
    if (fs.ReadLink("/" + name).value_or("") != target) return false;
  return true;
}

Result<> Fill(os::Fs& fs, const Payload& payload) {
  for (const auto& [name, bytes] : payload.programs)
    TRY(fs.WriteAtomic("/" + name, bytes, os::FileAttributes{0755, ::geteuid(), ::getegid()}));
  for (const auto& [name, bytes] : payload.files) {
    TRY(os::MakeFolders(fs, "/" + name.substr(0, name.rfind('/'))));
    TRY(fs.WriteAtomic("/" + name, bytes));
  }
  for (const auto& [name, target] : payload.links) TRY(fs.Symlink(target, "/" + name));
  return {};
}

/// From an open folder, so that no path is walked twice.
bool Drop(const std::string& path) {
  std::error_code error;
  stdfs::remove_all(path, error);
  return !error;
}

}  // namespace

std::string RuntimeConfigText(const Options& o, const std::vector<std::string>& low_level_runtimes) {
  const std::string folder = o.install_dir + "/toolkit";
  data::JsonObject cli{{"root", o.driver_root}, {"path", folder + "/nvidia-container-cli"}};
  const bool real = ::access((o.driver_root_ctr + "/sbin/ldconfig.real").c_str(), F_OK) == 0;
  const std::string root = o.driver_root == "/" ? "" : o.driver_root;
  cli["ldconfig"] = "@" + root + (real ? "/sbin/ldconfig.real" : "/sbin/ldconfig");
  if (!o.cli_debug.empty()) cli["debug"] = o.cli_debug;
  data::JsonObject runtime;
  if (!o.runtime_debug.empty()) runtime["debug"] = o.runtime_debug;
  if (!o.runtime_log_level.empty()) runtime["log-level"] = o.runtime_log_level;
  if (!o.runtime_mode.empty()) runtime["mode"] = o.runtime_mode;
  runtime["runtimes"] =
      boost::json::value_from(o.low_level_runtimes.empty() ? low_level_runtimes : o.low_level_runtimes);
  data::JsonObject cdi;
  if (!o.default_kind.empty()) cdi["default-kind"] = o.default_kind;
  if (!o.annotation_prefixes.empty()) cdi["annotation-prefixes"] = boost::json::value_from(o.annotation_prefixes);
  // Where the specs are written the runtime must look for them.
  if (!o.cdi_output_dir.empty() &&
      std::ranges::find(container::kCdiFolders, o.cdi_output_dir) == container::kCdiFolders.end()) {
    std::vector<std::string> folders = container::kCdiFolders;
    folders.push_back(o.cdi_output_dir);
    cdi["spec-dirs"] = boost::json::value_from(folders);
  }
  if (!cdi.empty()) runtime["modes"] = data::JsonObject{{"cdi", std::move(cdi)}};
  data::JsonObject features;
  for (const std::string& name : o.features) features[name] = true;
  data::JsonObject out{
      {"accept-nvidia-visible-devices-as-volume-mounts", o.accept_mounts},
      {"accept-nvidia-visible-devices-envvar-when-unprivileged", o.accept_env},
      {"nvidia-container-cli", std::move(cli)},
      {"nvidia-container-runtime", std::move(runtime)},
      {"nvidia-container-runtime-hook", data::JsonObject{{"path", folder + "/nvidia-container-runtime-hook"},
                                                         {"skip-mode-detection", o.skip_mode_detection}}},
      {"nvidia-ctk", data::JsonObject{{"path", folder + "/nvidia-ctk"}}}};
  if (!features.empty()) out["features"] = std::move(features);
  return data::ToToml(out);
}

Result<Payload> MakePayload(const Options& options, const std::vector<std::string>& low_level_runtimes) {
  Payload payload;
  for (const char* name : {"nvidia-container-runtime", "nvidia-cdi-hook"}) {
    ASSIGN(payload.programs[name], ReadProgram(options, name));
  }
  payload.files[kConfig] = RuntimeConfigText(options, low_level_runtimes);
  payload.links = {{"nvidia-container-runtime.cdi", "nvidia-container-runtime"},
                   {"nvidia-container-runtime.legacy", "nvidia-container-runtime"},
                   {"nvidia-ctk", "nvidia-cdi-hook"}};
  return payload;
}

Result<bool> InstallPayload(const std::string& folder, const Payload& payload) {
  if (const auto now = os::RealFs::Open(folder); now && Holds(**now, payload)) return false;
  const std::string fresh = folder + ".new";
  std::error_code error;
  Drop(fresh);
  stdfs::create_directories(fresh, error);
  if (error) return Fail(Code::kIo, "make " + fresh + ": " + error.message());
  ASSIGN(const auto fs, os::RealFs::Open(fresh));
  TRY(Fill(*fs, payload));
  // Containers that are being made find the old runtime or the new one, never none.
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    Drop(fresh);
    return true;
  }
  if (errno != ENOENT) return os::FailErrno(errno, "replace " + folder);
  if (::rename(fresh.c_str(), folder.c_str()) != 0) return os::FailErrno(errno, "make " + folder);
  return true;
}

}  // namespace gpuop::operands::toolkit
