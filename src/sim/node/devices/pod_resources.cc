// The pod resources API's answers.

#include "kube/kubelet/pod_resources.pb.h"
#include "sim/node/devices/device_manager.h"

namespace gpuop::sim::node {
namespace {

namespace resources = kube::podresources;

void AddDevices(resources::ContainerDevices& out, const std::string& id, const std::vector<std::int64_t>& numa) {
  out.add_device_ids(id);
  for (const std::int64_t node : numa) out.mutable_topology()->add_nodes()->set_id(node);
}

}  // namespace

std::string DeviceManager::PodResources(const PodName& pod) const {
  resources::PodResources out;
  out.set_name(pod.name);
  out.set_namespace_(pod.ns);
  for (const std::string& container : pod.containers) {
    auto* c = out.add_containers();
    c->set_name(container);
    for (const DeviceGrant& g : table_.grants()) {
      if (g.pod != pod.uid || g.container != container) continue;
      const auto* known = table_.Devices(g.resource);
      auto* devices = c->add_devices();
      devices->set_resource_name(g.resource);
      for (const std::string& id : g.ids) {
        const auto it = known == nullptr ? decltype(known->end())() : known->find(id);
        AddDevices(*devices, id,
                   known == nullptr || it == known->end() ? std::vector<std::int64_t>() : it->second.numa);
      }
    }
  }
  return out.SerializeAsString();
}

Result<std::string> DeviceManager::ListPods() const {
  resources::ListPodResourcesResponse out;
  Lock l(mu_);
  for (const PodName& pod : pods_) out.add_pod_resources()->ParseFromString(PodResources(pod));
  return out.SerializeAsString();
}

Result<std::string> DeviceManager::ListAllocatable() const {
  resources::AllocatableResourcesResponse out;
  Lock l(mu_);
  for (const auto& [resource, amounts] : table_.Amounts())
    for (const auto& [id, device] : *table_.Devices(resource)) {
      auto* one = out.add_devices();
      one->set_resource_name(resource);
      AddDevices(*one, id, device.numa);
    }
  return out.SerializeAsString();
}

Result<std::string> DeviceManager::GetPod(const std::string& bytes) const {
  resources::GetPodResourcesRequest request;
  if (!request.ParseFromString(bytes)) return Fail(Code::kInvalid, "a message that cannot be decoded");
  Lock l(mu_);
  for (const PodName& pod : pods_) {
    if (pod.name != request.pod_name() || pod.ns != request.pod_namespace()) continue;
    resources::GetPodResourcesResponse out;
    out.mutable_pod_resources()->ParseFromString(PodResources(pod));
    return out.SerializeAsString();
  }
  return Fail(Code::kNotFound, "pod " + request.pod_name() + " in namespace " + request.pod_namespace() + " not found");
}

}  // namespace gpuop::sim::node
