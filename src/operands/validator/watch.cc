#include "operands/validator/watch.h"

#include <algorithm>
#include <condition_variable>

#include "base/mutex.h"
#include "gpu/driver_root.h"
#include "kube/cache.h"
#include "operands/host/host_driver.h"
#include "operands/validator/cdi_check.h"
#include "operands/validator/conclusion.h"
#include "operands/validator/kernel_log.h"
#include "operands/validator/path_news.h"
#include "operands/validator/probe.h"
#include "operands/validator/report.h"
#include "operands/validator/workload_pod.h"
#include "os/heap.h"
#include "os/real_fs.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

constexpr Duration kPodLimit = std::chrono::seconds(300);
/// A kubelet that has just started counts no device until its plugins have told it theirs: no news yet.
constexpr Duration kQuietly = std::chrono::seconds(30);
/// One change is many events: files come one after another.
constexpr Duration kSettle = std::chrono::seconds(2);
constexpr Duration kFirstRetry = std::chrono::seconds(10), kLastRetry = std::chrono::minutes(5);

/// What has happened since the last look.
struct News {
  /// Something that may have changed how containers get their GPUs: the workload must run again.
  bool path = false;
  bool node = false, kernel = false;
  bool any() const { return path || node || kernel; }
};

/// Files and folders whose change means that driver, toolkit or engine may have changed.
std::vector<std::string> WatchedPaths(const StatusFiles& files) {
  std::vector<std::string> out;
  for (const char* const name : {"driver-ready", ".driver-ctr-ready"}) out.push_back(files.PathOf(name));
  for (const char* const path : {"/host/dev/nvidiactl", "/host/dev/nvidia-uvm", "/host/var/run/cdi", "/host/etc/cdi",
                                 "/host/etc/containerd/config.toml", "/host/etc/containerd/conf.d",
                                 "/host/run/containerd/containerd.sock", "/host/etc/crio/crio.conf.d",
                                 "/host/run/crio/crio.sock", "/host/etc/docker/daemon.json", "/host/run/docker.sock"})
    out.emplace_back(path);
  for (int gpu = 0; gpu < 16; ++gpu) out.push_back("/host/dev/nvidia" + std::to_string(gpu));
  return out;
}

bool OffersDiffer(const kube::Node& a, const kube::Node& b) {
  return GpuResources(a) != GpuResources(b) ||
         a.meta.labels.Get("nvidia.com/mig.config.state") != b.meta.labels.Get("nvidia.com/mig.config.state");
}

class ChainWatch {
 public:
  explicit ChainWatch(const Surroundings& with)
      : with_(with),
        report_(*with.client, with.options.node, with.clock),
        nodes_(*with.executor, *with.client,
               {.field_selector = "metadata.name=" + with.options.node, .log = &with.log}) {
    nodes_.OnChange([this](const kube::Change<kube::Node>& change) { OnNode(change); });
    // The workload proved CUDA just now, in the container before this one.
    if (with.files.Has("cuda-ready")) cuda_ = api::Finding{kProved, {}};
  }

  Result<> Run() {
    const std::vector<std::string> paths = WatchedPaths(with_.files);
    PathNews path_news(with_.own, paths);
    ASSIGN(const auto files, with_.watcher.Start(paths, [&](const std::vector<std::string>& changed) {
      if (path_news.Any(changed)) Happened(&News::path);
    }));
    ListenToKernel();
    nodes_.Start();
    Duration retry = kFirstRetry;
    WaitForNode();
    WaitForOffer();
    for (News news; !with_.stop.stop_requested();) {
      const bool broken = Look(news);
      retry = broken ? retry : kFirstRetry;
      std::optional<Duration> limit;
      if (broken) limit = retry;
      if (!broken && awake_ && with_.options.health_interval > Duration::zero()) limit = with_.options.health_interval;
      news = Wait(limit);
      if (broken && !news.any()) {
        retry = std::min(retry * 2, kLastRetry);
        news.path = cuda_ && cuda_->code != kProved;
      }
    }
    return {};
  }

 private:
  void Happened(bool News::* what) {
    Lock l(mu_);
    news_.*what = true;
    more_.notify_all();
  }

