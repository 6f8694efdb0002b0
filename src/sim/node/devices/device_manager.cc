#include "sim/node/devices/device_manager.h"

#include <filesystem>
#include <fstream>
#include <shared_mutex>
#include <thread>

#include "base/text.h"
#include "kube/kubelet/device_plugin.pb.h"
#include "net/grpc/client.h"
#include "os/real_fs.h"

namespace gpuop::sim::node {
namespace {

namespace api = kube::deviceplugin;
namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "/kubelet_internal_checkpoint";

template <class T>
Result<T> Read(const std::string& bytes) {
  T out;
  if (!out.ParseFromString(bytes)) return Fail(Code::kInvalid, "a message that cannot be decoded");
  return out;
}

/// A name that vendors may use for a resource: "vendor.example/name", not Kubernetes' own.
bool IsExtendedResource(std::string_view name) {
  const auto parts = Cut(name, '/');
  return parts && !parts->first.empty() && !parts->second.empty() && parts->first != "kubernetes.io" &&
         !parts->first.ends_with(".kubernetes.io") && !name.starts_with("requests.");
}

/// A peer's own words, without the method that our client names first.
std::string Desc(const std::string& text) {
  const auto parts = Cut(text, ':');
  return parts && text.starts_with('/') ? std::string(Trim(parts->second)) : text;
}

}  // namespace

/// One plugin that has registered.
struct DeviceManager::Endpoint {
  Endpoint(std::string r, const std::string& path) : resource(std::move(r)), client(path) {}

