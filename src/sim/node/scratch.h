#pragma once

#include <memory>
#include <string>

#include "os/fs.h"
#include "os/temp_folder.h"

namespace gpuop::sim::node {

/// A folder for machines that go with their cluster. In memory where there is room for it, because a machine is a
/// thousand small files and a busy disk lets each of them wait; else where temporary files are. What a killed cluster
/// left in memory is removed when the next one makes its own.
class Scratch {
 public:
  static Result<Scratch> Make();
  const std::string& path() const { return folder_.path(); }

 private:
  Scratch(os::TempFolder folder, std::unique_ptr<os::FileLock> lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  os::TempFolder folder_;
  std::unique_ptr<os::FileLock> lock_;
};

}  // namespace gpuop::sim::node
