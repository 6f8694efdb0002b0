#include <algorithm>
#include <list>

#include "base/mutex.h"
#include "os/watcher.h"

namespace gpuop::os {

struct FakeWatcher::State {
  struct Watched {
    std::vector<std::string> paths;
    Callback callback;
  };
  // Held during callbacks, so that a Watch that is destroyed waits for them.
  Mutex mu;
  std::list<Watched> watches GUARDED_BY(mu);
};

class FakeWatcher::Entry final : public Watch {
 public:
  Entry(std::shared_ptr<State> state, std::list<State::Watched>::iterator at) : state_(std::move(state)), at_(at) {}
  ~Entry() override {
    Lock l(state_->mu);
    state_->watches.erase(at_);
  }

 private:
  std::shared_ptr<State> state_;
  std::list<State::Watched>::iterator at_;
};

FakeWatcher::FakeWatcher() : state_(std::make_shared<State>()) {}

Result<std::unique_ptr<Watch>> FakeWatcher::Start(std::vector<std::string> paths, Callback callback) {
  if (fail) return std::unexpected(*std::exchange(fail, std::nullopt));
  Lock l(state_->mu);
  state_->watches.push_back({std::move(paths), std::move(callback)});
  return std::make_unique<Entry>(state_, std::prev(state_->watches.end()));
}

std::size_t FakeWatcher::Change(const std::string& path) {
  Lock l(state_->mu);
  std::size_t told = 0;
  for (const State::Watched& w : state_->watches) {
    if (std::ranges::find(w.paths, path) == w.paths.end()) continue;
    w.callback({path});
    ++told;
  }
  return told;
}

}  // namespace gpuop::os
