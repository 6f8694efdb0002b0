#include <condition_variable>

#include "base/mutex.h"
#include "kube/cache.h"
#include "kube/types/core.h"
#include "operands/validator/workload_pod.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

constexpr const char* kDaemonSet = "nvidia-operator-validator";
const kube::Resource kDaemonSets{"apps", "v1", "daemonsets", "DaemonSet", true};

/// The newest state of one Pod, and the kubelet's newest complaint about it, by watches.
class PodWatch {
 public:
  PodWatch(Executor& executor, const kube::Client& client, const std::string& ns, const std::string& name,
           const std::string& uid)
      : pods_(executor, client, {.ns = ns, .field_selector = "metadata.name=" + name}),
        events_(executor, client, {.ns = ns, .field_selector = "involvedObject.uid=" + uid}) {
    pods_.OnChange([this](const kube::Change<kube::Pod>& change) {
      Lock l(mu_);
      seen_.pod = change.now;
      seen_.gone = change.now == nullptr;
      Wake();
    });
    events_.OnChange([this](const kube::Change<kube::Event>& change) {
      if (change.now == nullptr || change.now->type != "Warning") return;
      Lock l(mu_);
      seen_.complaint = std::string(change.now->reason.view()) + ": " + change.now->message;
      Wake();
    });
    pods_.Start();
    events_.Start();
  }

  struct Seen {
    std::shared_ptr<const kube::Pod> pod;
    bool gone = false;
    std::string complaint;
  };
  /// Waits for something new; nullopt when there was none until `until`, or `stop` was asked for.
  std::optional<Seen> Wait(TimePoint until, const std::stop_token& stop) {
    Lock l(mu_);
    more_.wait_until(mu_, stop, until, [this]() REQUIRES(mu_) { return fresh_; });
    if (!fresh_) return std::nullopt;
    fresh_ = false;
    return seen_;
  }

 private:
  void Wake() REQUIRES(mu_) {
    fresh_ = true;
    more_.notify_all();
  }

  Mutex mu_;
  std::condition_variable_any more_;
  Seen seen_ GUARDED_BY(mu_);
  bool fresh_ GUARDED_BY(mu_) = false;
  // Last: when they are gone nothing calls in here.
  kube::Cache<kube::Pod> pods_;
  kube::Cache<kube::Event> events_;
};

}  // namespace

Result<> WorkloadRunner::DeleteEarlier(std::string_view app) {
  ASSIGN(const auto pods, client_.List<kube::Pod>({.ns = options_.ns,
                                                   .label_selector = "app=" + std::string(app),
                                                   .field_selector = "spec.nodeName=" + options_.node}));
  for (const kube::Pod& pod : pods) {
    auto deleted =
        client_.Delete(kube::Ref<kube::Pod>(options_.ns, pod.meta.name), {.grace_seconds = 0, .uid = pod.meta.uid});
    if (!deleted && deleted.error().code != Code::kNotFound) return std::unexpected(std::move(deleted).error());
  }
  return {};
}

Result<api::Finding> WorkloadRunner::Run(Workload workload, const std::string& resource, Duration limit,
                                         const std::function<void(const api::Finding&)>& on_trouble,
                                         const std::stop_token& stop) {
  const kube::Client client = client_.With(stop);
  ASSIGN(const auto daemon_set, client.Get(kube::ObjectRef{kDaemonSets, options_.ns, kDaemonSet, {}}));
  const data::JsonObject wanted =
      MakeWorkloadPod({.workload = workload, .options = options_, .daemon_set = daemon_set, .resource = resource});
  TRY(DeleteEarlier(data::StringOr(wanted, "metadata.labels.app")));
  ASSIGN(const auto made, client.Create(kube::ResourceOf<kube::Pod>(), wanted));
  const std::string name(data::StringOr(made, "metadata.name")), uid(data::StringOr(made, "metadata.uid"));
  log_.Info("workload Pod created", {{"pod", name}});
  PodWatch watch(executor_, client, options_.ns, name, uid);
  const TimePoint end = executor_.Now() + limit;
  api::Finding trouble{kProved, {}};
  while (const auto seen = watch.Wait(end, stop)) {
    if (seen->gone) return api::Finding{kCudaPodFailed, "the Pod " + name + " was deleted"};
    if (seen->pod == nullptr) continue;
    PodVerdict verdict = Judge(*seen->pod, seen->complaint);
    if (verdict.over) return std::move(verdict.finding);
    if (verdict.finding.code != kProved && verdict.finding != trouble) on_trouble(verdict.finding);
    trouble = std::move(verdict.finding);
  }
  if (stop.stop_requested()) return Fail(Code::kCancelled, "stopped while the Pod " + name + " was running");
  if (trouble.code != kProved) return trouble;
  return api::Finding{kCudaPodTimeout,
                      "the Pod " + name + " had not ended after " +
                          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit).count()) + " s"};
}

}  // namespace gpuop::operands::validator
