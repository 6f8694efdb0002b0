#include "os/temp_folder.h"

#include <dirent.h>
#include <fcntl.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "os/system_error.h"

namespace gpuop::os {
namespace {

void Empty(Fd fd) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), &::closedir);
  if (!folder) return;
  const int at = fd.Release();  // the folder closes it
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder.get()))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  for (const std::string& name : names) {
    if (::unlinkat(at, name.c_str(), 0) == 0) continue;
    Empty(Fd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    ::unlinkat(at, name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

Result<TempFolder> TempFolder::Make(std::string base) {
  const char* usual = std::getenv("TMPDIR");
  if (base.empty()) base = usual != nullptr && *usual == '/' ? usual : "/tmp";
  std::string path = base + "/gpuop-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return FailErrno(errno, "make folder " + path);
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return FailErrno(errno, path);
  return TempFolder(std::move(path), std::move(fd));
}

TempFolder::~TempFolder() {
  if (!fd_.valid()) return;
  Empty(std::move(fd_));
  ::rmdir(path_.c_str());
}

}  // namespace gpuop::os
