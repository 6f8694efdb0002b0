#pragma once
// A device plugin as tests need it.

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "base/executor.h"
#include "kube/kubelet/device_plugin.pb.h"
#include "net/grpc/client.h"
#include "net/grpc/server.h"

namespace gpuop::sim::node {

inline constexpr const char* kGpu = "nvidia.com/gpu";

/// A device plugin with devices that a test names.
class FakePlugin {
 public:
  FakePlugin(std::string folder, Executor& executor) : folder_(std::move(folder)), executor_(executor) {}

  void Serve(const std::string& devices) {
    Set(devices);
    net::GrpcMethods methods;
    methods["/v1beta1.DevicePlugin/GetDevicePluginOptions"] =
        net::GrpcUnary([this](const std::string&, auto) -> Result<std::string> {
          kube::deviceplugin::DevicePluginOptions o;
          o.set_get_preferred_allocation_available(!preferred.empty());
          o.set_pre_start_required(true);
          return o.SerializeAsString();
        });
    methods["/v1beta1.DevicePlugin/ListAndWatch"] =
        net::GrpcStreaming([this](const std::string&, std::shared_ptr<net::GrpcStream> answers) {
          const std::scoped_lock lock(mu_);
          stream_ = std::move(answers);
          stream_->Send(list_);
        });
    methods["/v1beta1.DevicePlugin/GetPreferredAllocation"] =
        net::GrpcUnary([this](const std::string&, auto) -> Result<std::string> {
          kube::deviceplugin::PreferredAllocationResponse r;
          auto* one = r.add_container_responses();
          for (const std::string& id : preferred) one->add_deviceids(id);
          return r.SerializeAsString();
        });
    methods["/v1beta1.DevicePlugin/Allocate"] =
        net::GrpcUnary([this](const std::string& bytes, auto) -> Result<std::string> {
          if (refuse) return Fail(Code::kInternal, "no more");
          kube::deviceplugin::AllocateRequest request;
          request.ParseFromString(bytes);
          kube::deviceplugin::AllocateResponse r;
          auto* one = r.add_container_responses();
          for (const std::string& id : request.container_requests(0).devices_ids()) {
            (*one->mutable_envs())["IDS"] += id + ";";
            one->add_cdi_devices()->set_name("nvidia.com/gpu=" + id);
          }
          return r.SerializeAsString();
        });
    methods["/v1beta1.DevicePlugin/PreStartContainer"] =
        net::GrpcUnary([this](const std::string&, auto) -> Result<std::string> {
          ++pre_starts;
          return std::string();
        });
    server_ = net::GrpcServer::Start({.path = folder_ + "/device-plugins/nvidia.sock"}, std::move(methods), executor_)
                  .value();
  }
  Result<std::string> Register(const std::string& resource = kGpu, const std::string& version = "v1beta1") {
    kube::deviceplugin::RegisterRequest request;
    request.set_version(version);
    request.set_endpoint("nvidia.sock");
    request.set_resource_name(resource);
    return net::GrpcClient(folder_ + "/device-plugins/kubelet.sock")
        .Call("/v1beta1.Registration/Register", request.SerializeAsString(), std::chrono::seconds(10));
  }
  /// "a b!": b is unhealthy.
  void Set(const std::string& devices) {
    kube::deviceplugin::ListAndWatchResponse r;
    std::istringstream in(devices);
    for (std::string word; in >> word;) {
      auto* d = r.add_devices();
      d->set_health(word.ends_with('!') ? "Unhealthy" : "Healthy");
      d->set_id(word.ends_with('!') ? word.substr(0, word.size() - 1) : word);
      d->mutable_topology()->add_nodes()->set_id(1);
    }
    const std::scoped_lock lock(mu_);
    list_ = r.SerializeAsString();
    if (stream_) stream_->Send(list_);
  }
  void Stop() {
    server_.reset();
    const std::scoped_lock lock(mu_);
    stream_.reset();
  }

  std::vector<std::string> preferred;
  bool refuse = false;
  std::atomic<int> pre_starts = 0;

 private:
  const std::string folder_;
  Executor& executor_;
  std::mutex mu_;
  std::string list_;
  std::shared_ptr<net::GrpcStream> stream_;
  std::unique_ptr<net::GrpcServer> server_;
};

}  // namespace gpuop::sim::node
