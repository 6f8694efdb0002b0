#pragma once
// An embedded cluster with one simulated machine, on which the device plugin runs in a Pod as it does in life.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/thread_executor.h"
#include "data/json.h"
#include "machine/spec/spec.h"
#include "sim/cluster.h"
#include "sim/controllers/control_loops.h"
#include "sim/node/machines.h"

namespace gpuop::e2e {

class PluginBed {
 public:
  /// `change` may alter the machine before it is built.
  explicit PluginBed(const std::string& machine, const std::function<void(machine::Spec&)>& change = {});
  ~PluginBed();

  using Env = std::vector<std::pair<std::string, std::string>>;
  /// Starts the plugin's Pod with these variables besides the usual ones; `settings` becomes its settings file.
  void StartPlugin(const Env& env = {}, const std::string& settings = "");
  void ChangeSettings(const std::string& settings);

  /// Waits until Allocatable has so many of a resource; "" for a resource that is not there.
  bool WaitAllocatable(const std::string& resource, const std::string& count,
                       std::chrono::milliseconds limit = std::chrono::seconds(30));
  std::string Allocatable(const std::string& resource);
  /// Makes a Pod that asks for devices, prints what it was given and then sleeps.
  void CreateUser(const std::string& name, const std::string& resource, int count);
  void DeletePod(const std::string& name);
  bool WaitPhase(const std::string& name, const std::string& phase);
  bool WaitGone(const std::string& name);
  /// The ids in NVIDIA_VISIBLE_DEVICES, as the container printed them.
  std::vector<std::string> DevicesOf(const std::string& name);
  std::string Log(const std::string& pod);
  /// Makes something happen to the machine; "xid gpu=0 value=79".
  void Do(const std::string& words);
  /// What the kubelet's pod resources API says: device ids by Pod.
  std::map<std::string, std::set<std::string>> PodResources();
  /// How many devices the kubelet itself has to give just now.
  std::size_t KubeletDevices();
  std::string root();

  data::Json Get(const std::string& path) { return Call("GET", path); }
  data::Json Call(const std::string& method, const std::string& path, const std::string& body = "");
  /// The value at `path` of an object, as text.
  std::string Value(const std::string& object, const std::string& path);
  bool WaitUntil(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::seconds(30));
  void OnExecutor(std::function<void()> work);

 private:
  FakeLog log_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::unique_ptr<sim::ControlPlane> plane_;
  std::unique_ptr<sim::ControlLoops> loops_;
  std::unique_ptr<sim::node::Machines> machines_;
  ThreadExecutor executor_{1};
};

}  // namespace gpuop::e2e
