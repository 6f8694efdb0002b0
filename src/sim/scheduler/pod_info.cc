#include "sim/scheduler/pod_info.h"

#include <algorithm>

namespace gpuop::sim {

namespace {

bool EveryAddress(const std::string& ip) { return ip.empty() || ip == "0.0.0.0"; }

/// What scoring assumes of a pod that asks for nothing: a tenth of a CPU and 200 MiB.
std::int64_t OrDefault(const PodInfo& pod, std::string_view resource, std::int64_t otherwise) {
  const std::int64_t asked = AmountOf(pod.requests, resource);
  return asked == 0 ? otherwise : asked;
}
std::int64_t NonZeroCpu(const PodInfo& pod) { return OrDefault(pod, "cpu", 100); }
std::int64_t NonZeroMemory(const PodInfo& pod) { return OrDefault(pod, "memory", std::int64_t{200} << 20U); }

}  // namespace

bool HostPort::Conflicts(const HostPort& other) const {
  if (port != other.port || protocol != other.protocol) return false;
  return ip == other.ip || EveryAddress(ip) || EveryAddress(other.ip);
}

void NodeInfo::Add(const PodInfoPtr& pod) {
  if (!pods.emplace(pod->Key(), pod).second) return;
  AddTo(requested, pod->requests);
  non_zero_cpu += NonZeroCpu(*pod);
  non_zero_memory += NonZeroMemory(*pod);
  ports.insert(pod->ports.begin(), pod->ports.end());
  if (pod->HasPodTerms()) ++with_pod_terms;
}

void NodeInfo::Remove(const std::string& key) {
  const auto it = pods.find(key);
  if (it == pods.end()) return;
  const PodInfoPtr pod = std::move(it->second);
  pods.erase(it);
  AddTo(requested, pod->requests, -1);
  non_zero_cpu -= NonZeroCpu(*pod);
  non_zero_memory -= NonZeroMemory(*pod);
  for (const HostPort& port : pod->ports) ports.erase(ports.find(port));
  if (pod->HasPodTerms()) --with_pod_terms;
}

}  // namespace gpuop::sim
