#include "operands/launch/files.h"

#include <fnmatch.h>

#include <algorithm>
#include <condition_variable>

#include "base/mutex.h"

namespace gpuop::operands::launch {
namespace {

constexpr std::size_t kProgramLimit = 256U << 20;

}  // namespace

Result<> WaitFor(const std::vector<std::string>& files, bool any, const os::Fs& fs, os::Watcher& watcher,
                 std::stop_token stop) {
  Mutex mu;
  std::condition_variable_any more;
  bool changed = true;
  ASSIGN(auto watch, watcher.Start(files, [&](const std::vector<std::string>&) {
    Lock l(mu);
    changed = true;
    more.notify_one();
  }));
  const auto there = [&](const std::string& file) { return os::Exists(fs, file).value_or(false); };
  for (;;) {
    {
      Lock l(mu);
      more.wait(mu, stop, [&] { return changed; });
      changed = false;
    }
    if (stop.stop_requested()) return Fail(Code::kCancelled, "asked to stop while waiting for " + files.front());
    if (any ? std::ranges::any_of(files, there) : std::ranges::all_of(files, there)) return {};
  }
}

Result<> RemoveAll(const std::vector<std::string>& patterns, os::Fs& fs) {
  for (const std::string& pattern : patterns) {
    ASSIGN(const auto path, os::SplitPath(pattern));
    auto names = fs.List(path.first);
    if (!names && names.error().code == Code::kNotFound) continue;
    if (!names) return std::unexpected(std::move(names).error());
    for (const std::string& name : *names) {
      if (::fnmatch(path.second.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
      TRY(os::RemoveIfThere(fs, path.first + "/" + name));
    }
  }
  return {};
}

Result<> Install(const std::string& self, const std::string& folder, os::Fs& fs) {
  ASSIGN(const std::string program, fs.Read(self, kProgramLimit));
  return fs.WriteAtomic(folder + "/gpu-operator-launch", program, os::FileAttributes{.mode = 0555});
}

}  // namespace gpuop::operands::launch