  void OnNode(const kube::Change<kube::Node>& change) {
    if (change.now != nullptr && change.old != nullptr &&
        change.now->meta.annotations.Get(api::kProveAnnotation) !=
            change.old->meta.annotations.Get(api::kProveAnnotation))
      Happened(&News::path);
    if (change.now == nullptr || (change.old != nullptr && !OffersDiffer(*change.old, *change.now))) return;
    Happened(&News::node);
    // Other MIG devices are other CDI devices and other nodes.
    if (change.old != nullptr && change.now->meta.labels.Get("nvidia.com/mig.config.state") == "success" &&
        change.old->meta.labels.Get("nvidia.com/mig.config.state") != "success")
      Happened(&News::path);
  }

  void ListenToKernel() {
    auto log = KernelLog::Start("/host/dev/kmsg", [this](const std::string& line, bool old) {
      auto xid = gpu::ParseXidMessage(line);
      if (!xid) return;
      {
        Lock l(mu_);
        fresh_xids_.push_back({*std::move(xid), old});
      }
      if (!old) Happened(&News::kernel);
    });
    if (!log)
      return with_.log.Warn("the kernel's log cannot be read: no Xid will be seen", {{"reason", log.error().text}});
    kernel_ = *std::move(log);
  }

  void WaitForNode() {
    Lock l(mu_);
    more_.wait_for(mu_, with_.stop, std::chrono::seconds(30), [this]() REQUIRES(mu_) { return news_.node; });
    news_.node = false;
  }

  /// Where a device plugin was found before this began, what it offers is waited for.
  void WaitForOffer() {
    const TimePoint end = with_.clock.Now() + kQuietly;
    while (with_.files.Has("plugin-ready") && !Offers()) {
      Lock l(mu_);
      if (!more_.wait_until(mu_, with_.stop, end, [this]() REQUIRES(mu_) { return news_.node; })) return;
      news_.node = false;
    }
  }

  bool Offers() const {
    const auto node = nodes_.Get(with_.options.node);
    return !node || std::ranges::any_of(GpuResources(*node), [](const GpuResource& r) { return r.allocatable > 0; });
  }

  /// Waits for news, and then until they have settled.
  News Wait(std::optional<Duration> limit) {
    Lock l(mu_);
    const auto ready = [this]() REQUIRES(mu_) { return news_.any(); };
    if (limit)
      more_.wait_for(mu_, with_.stop, *limit, ready);
    else
      more_.wait(mu_, with_.stop, ready);
    if (news_.any()) more_.wait_for(mu_, with_.stop, kSettle, [] { return false; });
    return std::exchange(news_, {});
  }

  /// Looks at the whole chain and tells. True when a link is broken.
  bool Look(const News& news) {
    TakeXids();
    Evidence e;
    e.driver = LookAtDriver(e.host_driver);
    e.platform = host::PlatformOf(*with_.host);
    awake_ = !e.driver.driver.gpus.empty();
    for (const GpuState& gpu : e.driver.driver.gpus) awake_ = awake_ && gpu.awake;
    const bool driver_broken = e.driver.Broken() != nullptr;
    e.cdi = CheckCdi(*with_.host);
    if (const auto node = nodes_.Get(with_.options.node)) {
      e.offered = GpuResources(*node);
      if (!with_.files.Has("plugin-ready") && e.offered.empty())
        e.resources = std::nullopt;  // no device plugin was asked for
      else
        e.resources = CheckResources(*node, e.driver.driver.gpus);
    }
    if (driver_broken) {
      cuda_.reset();  // what was proved before counts no longer
    } else if (!cuda_ || news.path || !xids_survived_) {
      RunCuda();
    }
    e.cuda = cuda_;
    e.xids = xids_;
    e.xids_survived = xids_survived_;
    const api::Finding finding = Conclude(e);
    os::SettleDown();
    Say(finding);
    if (finding.code == kProved || api::Find(finding.code).code == kXidReported)
      xids_survived_ = cuda_ && cuda_->code == kProved;
    return api::Find(finding.code).severity == api::Severity::kBroken;
  }

