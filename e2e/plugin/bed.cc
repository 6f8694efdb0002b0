#include "e2e/plugin/bed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "base/text.h"
#include "kube/kubelet/pod_resources.pb.h"
#include "net/grpc/client.h"
#include "sim/node/engine/log_file.h"
#include "sim/node/engine/machine_process.h"

namespace gpuop::e2e {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

std::string EnvJson(const PluginBed::Env& env) {
  std::string out;
  for (const auto& [name, value] : env) out += ",{\"name\":" + Quote(name) + ",\"value\":" + Quote(value) + "}";
  return out;
}

}  // namespace

PluginBed::PluginBed(const std::string& machine, const std::function<void(machine::Spec&)>& change) {
  OnExecutor([&] {
    plane_ = std::make_unique<sim::ControlPlane>(executor_, 7);
    plane_->Bootstrap();
    plane_->store().Observe([this](std::string_view, const sim::Event&) {
      const std::scoped_lock lock(mu_);
      changed_.notify_all();
    });
    loops_ = std::make_unique<sim::ControlLoops>(*plane_, log_, sim::ControlLoops::Options{});
    sim::node::Machines::Options options;
    options.machines = sim::node::ReadMachines({"box=" + machine}).value();
    if (change) change(options.machines.front().spec);
    options.program = {"/proc/self/exe", sim::node::kMachineApplet};
    std::error_code error;
    options.program_path = std::filesystem::read_symlink("/proc/self/exe", error);
    options.program_names = {"nvidia-device-plugin"};
    auto made = sim::node::Machines::Make(*plane_, loops_->caches(), log_, std::move(options));
    ASSERT_TRUE(made) << made.error().text;
    machines_ = *std::move(made);
    loops_->Start();
    machines_->Start();
  });
  EXPECT_TRUE(WaitUntil([&] { return Value("/api/v1/nodes/box", "status.conditions[3].status") == "True"; }));
  EXPECT_TRUE(WaitUntil([&] {
    return Value("/api/v1/namespaces/default/serviceaccounts/default", "metadata.name") == "default" &&
           Value("/api/v1/namespaces/default/configmaps/kube-root-ca.crt", "metadata.name") == "kube-root-ca.crt";
  }));
}

PluginBed::~PluginBed() {
  OnExecutor([&] {
    machines_.reset();
    loops_.reset();
    plane_.reset();
  });
}

