#pragma once
// The kubelet's device manager on one machine: speaks the device plugin API and the pod resources API.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/mutex.h"
#include "net/grpc/server.h"
#include "sim/node/devices/device_table.h"
#include "sim/node/pod/container_plan.h"

namespace gpuop::sim::node {

/// Thread-safe. Calls that talk to plugins block: workers only. Where the real kubelet has flaws it has them too: after
/// a restart a resource is there without devices until its plugin registers again, and whoever asks meanwhile is
/// refused for good (UnexpectedAdmissionError).
class DeviceManager {
 public:
  /// A Pod for the pod resources API.
  struct PodName {
    std::string uid, ns, name;
    std::vector<std::string> containers;
  };
  struct Parts {
    Executor& executor;  ///< where `changed` runs
    Executor& workers;   ///< may block
    Log& log;
    /// The machine's /var/lib/kubelet, as this process sees it.
    std::string folder;
    /// Amounts, or devices' health, may have changed.
    std::function<void()> changed;
  };
  /// How long a resource whose plugin has gone is kept without devices.
  static constexpr Duration kStopGrace = std::chrono::minutes(5);
  static constexpr Duration kCallLimit = std::chrono::seconds(30);

  explicit DeviceManager(Parts parts);
  /// Closes the sockets and lets go of all plugins.
  ~DeviceManager();
  DeviceManager(const DeviceManager&) = delete;
  DeviceManager& operator=(const DeviceManager&) = delete;

  /// What a kubelet does when it starts: reads the checkpoint, removes every plugin's socket, and serves anew. Workers
  /// only.
  Result<> Start();

  /// Calls to plugins that are under way end, and none begins: before it is let go.
  void Close() { stop_.request_stop(); }

  /// Of every resource that a plugin has offered; those that were given up are there with nothing.
  std::map<std::string, DeviceAmounts> Amounts() const;
  bool Manages(const std::string& resource) const;

  /// Gives a container `count` devices of a resource. Workers only, one Pod at a time.
  Result<> Allocate(const std::string& pod, const std::string& container, const std::string& resource,
                    std::size_t count);
  /// Calls PreStartContainer of plugins that want it. Workers only.
  Result<> PreStart(const std::string& pod, const std::string& container);
  /// What the container is given for its devices.
  DeviceOptions OptionsOf(const std::string& pod, const std::string& container) const;
  /// Who runs: devices of others are free again.
  void SetPods(std::vector<PodName> pods);

 private:
  struct Endpoint;
  /// Keeps calls of peers out once this is being destroyed.
  struct Gate;
  net::GrpcUnary Guarded(std::function<Result<std::string>(const std::string&)> answer) const;
  Result<std::string> Register(const std::string& request);
  Result<std::string> ListPods() const;
  Result<std::string> ListAllocatable() const;
  Result<std::string> GetPod(const std::string& request) const;
  std::string PodResources(const PodName& pod) const REQUIRES(mu_);
  void Listen(const std::shared_ptr<Endpoint>& endpoint);
  void OnList(Endpoint& endpoint, const std::string& message);
  void OnGone(Endpoint& endpoint);
  void Expire(const std::string& resource);
  void Tell();
  void WriteCheckpoint() REQUIRES(mu_);
  Result<std::shared_ptr<Endpoint>> EndpointOf(const std::string& resource) const;
  Result<std::vector<std::string>> Preferred(Endpoint& endpoint, const DeviceTable::Choice& choice) const;
  std::string PluginFolder() const { return parts_.folder + "/device-plugins"; }

  const Parts parts_;
  mutable Mutex mu_;
  DeviceTable table_ GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<Endpoint>> endpoints_ GUARDED_BY(mu_);
  std::set<std::string> given_up_ GUARDED_BY(mu_);
  std::vector<PodName> pods_ GUARDED_BY(mu_);
  bool started_ GUARDED_BY(mu_) = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::stop_source stop_;
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<net::GrpcServer> registration_, resources_;
};

}  // namespace gpuop::sim::node