  DriverReport LookAtDriver(bool& host_driver) {
    host_driver = host::FindHostDriver(*with_.host).present();
    const std::string root = host_driver ? "/host" : with_.options.driver_install_dir_ctr;
    const auto tree = os::RealFs::Open(root);
    return CheckDriver(*with_.host, tree ? **tree : *with_.host, [&] {
      return AskDriverInChild(with_.processes, gpu::DriverLibraryCandidates(root, "libnvidia-ml.so.1"),
                              with_.options.driver_limit, with_.stop);
    });
  }

  void RunCuda() {
    if (with_.options.image.empty() || !with_.options.with_workload) return;
    WorkloadRunner runner(*with_.client, *with_.executor, with_.options, with_.log);
    auto ran =
        runner.Run(Workload::kCuda, {}, kPodLimit, [this](const api::Finding& trouble) { Say(trouble); }, with_.stop);
    if (ran)
      cuda_ = *std::move(ran);
    else
      cuda_ = api::Finding{kCudaPodFailed, "the workload Pod could not be watched to its end: " + ran.error().text};
  }

  void TakeXids() {
    std::vector<std::pair<gpu::XidMessage, bool>> fresh;
    {
      Lock l(mu_);
      fresh.swap(fresh_xids_);
    }
    for (auto& [xid, old] : fresh) {
      const bool fatal = IsFatal(xid);
      if (!old) {
        with_.log.Warn("the driver reported an Xid",
                       {{"gpu", xid.pci}, {"xid", std::to_string(xid.code)}, {"text", xid.text}});
        if (!fatal) TellXid(xid);
      }
      if (!fatal) continue;
      if (!old) xids_survived_ = false;
      xids_.push_back(std::move(xid));
      if (xids_.size() > 64) xids_.erase(xids_.begin());
    }
  }

  /// News about a program that made an error of its own: an Event, no condition.
  void TellXid(const gpu::XidMessage& xid) {
    const auto told = report_.Tell({kXidReported, "GPU " + xid.pci + ": Xid " + std::to_string(xid.code) + ", " +
                                                      std::string(gpu::FindXid(xid.code).meaning)});
    if (!told) with_.log.Warn("the Event cannot be written", {{"reason", told.error().text}});
  }

  void Say(const api::Finding& finding) {
    const auto written = report_.Write(finding);
    if (!written) return with_.log.Warn("the node's condition cannot be written", {{"reason", written.error().text}});
    if (said_ == finding) return;
    said_ = finding;
    with_.log.Info("the chain",
                   {{"reason", std::string(api::Find(finding.code).name)}, {"evidence", finding.evidence}});
  }

  const Surroundings& with_;
  const NodeReport report_;
  std::optional<api::Finding> cuda_, said_;
  std::vector<gpu::XidMessage> xids_;
  bool xids_survived_ = true, awake_ = false;

  Mutex mu_;
  std::condition_variable_any more_;
  News news_ GUARDED_BY(mu_);
  std::vector<std::pair<gpu::XidMessage, bool>> fresh_xids_ GUARDED_BY(mu_);
  // Last: when they are gone nothing calls in here.
  std::unique_ptr<KernelLog> kernel_;
  kube::Cache<kube::Node> nodes_;
};

Result<> RemoveReadyFiles(const Surroundings& with) {
  ASSIGN(const auto names, with.own.List(with.options.output_dir));
  for (const std::string& name : names)
    if (name.ends_with("-ready") && !name.starts_with(".")) TRY(with.files.Remove(name));
  return {};
}

}  // namespace

Result<> RunWatch(const Surroundings& with) {
  if (with.client == nullptr) return Fail(Code::kUnavailable, with.api_error);
  if (with.host == nullptr) return Fail(Code::kInvalid, "/host is not mounted: nothing can be looked at");
  TRY(ChainWatch(with).Run());
  TRY(RemoveReadyFiles(with));
  // The stop token has fired, and with it every call that it would end.
  const NodeReport report(with.client->With({}), with.options.node, with.clock);
  return report.Write({kValidatorStopped, "its Pod was asked to stop"});
}

}  // namespace gpuop::operands::validator
