#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::os {

/// Ends the watch when destroyed; no callback runs or comes after that. Not to be destroyed inside its callback.
class Watch {
 public:
  virtual ~Watch() = default;
};

/// Tells when files change. Thread-safe.
class Watcher {
 public:
  /// Gets the watched paths that changed, each once; several changes may come as one call.
  using Callback = std::function<void(const std::vector<std::string>& changed)>;

  virtual ~Watcher() = default;
  /// Watches absolute paths, which need not exist yet. A file changes when what one reads through its path changes: it
  /// is written and closed, replaced, made, removed, or any link or folder on the way to it is exchanged (as the
  /// kubelet does with `..data` of a mounted ConfigMap). A folder changes when a name in it comes, goes, or is written.
  /// Every change after Start returns is reported; one may be reported that left things as they were. Callbacks come
  /// one at a time on a thread of the watch.
  virtual Result<std::unique_ptr<Watch>> Start(std::vector<std::string> paths, Callback callback) = 0;
  /// The same, but deaf to what is written: only names that come, go or are exchanged count. For /dev, where nodes are
  /// written to all the time.
  virtual Result<std::unique_ptr<Watch>> StartNames(std::vector<std::string> paths, Callback callback) = 0;
};

/// inotify(7). Costs nothing while nothing changes.
class InotifyWatcher final : public Watcher {
 public:
  Result<std::unique_ptr<Watch>> Start(std::vector<std::string> paths, Callback callback) override;
  Result<std::unique_ptr<Watch>> StartNames(std::vector<std::string> paths, Callback callback) override;
};

/// Reports what a test says has changed, on the test's thread.
class FakeWatcher final : public Watcher {
 public:
  FakeWatcher();
  Result<std::unique_ptr<Watch>> Start(std::vector<std::string> paths, Callback callback) override;
  Result<std::unique_ptr<Watch>> StartNames(std::vector<std::string> paths, Callback callback) override {
    return Start(std::move(paths), std::move(callback));
  }
  /// Calls back whoever watches `path`. How many did.
  std::size_t Change(const std::string& path);
  /// What the next Start fails with.
  std::optional<Error> fail;

 private:
  struct State;
  class Entry;
  std::shared_ptr<State> state_;
};

}  // namespace gpuop::os
