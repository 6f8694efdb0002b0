#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fs.h"
#include "os/watcher.h"

namespace gpuop::operands::launch {

/// Returns when all (or any) of the files exist; wakes on their events alone. kCancelled when `stop` is asked first.
Result<> WaitFor(const std::vector<std::string>& files, bool any, const os::Fs& fs, os::Watcher& watcher,
                 std::stop_token stop);

/// Removes every name that fits a pattern: a path whose last part may hold * and ?. What is not there is no error.
Result<> RemoveAll(const std::vector<std::string>& patterns, os::Fs& fs);

/// Puts a copy of the program at `self` into `folder`, executable, under its own name "gpu-operator-launch".
Result<> Install(const std::string& self, const std::string& folder, os::Fs& fs);

}  // namespace gpuop::operands::launch
