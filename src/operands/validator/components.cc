#include "operands/validator/components.h"

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "base/mutex.h"
#include "operands/validator/path_news.h"
#include "operands/validator/report.h"

namespace gpuop::operands::validator {
namespace {

/// Whether files changed since somebody last asked.
class Changes {
 public:
  void Happened() {
    Lock l(mu_);
    fresh_ = true;
    more_.notify_all();
  }
  /// Whether anything changed before `limit` was over.
  bool Wait(Duration limit, const std::stop_token& stop) {
    Lock l(mu_);
    more_.wait_for(mu_, stop, limit, [this]() REQUIRES(mu_) { return fresh_; });
    return std::exchange(fresh_, false);
  }

 private:
  Mutex mu_;
  std::condition_variable_any more_;
  bool fresh_ GUARDED_BY(mu_) = false;
};

}  // namespace

Result<> RunComponent(const Surroundings& with) {
  switch (with.options.component) {
    case Component::kDriver: return ValidateDriver(with);
    case Component::kToolkit: return ValidateToolkit(with);
    case Component::kCuda: return ValidateCuda(with);
    case Component::kPlugin: return ValidatePlugin(with);
    case Component::kMofed: return ValidateMofed(with);
    case Component::kNvidiaFs:
    case Component::kGdrcopy:
    case Component::kNvidiaPeermem: return ValidateModule(with);
    case Component::kVfioPci:
    case Component::kVgpuManager:
    case Component::kVgpuDevices:
    case Component::kCcManager: return ValidateSandbox(with);
    case Component::kMetrics:
    case Component::kWatch: break;
  }
  return Fail(Code::kInternal, "component " + std::string(Name(with.options.component)) + " is a program of its own");
}

Error ErrorOf(const Surroundings& with, const api::Finding& finding) {
  return {Code::kUnavailable,
          std::string(api::Find(finding.code).name) + ": " +
              api::ConditionMessage(finding, with.options.node.empty() ? "this one" : with.options.node)};
}

void Tell(const Surroundings& with, const api::Finding& finding) {
  if (with.client == nullptr || with.options.node.empty()) return;
  const NodeReport report(*with.client, with.options.node, with.clock);
  if (const auto written = report.Write(finding); !written)
    with.log.Warn("the node's condition cannot be written", {{"reason", written.error().text}});
}

Result<> WaitUntilRight(const Surroundings& with, std::string_view ready, std::vector<std::string> paths,
                        const std::function<std::optional<api::Finding>()>& look) {
  Changes changes;
  PathNews path_news(with.own, paths);
  std::unique_ptr<os::Watch> watch;
  if (with.options.with_wait && !paths.empty()) {
    ASSIGN(watch, with.watcher.Start(std::move(paths), [&](const std::vector<std::string>& changed) {
      if (path_news.Any(changed)) changes.Happened();
    }));
  }
  std::optional<api::Finding> told;
  const Duration longest = std::max<Duration>(with.options.interval, std::chrono::minutes(1));
  for (Duration pause = with.options.interval;;) {
    std::optional<api::Finding> found = look();
    if (!found) return {};
    TRY(with.files.Remove(ready));
    if (found != told) {
      with.log.Warn("not yet", {{"reason", std::string(api::Find(found->code).name)}, {"evidence", found->evidence}});
      Tell(with, *found);
    }
    if (!with.options.with_wait) return std::unexpected(ErrorOf(with, *found));
    told = std::move(found);
    pause = changes.Wait(pause, with.stop) ? with.options.interval : std::min(pause * 2, longest);
    if (with.stop.stop_requested()) return Fail(Code::kCancelled, "stopped while waiting: " + told->evidence);
  }
}

}  // namespace gpuop::operands::validator