void PluginBed::OnExecutor(std::function<void()> work) {
  std::promise<void> done;
  executor_.Post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

data::Json PluginBed::Call(const std::string& method, const std::string& path, const std::string& body) {
  data::Json out;
  OnExecutor([&] {
    kube::ApiRequest request;
    request.method = method, request.path = path, request.body = body, request.content_type = "application/json";
    const sim::Response response = plane_->server().Handle(request, sim::User::Admin());
    out = data::ParseJson(response.body.Join()).value_or(nullptr);
  });
  return out;
}

std::string PluginBed::Value(const std::string& object, const std::string& path) {
  const data::Json now = Get(object);
  const data::Json* const value = data::Find(now, path);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(data::AsView(value->get_string())) : data::ToJson(*value);
}

bool PluginBed::WaitUntil(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::unique_lock lock(mu_);
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  return true;
}

void PluginBed::StartPlugin(const Env& env, const std::string& settings) {
  Env all = env;
  std::string volumes, mounts;
  if (!settings.empty()) {
    Call("POST", "/api/v1/namespaces/default/configmaps",
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"plugin"},"data":{"config.yaml":)" +
             Quote(settings) + "}}");
    all.emplace_back("CONFIG_FILE", "/config/config.yaml");
    volumes = R"(,{"name":"config","configMap":{"name":"plugin"}})";
    mounts = R"(,{"name":"config","mountPath":"/config"})";
  }
  const data::Json made = Call("POST", kPods,
                               R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"plugin"},"spec":{
    "containers":[{"name":"main","image":"gpu-operator","command":["nvidia-device-plugin"],
      "securityContext":{"privileged":true,"runAsUser":0},
      "env":[{"name":"DRIVER_ROOT_CTR_PATH","value":"/host"})" +
                                   EnvJson(all) + R"(],
      "volumeMounts":[{"name":"sockets","mountPath":"/var/lib/kubelet/device-plugins"},
        {"name":"host","mountPath":"/host","mountPropagation":"HostToContainer"},
        {"name":"cdi","mountPath":"/var/run/cdi"})" +
                                   mounts + R"(]}],
    "volumes":[{"name":"sockets","hostPath":{"path":"/var/lib/kubelet/device-plugins"}},
      {"name":"host","hostPath":{"path":"/"}},
      {"name":"cdi","hostPath":{"path":"/var/run/cdi","type":"DirectoryOrCreate"}})" +
                                   volumes + "]}}");
  EXPECT_EQ(data::StringOr(made, "kind"), "Pod") << data::ToJson(made);
}

void PluginBed::ChangeSettings(const std::string& settings) {
  data::Json map = Get("/api/v1/namespaces/default/configmaps/plugin");
  map.as_object()["data"].as_object()["config.yaml"] = settings;
  Call("PUT", "/api/v1/namespaces/default/configmaps/plugin", data::ToJson(map));
}

std::string PluginBed::Allocatable(const std::string& resource) {
  const data::Json node = Get("/api/v1/nodes/box");
  const data::JsonObject* const all = data::GetObject(node, "status.allocatable");
  const data::Json* const value = all == nullptr ? nullptr : all->if_contains(resource);
  return value == nullptr ? "" : std::string(data::AsView(value->get_string()));
}

bool PluginBed::WaitAllocatable(const std::string& resource, const std::string& count,
                                std::chrono::milliseconds limit) {
  const bool done = WaitUntil([&] { return Allocatable(resource) == count; }, limit);
  if (!done) ADD_FAILURE() << resource << " is " << Allocatable(resource) << ", not " << count << "\n" << Log("plugin");
  return done;
}

void PluginBed::CreateUser(const std::string& name, const std::string& resource, int count) {
  const std::string script = "echo $NVIDIA_VISIBLE_DEVICES; ls -d /dev/nvidia[0-9]*; exec sleep 1000";
  const data::Json made = Call(
      "POST", kPods,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":)" + Quote(name) +
          R"(},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":0,"containers":[{"name":"main","image":"shell",
               "command":["/bin/sh","-c",)" +
          Quote(script) + R"(],"resources":{"limits":{)" + Quote(resource) + ":" + std::to_string(count) + "}}}]}}");
  EXPECT_EQ(data::StringOr(made, "kind"), "Pod") << data::ToJson(made);
}

void PluginBed::DeletePod(const std::string& name) { Call("DELETE", std::string(kPods) + "/" + name); }

bool PluginBed::WaitPhase(const std::string& name, const std::string& phase) {
  const std::string path = std::string(kPods) + "/" + name;
  const bool done = WaitUntil([&] { return Value(path, "status.phase") == phase; });
  if (!done) ADD_FAILURE() << name << ": " << data::ToPrettyJson(Get(path)) << Log("plugin");
  return done;
}

bool PluginBed::WaitGone(const std::string& name) {
  return WaitUntil([&] { return Value(std::string(kPods) + "/" + name, "metadata.name").empty(); });
}

std::string PluginBed::Log(const std::string& pod) {
  Result<std::string> file = std::string();
  OnExecutor([&] { file = machines_->Find("box")->LogFileOf("default", pod, "main", false); });
  if (!file) return file.error().text;
  std::ifstream in(*file);
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (sim::node::LogRecord r; sim::node::ParseLogRecord(line, r)) out.append(r.text).append("\n");
  return out;
}

std::vector<std::string> PluginBed::DevicesOf(const std::string& name) {
  std::string text;
  WaitUntil([&] {
    text = Log(name);
    return text.ends_with('\n');
  });
  std::vector<std::string> out;
  for (const std::string_view id : Split(text.substr(0, text.find('\n')), ',')) out.emplace_back(id);
  return out;
}

std::size_t PluginBed::KubeletDevices() {
  const auto bytes = net::GrpcClient(root() + "/var/lib/kubelet/pod-resources/kubelet.sock")
                         .Call("/v1.PodResourcesLister/GetAllocatableResources", "", std::chrono::seconds(10));
  kube::podresources::AllocatableResourcesResponse all;
  std::size_t out = 0;
  if (bytes && all.ParseFromString(*bytes))
    for (const auto& devices : all.devices()) out += static_cast<std::size_t>(devices.device_ids_size());
  return out;
}

void PluginBed::Do(const std::string& words) {
  std::vector<std::string> list;
  for (const std::string_view word : Split(words, ' ')) list.emplace_back(word);
  OnExecutor([&] {
    const auto done = machines_->Do("box", list);
    EXPECT_TRUE(done) << done.error().text;
  });
}

std::string PluginBed::root() {
  std::string out;
  OnExecutor([&] { out = machines_->Find("box")->root(); });
  return out;
}

std::map<std::string, std::set<std::string>> PluginBed::PodResources() {
  std::map<std::string, std::set<std::string>> out;
  const auto bytes = net::GrpcClient(root() + "/var/lib/kubelet/pod-resources/kubelet.sock")
                         .Call("/v1.PodResourcesLister/List", "", std::chrono::seconds(10));
  EXPECT_TRUE(bytes) << bytes.error().text;
  kube::podresources::ListPodResourcesResponse list;
  if (!bytes || !list.ParseFromString(*bytes)) return out;
  for (const auto& pod : list.pod_resources())
    for (const auto& container : pod.containers())
      for (const auto& devices : container.devices())
        for (const std::string& id : devices.device_ids()) out[pod.name()].insert(id);
  return out;
}

}  // namespace gpuop::e2e
