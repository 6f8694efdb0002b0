#include "operands/nfd/sources/host.h"

#include "base/text.h"

namespace gpuop::operands::nfd {

Host::Host(const os::Fs& fs, std::string root) : fs_(fs), root_(std::move(root)) {
  if (!root_.empty()) return;
  for (const char* path : {"/boot", "/etc/os-release", "/sys", "/usr/lib", "/lib", "/proc/swaps", "/proc/modules"})
    if (fs_.Stat("/host-" + std::string(path).substr(1))) mounted_.emplace_back(path);
}

std::string Host::At(const std::string& path) const {
  for (const std::string& mount : mounted_)
    if (path == mount || path.starts_with(mount + "/")) return "/host-" + path.substr(1);
  return root_ + path;
}

Result<std::string> Host::Read(const std::string& path, std::size_t limit) const { return fs_.Read(At(path), limit); }

std::optional<std::string> Host::Line(const std::string& path) const {
  const auto text = Read(path, 64U << 10U);
  return text ? std::optional(std::string(Trim(*text))) : std::nullopt;
}

std::optional<std::int64_t> Host::Number(const std::string& path) const {
  const auto line = Line(path);
  return line ? ParseInt(*line) : std::nullopt;
}

std::vector<std::string> Host::List(const std::string& path) const {
  auto names = fs_.List(At(path));
  return names ? *std::move(names) : std::vector<std::string>();
}

std::vector<std::string> Host::List(const std::string& path, bool& failed) const {
  auto names = fs_.List(At(path));
  if (names) return *std::move(names);
  failed = failed || names.error().code == Code::kIo;
  return {};
}

bool Host::Exists(const std::string& path) const { return fs_.Stat(At(path)).has_value(); }

}  // namespace gpuop::operands::nfd
