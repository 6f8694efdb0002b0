#pragma once
// A whole operator on a whole cluster: what its scenarios share. The cluster is an embedded one for each, on a virtual
// clock, or a real control plane (ground.h). The operator has the rights that the chart gives it, and no more.

#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "e2e/operator/ground.h"
#include "kube/counting_door.h"
#include "operator/operator.h"

namespace gpuop::e2e {

namespace json = boost::json;

/// The policy that most scenarios are about.
inline constexpr const char* kPolicyPath = "/apis/nvidia.com/v1/clusterpolicies/cluster-policy";
/// The label by which node feature discovery tells a GPU node.
inline constexpr const char* kPciLabel = "feature.node.kubernetes.io/pci-10de.present";

/// Ends a scenario that needs what only the embedded cluster can do.
#define GPUOP_EMBEDDED_ONLY(why) \
  if (OnRealControlPlane()) GTEST_SKIP() << (why)

/// What a GPU node looks like once node feature discovery has described it.
sim::HollowPool GpuPool(std::int64_t count, const std::string& name = "gpu-{i}", const std::string& os = "ubuntu",
                        const std::string& os_version = "24.04", const std::string& runtime = "containerd://2.1.0",
                        const std::string& kernel = "6.8.0-31-generic");
sim::HollowPool CpuPool(std::int64_t count);
/// One setting of the timeline of Pods in the operator's namespace whose names match the glob.
sim::TimelineRule Pods(const std::string& name, const std::string& setting, const std::string& value);

/// What OpenShift's Driver Toolkit has images for in a Bed.
inline constexpr const char *kOldRhcos = "419.96.202509", *kNewRhcos = "419.96.202510";
/// A GPU node of OpenShift; `kubelet_says` is what its kubelet calls the system's version ("" for nothing).
sim::HollowPool RhcosPool(const std::string& name, const std::string& rhcos, const std::string& kubelet_says);

/// The chart's default ClusterPolicy, changed by a merge patch.
json::object DefaultPolicy(const std::string& patch = "{}", const std::string& name = "cluster-policy");

/// GPUOP_SEED, or 1: the order of all that happens at once. Every scenario holds with any.
std::uint64_t SeedOfRun();

class Bed {
 public:
  struct Options {
    std::uint64_t seed = SeedOfRun();
    std::vector<sim::HollowPool> pools = {GpuPool(1)};
    std::vector<sim::TimelineRule> timelines = {};
    bool install_crds = true, start = true;
    bool monitoring = false;  ///< the Prometheus Operator's definitions too
    /// Called before each of the operator's requests is sent, by who sends it: what others do at the worst moment.
    std::function<void(Bed&, const kube::ApiRequest&)> before = nullptr;
    bool openshift = false;  ///< OpenShift's definitions and objects too and monitoring
  };

  Bed() : Bed(Options()) {}
  explicit Bed(Options options);
  ~Bed();

  kube::CountingDoor& door() { return *door_; }
  op::Operator& op() { return *operator_; }
  FakeLog& log() { return log_; }
  sim::Faults& faults() { return *ground_->faults(); }  ///< where GPUOP_EMBEDDED_ONLY

  /// Starts the operator (again, as after a crash, if it runs).
  void StartOperator();
  void StopOperator() { operator_.reset(); }
  /// One that is the scenario's own. Surroundings and seed are the bed's.
  std::unique_ptr<op::Operator> MakeOperator(op::Operator::Options options);

  void RunFor(Duration span) { ground_->RunFor(span); }
  /// Runs until `done` holds; false when it does not within a minute (or `limit`).
  bool Until(const std::function<bool()>& done, Duration limit = std::chrono::minutes(1));

  /// What a node's kubelet offers of a resource from now on.
  void SetCapacity(const std::string& node, const std::string& resource, const std::string& quantity);
  /// A node's kubelet is cut off.
  void Partition(const std::string& node);
  /// The Prometheus Operator's definitions.
  void AddMonitoring();

  // As an administrator, past faults and counters. Failing is a test's failure, but for Call.
  kube::ApiResponse Call(const std::string& method, const std::string& path, const std::string& body = {},
                         const std::string& content_type = "application/json") {
    return ground_->Call(method, path, body, content_type);
  }
  void Apply(const json::object& object);
  void Delete(const std::string& path);
  void Patch(const std::string& path, const std::string& merge_patch, bool status = false);
  json::value Get(const std::string& path);  ///< null when it is not there
  std::vector<json::object> List(const std::string& path);

  json::value Policy(const std::string& name = "cluster-policy") {
    return Get("/apis/nvidia.com/v1/clusterpolicies/" + name);
  }
  std::string State(const std::string& name = "cluster-policy");
  /// "True Reconciled: message" of a condition; "" when there is none.
  std::string Condition(const json::value& object, const std::string& type);
  std::string Condition(const std::string& type) { return Condition(Policy(), type); }
  bool Ready() { return State() == "ready"; }
  bool BecomesReady(Duration limit = std::chrono::minutes(5)) {
    return Until([this] { return Ready(); }, limit);
  }
  json::value DaemonSet(const std::string& name) {
    return Get("/apis/apps/v1/namespaces/gpu-operator/daemonsets/" + name);
  }
  std::vector<std::string> DaemonSets();
  /// The value of a metric without labels, as /metrics tells it; nullopt when it is not there.
  std::optional<double> Metric(const std::string& name);
  /// The value of a node's label; "" when it has none.
  std::string Label(const std::string& node, const std::string& key);
  void SetLabel(const std::string& node, const std::string& key, const std::string& value);
  void RemoveLabel(const std::string& node, const std::string& key);
  /// The operator's requests that were refused, in words; "" when none was.
  std::string Refused() const;
  /// Images of the running Pods of a node whose owner's name begins so.
  std::vector<std::string> PodImages(const std::string& node, const std::string& daemon_set);
  /// Messages of Events of a reason.
  std::vector<std::string> Events(const std::string& reason);

 private:
  void InstallDefinitions();
  void InstallRights(bool openshift);
  void Define(const std::string& group, const std::string& plural, const std::string& kind,
              const std::string& scope = "Namespaced");
  void AddOpenShift();
  void IsServed(const std::string& path);

  FakeLog log_;
  std::unique_ptr<MetricRegistry> metrics_;
  std::unique_ptr<Ground> ground_;
  std::unique_ptr<kube::Door> operator_door_, hooked_door_;
  std::unique_ptr<kube::CountingDoor> door_;
  std::unique_ptr<op::Operator> operator_;
  int started_ = 0;
};

}  // namespace gpuop::e2e
