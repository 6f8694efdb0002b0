#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace gpuop::os {

/// A new folder in `base`, by default $TMPDIR (or /tmp), that goes with everything in it when the object is destroyed.
/// Removal works on descriptors and follows no link, so that what a test put there cannot lead it elsewhere.
class TempFolder {
 public:
  static Result<TempFolder> Make(std::string base = "");
  TempFolder(TempFolder&&) = default;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();

  /// Absolute.
  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

 private:
  TempFolder(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
};

}  // namespace gpuop::os
