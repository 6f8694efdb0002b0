#include "os/fs.h"

#include "base/text.h"

namespace gpuop::os {

Result<std::pair<std::string, std::string>> SplitPath(const std::string& path) {
  if (path.empty()) return Fail(Code::kInvalid, "empty path");
  if (path.find('\0') != std::string::npos) return Fail(Code::kInvalid, Quote(path) + ": a zero byte in a path");
  std::string_view p = path;
  while (p.ends_with('/')) p.remove_suffix(1);
  const std::size_t slash = p.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? p : p.substr(slash + 1);
  if (name == "." || name == "..") return Fail(Code::kInvalid, path + ": a path must end in a name");
  std::string_view folder = p.substr(0, p.size() - name.size());
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return std::pair(folder.empty() ? std::string("/") : std::string(folder), std::string(name));
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::vector<std::string> LeftoversOf(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  const std::string hidden = path.substr(0, name) + "." + path.substr(name);
  return {hidden + ".gpuop-tmp", hidden + ".gpuop-link"};
}

Result<> MakeFolders(Fs& fs, const std::string& path, mode_t mode) {
  auto info = fs.Stat(path);
  if (info && info->type == FileType::kFolder) return {};
  if (info && info->type == FileType::kSymlink) {
    TRY(fs.List(path));  // a link to a folder is one
    return {};
  }
  if (info) return Fail(Code::kInvalid, path + ": not a folder");
  if (info.error().code != Code::kNotFound) return std::unexpected(std::move(info).error());
  ASSIGN(const auto parts, SplitPath(path));
  TRY(MakeFolders(fs, parts.first, mode));
  auto made = fs.MakeFolder(path, mode);
  if (!made && made.error().code == Code::kAlreadyExists) return {};  // somebody else was faster
  return made;
}

Result<> RemoveIfThere(Fs& fs, const std::string& path) {
  auto removed = fs.Remove(path);
  if (!removed && removed.error().code == Code::kNotFound) return {};
  return removed;
}

Result<> RemoveTree(Fs& fs, const std::string& path) {
  const auto info = fs.Stat(path);
  if (!info) return info.error().code == Code::kNotFound ? Result<>() : Result<>(std::unexpected(info.error()));
  if (info->type == FileType::kFolder) {
    ASSIGN(const auto names, fs.List(path));
    for (const std::string& name : names) TRY(RemoveTree(fs, path + "/" + name));
  }
  return fs.Remove(path);
}

Result<bool> Exists(const Fs& fs, const std::string& path) {
  auto info = fs.Stat(path);
  if (info) return true;
  if (info.error().code == Code::kNotFound) return false;
  return std::unexpected(std::move(info).error());
}

}  // namespace gpuop::os
