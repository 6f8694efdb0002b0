#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>

#include "api/crd.h"
#include "base/rng.h"
#include "base/text.h"
#include "data/json.h"
#include "e2e/operator/ground.h"
#include "e2e/operator/skipping_executor.h"
#include "kube/api_door.h"
#include "kube/cache.h"
#include "net/url.h"
#include "os/real_fs.h"
#include "sim/user.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// As many as the program has.
constexpr std::size_t kWorkers = 24;
/// How long nobody may have written before a cluster counts as being at rest.
constexpr Duration kRest = 1s;
/// Of longer spans, all that is due in this much runs at once.
constexpr Duration kStride = 5s;

void Sleep(Duration span) { (void)kube::BlockingWait(span, {}); }

/// When somebody last asked for something; leases are not counted.
class Activity {
 public:
  void Note(const kube::ApiRequest& request) {
    if (!request.path.contains("/leases")) last_ = SystemClock().Now().time_since_epoch().count();
  }
  Duration Age() const { return SystemClock().Now().time_since_epoch() - Duration(last_.load()); }

 private:
  std::atomic<Duration::rep> last_ = 0;
};

/// A door over HTTP that notes what passes.
class NotedDoor final : public kube::Door {
 public:
  NotedDoor(std::unique_ptr<kube::ApiDoor> api, Activity& activity) : api_(std::move(api)), activity_(activity) {}

  Result<kube::ApiResponse> Call(const kube::ApiRequest& request, Duration limit, std::stop_token stop) override {
    activity_.Note(request);
    auto answer = api_->door().Call(request, limit, std::move(stop));
    activity_.Note(request);
    return answer;
  }
  std::unique_ptr<kube::Stream> Open(const kube::ApiRequest& request, std::shared_ptr<kube::StreamSink> sink) override {
    return api_->door().Open(request, std::move(sink));
  }

 private:
  std::unique_ptr<kube::ApiDoor> api_;
  Activity& activity_;
};

/// Hollow kubelets, on a thread of their own and the machine's clock.
class Nodes {
 public:
  Nodes(kube::Door& door, Log& log, std::vector<sim::HollowPool> pools, std::vector<sim::TimelineRule> timelines) {
    kube::Client::Options options;
    options.field_manager = "kubelet";
    const kube::Client client(door, std::move(options));
    With([&] {
      pods_ = std::make_unique<kube::Cache<kube::Pod>>(executor_, client, kube::CacheOptions{});
      nodes_ = std::make_unique<kube::Cache<kube::Node>>(executor_, client, kube::CacheOptions{});
      kubelets_ =
          std::make_unique<sim::Kubelets>(sim::Kubelets::Parts{executor_, client, log, *pods_, *nodes_, RandomSeed()},
                                          std::move(pools), std::move(timelines));
      pods_->Start();
      nodes_->Start();
      kubelets_->Start();
    });
  }
  ~Nodes() {
    With([this] {
      kubelets_.reset();
      nodes_.reset();
      pods_.reset();
    });
  }
  sim::Kubelets& kubelets() { return *kubelets_; }

  /// Calls `what` on the kubelets' thread.
  void With(const std::function<void()>& what) {
    Mutex mu;
    std::condition_variable_any changed;
    bool done = false;
    executor_.Post([&] {
      what();
      const Lock l(mu);
      done = true;
      changed.notify_one();
    });
    Lock l(mu);
    changed.wait(mu, [&] { return done; });
  }

 private:
  ThreadExecutor executor_{1};
  std::unique_ptr<kube::Cache<kube::Pod>> pods_;
  std::unique_ptr<kube::Cache<kube::Node>> nodes_;
  std::unique_ptr<sim::Kubelets> kubelets_;
};

class RealGround final : public Ground {
 public:
  RealGround(const std::string& kubeconfig, Log& log)
      : fs_(os::RealFs::Open("/").value()),
        config_(kube::FindConfig(*fs_, {.kubeconfig = kubeconfig}).value()),
        log_(log),
        admin_(kube::ApiDoor::Open(*fs_, config_).value()) {
    static const bool kOnce = (Clean(), true);  // what another process left
    (void)kOnce;
  }
  ~RealGround() override {
    nodes_.reset();
    Clean();
  }

  kube::ApiResponse Call(const std::string& method, const std::string& path, const std::string& body,
                         const std::string& content_type) override {
    kube::ApiRequest request;
    request.method = method;
    const auto parts = Cut(path, '?');
    request.path = parts ? std::string(parts->first) : path;
    if (parts) request.query = net::DecodeQuery(parts->second).value();
    if (!body.empty()) request.content_type = content_type;
    request.body = body;
    auto answer = admin_->door().Call(request, 30s, {});
    if (answer) return *std::move(answer);
    ADD_FAILURE() << answer.error().text;
    return {.status = 504};
  }
  Executor& executor() override { return executor_; }

