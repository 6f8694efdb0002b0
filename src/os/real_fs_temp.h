#pragma once
// How RealFs replaces a file: a temporary one in the same folder, moved over it.

#include <string>
#include <string_view>

#include "os/fd.h"
#include "os/fs.h"

namespace gpuop::os {

Result<> WriteAll(int fd, std::string_view bytes, const std::string& path);

/// An empty file in a folder that is ours alone until it is moved to its place or destroyed. Its name is always the
/// same for the same target, so that what a killed writer leaves is taken over and never piles up; a lock on it keeps
/// writers apart. Borrows the folder's descriptor.
class TempFile {
 public:
  /// Waits for another writer of the same name to finish. `path` is what errors name.
  static Result<TempFile> Take(int folder, std::string name, const std::string& path);
  TempFile(TempFile&&) = default;
  TempFile& operator=(TempFile&&) = delete;
  ~TempFile();

  /// Writes, sets attributes, and, if `sync`, waits until all is on the disk.
  Result<> Fill(std::string_view bytes, const FileAttributes& attributes, bool sync);
  /// Gives it the name `target` in its folder, in place of what has it.
  Result<> MoveTo(const std::string& target);

 private:
  TempFile(int folder, std::string name, std::string path, Fd fd)
      : folder_(folder), name_(std::move(name)), path_(std::move(path)), fd_(std::move(fd)) {}

  int folder_;
  std::string name_, path_;
  Fd fd_;
  bool moved_ = false;
};

}  // namespace gpuop::os