  const std::string resource;
  net::GrpcClient client;
  bool prefers = false, pre_start = false;
  std::stop_source stop;
  std::jthread stream;  // last: it uses the others
};

struct DeviceManager::Gate {
  std::shared_mutex mu;
  bool open = true;
};

net::GrpcUnary DeviceManager::Guarded(std::function<Result<std::string>(const std::string&)> answer) const {
  return [gate = gate_, answer = std::move(answer)](const std::string& request, auto) -> Result<std::string> {
    const std::shared_lock lock(gate->mu);
    if (!gate->open) return Fail(Code::kUnavailable, "the kubelet is stopping");
    return answer(request);
  };
}

DeviceManager::DeviceManager(Parts parts) : parts_(std::move(parts)), gate_(std::make_shared<Gate>()) {}

DeviceManager::~DeviceManager() {
  stop_.request_stop();
  {
    const std::unique_lock lock(gate_->mu);
    gate_->open = false;
  }
  registration_.reset();
  resources_.reset();
  std::map<std::string, std::shared_ptr<Endpoint>> endpoints;
  {
    Lock l(mu_);
    endpoints.swap(endpoints_);
  }
  for (const auto& [resource, endpoint] : endpoints) endpoint->stop.request_stop();
  for (const auto& [resource, endpoint] : endpoints)
    if (endpoint->stream.joinable()) endpoint->stream.join();
}

Result<> DeviceManager::Start() {
  std::error_code error;
  const std::string plugins = PluginFolder(), pods = parts_.folder + "/pod-resources";
  fs::create_directories(plugins, error);
  fs::create_directories(pods, error);
  for (const auto& entry : fs::directory_iterator(plugins, error))
    if (entry.path().filename() != fs::path(kCheckpoint).filename()) fs::remove_all(entry.path(), error);
  {
    Lock l(mu_);
    if (std::ifstream file(plugins + kCheckpoint); file) {
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      if (auto read = table_.ReadCheckpoint(text); !read)
        parts_.log.Error("device checkpoint not read", {{"error", read.error().text}});
    }
    started_ = true;
  }
  ASSIGN(registration_, net::GrpcServer::Start({.path = plugins + "/kubelet.sock", .mode = 0666},
                                               {{"/v1beta1.Registration/Register",
                                                 Guarded([this](const std::string& r) { return Register(r); })}},
                                               parts_.workers));
  net::GrpcMethods lister;
  lister["/v1.PodResourcesLister/List"] = Guarded([this](const std::string&) { return ListPods(); });
  lister["/v1.PodResourcesLister/GetAllocatableResources"] =
      Guarded([this](const std::string&) { return ListAllocatable(); });
  lister["/v1.PodResourcesLister/Get"] = Guarded([this](const std::string& r) { return GetPod(r); });
  ASSIGN(resources_,
         net::GrpcServer::Start({.path = pods + "/kubelet.sock", .mode = 0666}, std::move(lister), parts_.workers));
  Tell();
  return {};
}

void DeviceManager::Tell() {
  parts_.executor.Post([alive = std::weak_ptr<int>(alive_), changed = parts_.changed] {
    if (!alive.expired()) changed();
  });
}

void DeviceManager::WriteCheckpoint() {
  const std::string path = PluginFolder() + kCheckpoint;
  {
    std::ofstream file(path + ".new", std::ios::trunc);
    file << table_.ToCheckpoint();
  }
  std::error_code error;
  fs::rename(path + ".new", path, error);
  if (error) parts_.log.Error("device checkpoint not written", {{"file", path}, {"error", error.message()}});
}

Result<std::string> DeviceManager::Register(const std::string& bytes) {
  ASSIGN(const auto request, Read<api::RegisterRequest>(bytes));
  if (request.version() != "v1beta1")
    return Fail(Code::kInternal, "requested API version " + Quote(request.version()) +
                                     " is not supported by kubelet. Supported version is [\"v1beta1\"]");
  if (!IsExtendedResource(request.resource_name()))
    return Fail(Code::kInternal, "the ResourceName " + Quote(request.resource_name()) + " is invalid");
  const std::string& name = request.endpoint();
  if (name.empty() || name.find('/') != std::string::npos)
    return Fail(Code::kInvalid, "endpoint " + Quote(name) + ": expected the base name of a socket");
  auto endpoint = std::make_shared<Endpoint>(request.resource_name(), PluginFolder() + "/" + name);
  auto options =
      endpoint->client.Call("/v1beta1.DevicePlugin/GetDevicePluginOptions", "", kCallLimit, stop_.get_token());
  if (!options) return std::unexpected(std::move(options).error().During("failed to get device plugin options"));
  ASSIGN(const auto wants, Read<api::DevicePluginOptions>(*options));
  endpoint->prefers = wants.get_preferred_allocation_available();
  endpoint->pre_start = wants.pre_start_required();
  std::shared_ptr<Endpoint> old;
  {
    Lock l(mu_);
    old = std::exchange(endpoints_[endpoint->resource], endpoint);
    given_up_.erase(endpoint->resource);
    table_.AddResource(endpoint->resource);
  }
  if (old) old->stop.request_stop();
  parts_.log.Info("device plugin registered", {{"resource", endpoint->resource}, {"endpoint", name}});
  Listen(endpoint);
  return std::string();
}

void DeviceManager::Listen(const std::shared_ptr<Endpoint>& endpoint) {
  Endpoint* const raw = endpoint.get();
  endpoint->stream = std::jthread([this, raw] {
    const auto over = raw->client.Stream(
        "/v1beta1.DevicePlugin/ListAndWatch", "",
        [this, raw](const std::string& message) {
          OnList(*raw, message);
          return !raw->stop.stop_requested();
        },
        std::nullopt, raw->stop.get_token());
    if (!raw->stop.stop_requested()) OnGone(*raw);
  });
}

void DeviceManager::OnList(Endpoint& endpoint, const std::string& message) {
  auto list = Read<api::ListAndWatchResponse>(message);
  if (!list) return parts_.log.Error("device list not read", {{"resource", endpoint.resource}});
  std::map<std::string, DeviceInfo> devices;
  for (const api::Device& d : list->devices()) {
    DeviceInfo& info = devices[d.id()];
    info.healthy = d.health() == "Healthy";
    for (const api::NUMANode& node : d.topology().nodes()) info.numa.push_back(node.id());
  }
  {
    Lock l(mu_);
    const auto current = endpoints_.find(endpoint.resource);
    if (current == endpoints_.end() || current->second.get() != &endpoint) return;
    table_.SetDevices(endpoint.resource, std::move(devices));
    WriteCheckpoint();
  }
  Tell();
}

void DeviceManager::OnGone(Endpoint& endpoint) {
  {
    Lock l(mu_);
    const auto current = endpoints_.find(endpoint.resource);
    if (current == endpoints_.end() || current->second.get() != &endpoint) return;
    table_.MarkUnhealthy(endpoint.resource);
  }
  parts_.log.Warn("device plugin is gone", {{"resource", endpoint.resource}});
  Tell();
  parts_.executor.PostAfter(kStopGrace,
                            [this, alive = std::weak_ptr<int>(alive_), resource = endpoint.resource, gone = &endpoint] {
                              if (alive.expired()) return;
                              {
                                Lock l(mu_);
                                const auto current = endpoints_.find(resource);
                                if (current == endpoints_.end() || current->second.get() != gone) return;
                              }
                              Expire(resource);
                            });
}

void DeviceManager::Expire(const std::string& resource) {
  std::shared_ptr<Endpoint> old;
  {
    Lock l(mu_);
    if (auto node = endpoints_.extract(resource); !node.empty()) old = node.mapped();
    table_.RemoveResource(resource);
    given_up_.insert(resource);
    WriteCheckpoint();
  }
  parts_.changed();
}

std::map<std::string, DeviceAmounts> DeviceManager::Amounts() const {
  Lock l(mu_);
  auto out = table_.Amounts();
  for (const std::string& resource : given_up_) out.emplace(resource, DeviceAmounts{});
  return out;
}

bool DeviceManager::Manages(const std::string& resource) const {
  Lock l(mu_);
  if (table_.Has(resource)) return true;
  return std::ranges::any_of(table_.grants(), [&](const DeviceGrant& g) { return g.resource == resource; });
}

Result<std::shared_ptr<DeviceManager::Endpoint>> DeviceManager::EndpointOf(const std::string& resource) const {
  Lock l(mu_);
  const auto it = endpoints_.find(resource);
  if (it == endpoints_.end()) return Fail(Code::kUnavailable, "unknown Device Plugin " + resource);
  return it->second;
}

Result<std::vector<std::string>> DeviceManager::Preferred(Endpoint& endpoint, const DeviceTable::Choice& choice) const {
  if (!endpoint.prefers || choice.available.size() == choice.needed) return std::vector<std::string>();
  api::PreferredAllocationRequest request;
  auto* one = request.add_container_requests();
  for (const std::string& id : choice.available) one->add_available_deviceids(id);
  one->set_allocation_size(static_cast<std::int32_t>(choice.needed));
  auto answer = endpoint.client.Call("/v1beta1.DevicePlugin/GetPreferredAllocation", request.SerializeAsString(),
                                     kCallLimit, stop_.get_token());
  if (!answer)
    return std::unexpected(
        std::move(answer).error().During("device plugin GetPreferredAllocation rpc failed with err"));
  ASSIGN(const auto response, Read<api::PreferredAllocationResponse>(*answer));
  std::vector<std::string> out;
  if (response.container_responses_size() > 0)
    for (const std::string& id : response.container_responses(0).deviceids()) out.push_back(id);
  return out;
}

Result<> DeviceManager::Allocate(const std::string& pod, const std::string& container, const std::string& resource,
                                 std::size_t count) {
  DeviceTable::Choice choice;
  {
    Lock l(mu_);
    ASSIGN(choice, table_.Choose(pod, container, resource, count));
  }
  if (choice.needed == 0) return {};
  ASSIGN(const auto endpoint, EndpointOf(resource));
  ASSIGN(const auto preferred, Preferred(*endpoint, choice));
  DeviceGrant grant{pod, container, resource, PickDevices(choice.available, preferred, choice.needed), {}};
  api::AllocateRequest request;
  auto* one = request.add_container_requests();
  for (const std::string& id : grant.ids) one->add_devices_ids(id);
  auto answer = endpoint->client.Call("/v1beta1.DevicePlugin/Allocate", request.SerializeAsString(), kCallLimit,
                                      stop_.get_token());
  if (!answer) return Fail(answer.error().code, "rpc error: code = Unknown desc = " + Desc(answer.error().text));
  ASSIGN(const auto response, Read<api::AllocateResponse>(*answer));
  if (response.container_responses_size() == 0)
    return Fail(Code::kInternal, "no containers return in allocation response");
  grant.response = response.container_responses(0).SerializeAsString();
  Lock l(mu_);
  table_.Grant(std::move(grant));
  WriteCheckpoint();
  return {};
}

Result<> DeviceManager::PreStart(const std::string& pod, const std::string& container) {
  std::vector<std::pair<std::shared_ptr<Endpoint>, std::string>> calls;
  {
    Lock l(mu_);
    for (const DeviceGrant& g : table_.grants()) {
      if (g.pod != pod || g.container != container) continue;
      const auto endpoint = endpoints_.find(g.resource);
      if (endpoint == endpoints_.end() || !endpoint->second->pre_start) continue;
      api::PreStartContainerRequest request;
      for (const std::string& id : g.ids) request.add_devices_ids(id);
      calls.emplace_back(endpoint->second, request.SerializeAsString());
    }
  }
  for (const auto& [endpoint, request] : calls) {
    auto answer =
        endpoint->client.Call("/v1beta1.DevicePlugin/PreStartContainer", request, kCallLimit, stop_.get_token());
    if (!answer)
      return std::unexpected(std::move(answer).error().During("device plugin PreStartContainer rpc failed with err"));
  }
  return {};
}

DeviceOptions DeviceManager::OptionsOf(const std::string& pod, const std::string& container) const {
  DeviceOptions out;
  Lock l(mu_);
  for (const DeviceGrant& g : table_.grants()) {
    if (g.pod != pod || g.container != container) continue;
    api::ContainerAllocateResponse response;
    if (!response.ParseFromString(g.response)) continue;
    for (const auto& [key, value] : response.envs()) out.env[key] = value;
    for (const auto& [key, value] : response.annotations()) out.annotations[key] = value;
    for (const api::Mount& m : response.mounts())
      out.mounts.push_back({m.container_path(), m.host_path(), m.read_only()});
    for (const api::DeviceSpec& d : response.devices()) out.nodes.push_back({d.container_path(), d.host_path()});
    for (const api::CDIDevice& d : response.cdi_devices()) out.cdi.push_back(d.name());
  }
  return out;
}

void DeviceManager::SetPods(std::vector<PodName> pods) {
  Lock l(mu_);
  pods_ = std::move(pods);
  std::set<std::string> active;
  for (const PodName& pod : pods_) active.insert(pod.uid);
  const std::size_t before = table_.grants().size();
  table_.Keep(active);
  if (started_ && table_.grants().size() != before) WriteCheckpoint();
}

}  // namespace gpuop::sim::node