  /// A short span is waited for as it is. Of a longer one, only until the cluster is at rest, in front and whenever the
  /// rest of it, which is skipped, has brought something about.
  void RunFor(Duration span) override {
    const TimePoint begin = executor_.Now();
    if (span <= 3s) return Sleep(span);
    Rest(span);
    while (executor_.Now() - begin < span) {
      executor_.Skip(std::min(kStride, span - (executor_.Now() - begin)));
      Sleep(30ms);
      if (activity_.Age() < 30ms) Rest(10s);
    }
    Rest(10s);
  }
  std::unique_ptr<kube::Door> DoorFor(const std::string& ns, const std::string& account) override {
    const sim::User user = sim::User::ServiceAccount(ns, account);
    kube::ApiConfig config = config_;
    config.impersonation = {.user = user.name, .groups = user.groups};
    return std::make_unique<NotedDoor>(kube::ApiDoor::Open(*fs_, std::move(config)).value(), activity_);
  }
  void StartNodes(std::vector<sim::HollowPool> pools, std::vector<sim::TimelineRule> timelines) override {
    kube::ApiConfig config = config_;
    config.user_agent = "kubelet";
    node_door_ = std::make_unique<NotedDoor>(kube::ApiDoor::Open(*fs_, std::move(config)).value(), activity_);
    nodes_ = std::make_unique<Nodes>(*node_door_, log_, std::move(pools), std::move(timelines));
    const std::size_t count = nodes_->kubelets().Names().size();
    Until("nodes are ready", [&] { return Schedulable() == count; });
  }
  void WithKubelets(const std::function<void(sim::Kubelets&)>& what) override {
    nodes_->With([&] { what(nodes_->kubelets()); });
  }
  sim::Faults* faults() override { return nullptr; }

 private:
  void Rest(Duration at_most) {
    const TimePoint begin = SystemClock().Now();
    do Sleep(50ms);
    while (SystemClock().Now() - begin < at_most && (activity_.Age() < kRest || SystemClock().Now() - begin < kRest));
  }
  void Until(const char* what, const std::function<bool()>& done) {
    for (int i = 0; i < 600; ++i, Sleep(100ms))
      if (done()) return;
    ADD_FAILURE() << "not within a minute: " << what;
  }
  json::array List(const std::string& path) {
    const auto answer = Call("GET", path, {}, {});
    return answer.status == 200 ? json::parse(answer.body).at("items").as_array() : json::array();
  }
  std::size_t Schedulable() {
    return static_cast<std::size_t>(std::ranges::count_if(
        List("/api/v1/nodes"), [](const json::value& node) { return data::GetArray(node, "spec.taints") == nullptr; }));
  }

  /// Deletes all that a scenario makes. Namespaces stay: they take long to go.
  void Clean() {
    std::vector<std::string> collections;
    for (const api::Definition& d : api::Definitions())
      if (d.resource.group == "nvidia.com") collections.push_back(kube::PathOf({d.resource, {}, {}, {}}));
    for (const char* of : {"apps/v1/namespaces/gpu-operator/daemonsets", "node.k8s.io/v1/runtimeclasses",
                           "policy/v1/namespaces/default/poddisruptionbudgets",
                           "rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles",
                           "rbac.authorization.k8s.io/v1/namespaces/gpu-operator/rolebindings",
                           "coordination.k8s.io/v1/namespaces/gpu-operator/leases"})
      collections.push_back(std::string("/apis/") + of);
    for (const char* of : {"namespaces/gpu-operator/pods", "namespaces/default/pods",
                           "namespaces/gpu-operator/services", "namespaces/gpu-operator/secrets", "nodes"})
      collections.push_back(std::string("/api/v1/") + of);
    for (const std::string& of : collections) Call("DELETE", of + "?gracePeriodSeconds=0", {}, {});
    Until("nothing is left", [&] {
      return std::ranges::all_of(collections, [this](const std::string& of) {
        if (List(of).empty()) return true;
        Call("DELETE", of + "?gracePeriodSeconds=0", {}, {});
        return false;
      });
    });
    for (const char* of : {"configmaps", "serviceaccounts", "events"})
      Call("DELETE", std::string("/api/v1/namespaces/gpu-operator/") + of, {}, {});
    for (const char* of : {"clusterroles", "clusterrolebindings"})
      Call("DELETE",
           std::string("/apis/rbac.authorization.k8s.io/v1/") + of + "?labelSelector=nvidia.com/gpu-operator.state", {},
           {});
    Call("DELETE", "/api/v1/namespaces/default/events", {}, {});
    Call("PATCH", "/api/v1/namespaces/gpu-operator",
         R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":null,"pod-security.kubernetes.io/audit":null,)"
         R"("pod-security.kubernetes.io/warn":null,"openshift.io/cluster-monitoring":null}}})",
         "application/merge-patch+json");
    CleanDefinitions();
  }

  /// Definitions that are not ours go, and those of ours that a scenario has changed.
  void CleanDefinitions() {
    static constexpr const char* kPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const auto wrong = [this] {
      std::vector<std::string> out;
      for (const json::value& crd : List(kPath)) {
        const std::string_view group = data::StringOr(crd, "spec.group");
        const bool ours = group == "nvidia.com" || group == "nfd.k8s-sigs.io";
        if (!ours || data::IntOr(crd, "metadata.generation") != 1)
          out.emplace_back(data::StringOr(crd, "metadata.name"));
      }
      return out;
    };
    for (const std::string& name : wrong()) Call("DELETE", std::string(kPath) + "/" + name, {}, {});
    Until("definitions are gone", [&] { return wrong().empty(); });
  }

  std::unique_ptr<os::Fs> fs_;
  const kube::ApiConfig config_;
  Log& log_;
  Activity activity_;
  SkippingExecutor executor_{kWorkers};
  std::unique_ptr<kube::ApiDoor> admin_;
  std::unique_ptr<NotedDoor> node_door_;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace

bool OnRealControlPlane() { return !net::ProcessEnv("GPUOP_KUBECONFIG").empty(); }

std::unique_ptr<Ground> MakeRealGround(const std::string& kubeconfig, Log& log) {
  return std::make_unique<RealGround>(kubeconfig, log);
}

}  // namespace gpuop::e2e
