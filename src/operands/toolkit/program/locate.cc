#include "operands/toolkit/program/locate.h"

#include "os/real_fs.h"

namespace gpuop::operands::toolkit {
namespace {

/// Whether two trees show the same thing at these paths.
bool Same(const os::Fs& a, const std::string& at, const os::Fs& b, const std::string& bt) {
  const auto first = a.Resolve(at), second = b.Resolve(bt);
  if (!first || !second) return false;
  const auto one = a.Stat(*first), two = b.Stat(*second);
  return one && two && one->inode == two->inode && one->modified == two->modified;
}

}  // namespace

Result<std::optional<container::EngineSite>> FindOtherEngine(const os::Fs& host, const os::Fs& own,
                                                             const Options& options) {
  const auto socket = container::FindKubeletSocket(host);
  if (!socket) return std::optional<container::EngineSite>();
  auto site = container::FindEngine(host, *socket);
  // A kubelet that is ahead of its engine, or an engine that shows no socket: the options are all there is.
  if (!site && site.error().code == Code::kNotFound) return std::optional<container::EngineSite>();
  if (!site) return std::unexpected(std::move(site).error());
  const bool meant = site->kind == options.engine && Same(host, site->socket, own, options.socket);
  if (meant && site->distribution.empty()) return std::optional<container::EngineSite>();
  return std::optional(*std::move(site));
}

void UseEngine(const container::EngineSite& site, const std::string& host_view, Options& options) {
  options.engine = site.kind;
  options.files = site.files;
  options.engine_root = host_view;
  // Sockets and watches work through the mount of the host's root, which is there to read.
  const std::string seen = options.host_root == "/" ? "" : options.host_root;
  options.socket = seen + site.socket;
  options.watch_root = seen;
  options.unit = site.unit;
  if (!options.restart_mode_given) options.restart_mode = site.restart_mode;
}

std::string HostPathOf(std::span<const os::Mount> own, std::span<const os::Mount> host, const std::string& path) {
  const os::Mount* mount = os::MountOf(own, path);
  if (mount == nullptr || mount->point == "/") return "";
  const os::Mount* best = nullptr;
  for (const os::Mount& candidate : host) {
    const std::string_view root = candidate.root == "/" ? std::string_view() : std::string_view(candidate.root);
    const bool within = mount->root == candidate.root ||
                        (mount->root.starts_with(root) && mount->root.substr(root.size()).starts_with('/'));
    if (candidate.major != mount->major || candidate.minor != mount->minor || !within) continue;
    if (best == nullptr || candidate.root.size() > best->root.size()) best = &candidate;
  }
  if (best == nullptr) return "";
  std::string out = best->point == "/" ? "" : best->point;
  out += mount->root.substr(best->root == "/" ? 0 : best->root.size());
  return out + path.substr(mount->point.size());
}

namespace {

/// The engine reads its configuration by the host's name of it, and relative imports from there.
void NameConfigForEngine(const os::Fs& own, const os::Fs& host, Options& options) {
  const auto ours = os::ReadMounts(own), theirs = os::ReadMounts(host, "/proc/1/mountinfo");
  if (!ours || !theirs) return;
  if (std::string path = HostPathOf(*ours, *theirs, options.files.config); !path.empty())
    options.files.config_for_engine = std::move(path);
}

}  // namespace

Result<> FindEngineOfKubelet(Options& options, const os::Fs& own, Log& log) {
  if (options.no_runtime_config || options.files.host_root.empty()) return {};
  const auto host = os::RealFs::Open(kHostView);
  if (!host) return {};
  NameConfigForEngine(own, **host, options);
  const auto other = FindOtherEngine(**host, own, options);
  if (!other && other.error().code == Code::kUnsupported) {
    log.Warn("the engine's configuration stays as it is", {{"reason", other.error().text}});
    options.no_runtime_config = true;
    return {};
  }
  if (!other) return std::unexpected(other.error());
  if (!*other) return {};
  log.Info("the kubelet's engine is configured where its distribution keeps that",
           {{"engine", std::string(container::EngineName((*other)->kind))},
            {"distribution", (*other)->distribution},
            {"socket", (*other)->socket},
            {"config", (*other)->files.config},
            {"dropIn", (*other)->files.drop_in}});
  UseEngine(**other, kHostView, options);
  return {};
}

}  // namespace gpuop::operands::toolkit
