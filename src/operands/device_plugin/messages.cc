#include "operands/device_plugin/messages.h"

#include "kube/kubelet/device_plugin.pb.h"

namespace gpuop::operands::device_plugin {
namespace {

namespace api = kube::deviceplugin;

void Fill(api::DevicePluginOptions& options) { options.set_get_preferred_allocation_available(true); }

template <class M>
Result<M> Parse(const std::string& bytes) {
  M message;
  if (!message.ParseFromString(bytes)) return Fail(Code::kInvalid, "a message that cannot be decoded");
  return message;
}

void Fill(const Answer& answer, api::ContainerAllocateResponse& out) {
  for (const auto& [name, value] : answer.env) (*out.mutable_envs())[name] = value;
  for (const auto& [name, value] : answer.annotations) (*out.mutable_annotations())[name] = value;
  for (const Answer::Mount& mount : answer.mounts) {
    auto* const m = out.add_mounts();
    m->set_container_path(mount.container_path);
    m->set_host_path(mount.host_path);
  }
  for (const Answer::Mount& node : answer.nodes) {
    auto* const d = out.add_devices();
    d->set_container_path(node.container_path);
    d->set_host_path(node.host_path);
    d->set_permissions("rw");
  }
  for (const std::string& name : answer.cdi_devices) out.add_cdi_devices()->set_name(name);
}

}  // namespace

std::string EncodeOptions() {
  api::DevicePluginOptions options;
  Fill(options);
  return options.SerializeAsString();
}

std::string EncodeRegistration(const std::string& resource, const std::string& socket_name) {
  api::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(socket_name);
  request.set_resource_name(resource);
  Fill(*request.mutable_options());
  return request.SerializeAsString();
}

std::string EncodeList(const ResourceState& state) {
  api::ListAndWatchResponse out;
  for (std::size_t i = 0; i < state.resource.units.size(); ++i) {
    const Unit& unit = state.resource.units[i];
    for (std::string& id : IdsOf(unit)) {
      api::Device& device = *out.add_devices();
      device.set_id(std::move(id));
      device.set_health(state.troubles[i].empty() ? "Healthy" : "Unhealthy");
      if (unit.numa) device.mutable_topology()->add_nodes()->set_id(*unit.numa);
    }
  }
  return out.SerializeAsString();
}

Result<std::vector<std::vector<std::string>>> DecodeAllocate(const std::string& bytes) {
  ASSIGN(const auto request, Parse<api::AllocateRequest>(bytes));
  std::vector<std::vector<std::string>> out;
  for (const auto& container : request.container_requests())
    out.emplace_back(container.devices_ids().begin(), container.devices_ids().end());
  return out;
}

std::string EncodeAllocate(const std::vector<Answer>& answers) {
  api::AllocateResponse out;
  for (const Answer& answer : answers) Fill(answer, *out.add_container_responses());
  return out.SerializeAsString();
}

Result<std::vector<PreferredRequest>> DecodePreferred(const std::string& bytes) {
  ASSIGN(const auto request, Parse<api::PreferredAllocationRequest>(bytes));
  std::vector<PreferredRequest> out;
  for (const auto& container : request.container_requests()) {
    PreferredRequest& one = out.emplace_back();
    one.available.assign(container.available_deviceids().begin(), container.available_deviceids().end());
    one.required.assign(container.must_include_deviceids().begin(), container.must_include_deviceids().end());
    one.size = container.allocation_size();
  }
  return out;
}

std::string EncodePreferred(const std::vector<std::vector<std::string>>& choices) {
  api::PreferredAllocationResponse out;
  for (const auto& choice : choices) {
    auto* const one = out.add_container_responses();
    for (const std::string& id : choice) one->add_deviceids(id);
  }
  return out.SerializeAsString();
}

}  // namespace gpuop::operands::device_plugin
