#include "sim/kubelet/hollow_node.h"

#include <fmt/core.h>

#include "base/text.h"
#include "data/quantity.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

struct PoolsFile {
  std::vector<HollowPool> pools;

  template <class V>
  void Visit(V& v) {
    v("pools", pools);
  }
};

std::string Numbered(std::string text, std::size_t i) {
  if (const auto at = text.find("{i}"); at != std::string::npos) text.replace(at, 3, std::to_string(i));
  return text;
}

std::string_view Or(std::string_view value, std::string_view otherwise) { return value.empty() ? otherwise : value; }

json::object Capacity(const HollowPool& pool) {
  json::object out{{"cpu", "16"}, {"memory", "64Gi"}, {"ephemeral-storage", "100Gi"}, {"pods", "110"}};
  for (const auto& [name, amount] : pool.capacity) out[name] = amount;
  return out;
}

json::array Images(std::int64_t count) {
  json::array out;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("registry.example.com/hollow/image-{}", i);
    out.push_back({{"names", {fmt::format("{}@sha256:{:064x}", name, i), fmt::format("{}:v1.{}.0", name, i)}},
                   {"sizeBytes", 10'000'000 + i * 1'000'003}});
  }
  return out;
}

json::object Condition(std::string_view type, bool holds, std::string_view reason, std::string_view message,
                       WallTime now, WallTime since) {
  return {{"type", type},
          {"status", holds ? "True" : "False"},
          {"lastHeartbeatTime", FormatTime(now)},
          {"lastTransitionTime", FormatTime(since)},
          {"reason", reason},
          {"message", message}};
}

Result<> CheckQuantities(const std::vector<std::pair<std::string, std::string>>& quantities) {
  for (const auto& [name, text] : quantities)
    if (auto q = data::Quantity::Parse(text); !q) return std::unexpected(std::move(q).error().During(name));
  return {};
}

}  // namespace

Result<std::vector<HollowPool>> ReadHollowPools(const json::value& file) {
  PoolsFile out;
  TRY(kube::ReadField(file, out));
  for (std::size_t i = 0; i < out.pools.size(); ++i) {
    const HollowPool& pool = out.pools[i];
    const std::string where = fmt::format("pools: [{}]: ", i);
    if (pool.count < 0 || pool.count > 65'000) return Fail(Code::kInvalid, where + "count: must be from 0 to 65000");
    if (pool.count > 1 && pool.name.find("{i}") == std::string::npos)
      return Fail(Code::kInvalid, where + "name: must hold {i} when count is more than one");
    if (auto r = CheckQuantities(pool.capacity); !r)
      return std::unexpected(std::move(r).error().During(where + "capacity"));
    if (auto r = CheckQuantities(pool.allocatable); !r)
      return std::unexpected(std::move(r).error().During(where + "allocatable"));
  }
  return std::move(out.pools);
}

HollowPool PlainPool(std::int64_t count) {
  HollowPool pool;
  pool.count = count;
  return pool;
}

std::string HostAddress(std::size_t node) { return fmt::format("10.0.{}.{}", node / 250, node % 250 + 1); }

std::string PodAddress(std::size_t node, std::size_t pod) {
  return fmt::format("10.{}.{}.{}", 64 + node / 256 % 192, node % 256, pod % 254 + 1);
}

json::object NodeObject(const HollowNode& node, std::size_t i) {
  const HollowPool& pool = *node.pool;
  const std::string_view arch = Or(pool.info.architecture, "amd64"), os = Or(pool.info.operating_system, "linux");
  json::object labels{{"beta.kubernetes.io/arch", arch},
                      {"beta.kubernetes.io/os", os},
                      {"kubernetes.io/arch", arch},
                      {"kubernetes.io/hostname", node.name},
                      {"kubernetes.io/os", os}};
  for (const auto& [key, value] : pool.labels) labels[key] = Numbered(value, i);
  json::object annotations{{"volumes.kubernetes.io/controller-managed-attach-detach", "true"}};
  for (const auto& [key, value] : pool.annotations) annotations[key] = Numbered(value, i);
  json::object spec;
  json::array taints;
  for (const kube::Taint& t : pool.taints) {
    json::object taint{{"key", t.key.view()}, {"effect", t.effect.view()}};
    if (!t.value.empty()) taint["value"] = t.value.view();
    taints.push_back(std::move(taint));
  }
  if (!taints.empty()) spec["taints"] = std::move(taints);
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", node.name}, {"labels", std::move(labels)}, {"annotations", std::move(annotations)}}},
          {"spec", std::move(spec)}};
}

json::array NodeConditions(WallTime now, WallTime since) {
  return {
      Condition("MemoryPressure", false, "KubeletHasSufficientMemory", "kubelet has sufficient memory available", now,
                since),
      Condition("DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure", now, since),
      Condition("PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available", now, since),
      Condition("Ready", true, "KubeletReady", "kubelet is posting ready status", now, since)};
}

json::object NodeStatusObject(const HollowNode& node, WallTime now, WallTime since) {
  const HollowPool& pool = *node.pool;
  json::object allocatable = Capacity(pool);
  for (const auto& [name, amount] : pool.allocatable) allocatable[name] = amount;
  json::object status{
      {"addresses",
       {{{"type", "InternalIP"}, {"address", node.host_ip}}, {{"type", "Hostname"}, {"address", node.name}}}},
      {"capacity", Capacity(pool)},
      {"allocatable", std::move(allocatable)},
      {"conditions", NodeConditions(now, since)},
      {"daemonEndpoints", {{"kubeletEndpoint", {{"Port", 10250}}}}},
      {"nodeInfo",
       {{"architecture", Or(pool.info.architecture, "amd64")},
        {"bootID", node.boot_id},
        {"containerRuntimeVersion", Or(pool.info.container_runtime_version, "containerd://2.1.4")},
        {"kernelVersion", Or(pool.info.kernel_version, "6.8.0-60-generic")},
        {"kubeProxyVersion", ""},
        {"kubeletVersion", Or(pool.info.kubelet_version, "v1.36.3")},
        {"machineID", node.machine_id},
        {"operatingSystem", Or(pool.info.operating_system, "linux")},
        {"osImage", Or(pool.info.os_image, "Ubuntu 24.04.3 LTS")},
        {"systemUUID", node.machine_id}}}};
  if (pool.images > 0) status["images"] = Images(pool.images);
  return status;
}

}  // namespace gpuop::sim
