#include "operands/validator/path_news.h"

namespace gpuop::operands::validator {
namespace {

bool IsDevice(const std::string& path) { return path.starts_with("/host/dev/"); }

}  // namespace

PathNews::PathNews(const os::Fs& fs, const std::vector<std::string>& paths) : fs_(fs) {
  Lock l(mu_);
  for (const std::string& path : paths)
    if (IsDevice(path)) nodes_[path] = NodeAt(path);
}

std::uint64_t PathNews::NodeAt(const std::string& path) const {
  const auto info = fs_.Stat(path);
  return info ? info->inode : 0;
}

bool PathNews::Any(const std::vector<std::string>& changed) {
  Lock l(mu_);
  bool news = false;
  for (const std::string& path : changed) {
    if (!IsDevice(path)) {
      news = true;
      continue;
    }
    const std::uint64_t now = NodeAt(path);
    news = news || nodes_[path] != now;
    nodes_[path] = now;
  }
  return news;
}

}  // namespace gpuop::operands::validator
