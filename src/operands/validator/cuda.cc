// Components cuda and plugin: a Pod that computes, and what the node offers.

#include <algorithm>
#include <condition_variable>
#include <set>

#include "base/mutex.h"
#include "kube/amounts.h"
#include "kube/cache.h"
#include "operands/validator/components.h"
#include "operands/validator/resources.h"
#include "operands/validator/workload_pod.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

/// NVIDIA's: sixty looks at the Pod, thirty at the node, five seconds apart.
constexpr Duration kPodLimit = std::chrono::seconds(300), kNodeLimit = std::chrono::seconds(150);
/// A plugin that starts needs some of it: no news yet.
constexpr Duration kQuietly = std::chrono::seconds(30);

Result<> RunWorkload(const Surroundings& with, Workload workload, const std::string& resource) {
  if (with.options.image.empty()) return Fail(Code::kInvalid, "VALIDATOR_IMAGE must be set for a workload Pod");
  WorkloadRunner runner(*with.client, *with.executor, with.options, with.log);
  ASSIGN(
      const api::Finding finding,
      runner.Run(workload, resource, kPodLimit, [&](const api::Finding& trouble) { Tell(with, trouble); }, with.stop));
  if (finding.code == kProved) {
    with.log.Info("the workload computed", {{"evidence", finding.evidence}});
    return {};
  }
  Tell(with, finding);
  return std::unexpected(ErrorOf(with, finding));
}

Result<> NeedApi(const Surroundings& with) {
  if (with.client != nullptr) return {};
  return Fail(Code::kUnavailable, with.api_error);
}

/// Waits, by a watch, until the node offers a GPU resource.
Result<std::vector<GpuResource>> WaitForResources(const Surroundings& with) {
  Mutex mu;
  std::condition_variable_any more;
  std::vector<GpuResource> offered;
  kube::Cache<kube::Node> nodes(*with.executor, *with.client,
                                {.field_selector = "metadata.name=" + with.options.node, .log = &with.log});
  nodes.OnChange([&](const kube::Change<kube::Node>& change) {
    Lock l(mu);
    offered = change.now ? GpuResources(*change.now) : std::vector<GpuResource>();
    more.notify_all();
  });
  nodes.Start();
  const api::Finding missing{kResourceMissing, "GPU resources are not discovered by the node"};
  const auto wait = [&](Duration limit) {
    Lock l(mu);
    more.wait_for(mu, with.stop, limit, [&] { return !offered.empty(); });
    return offered;
  };
  auto found = wait(kQuietly);
  if (found.empty()) {
    Tell(with, missing);
    found = wait(kNodeLimit - kQuietly);
  }
  if (!found.empty()) return found;
  return std::unexpected(ErrorOf(with, missing));
}

/// Its init containers included.
std::int64_t AsksFor(const kube::Pod& pod, const std::string& resource) {
  return kube::AmountOf(kube::PodRequests(pod.spec), resource);
}

/// The resource of which a GPU can be had without taking it from anybody: one is free on the node, and no Pod waits for
/// it anywhere. "" when there is none; then the workload is left out.
Result<std::string> FreeResource(const Surroundings& with, const std::vector<GpuResource>& resources) {
  const kube::Client client = *with.client;
  ASSIGN(const auto here, client.List<kube::Pod>({.field_selector = "spec.nodeName=" + with.options.node}));
  ASSIGN(const auto waiting, client.List<kube::Pod>({.field_selector = "spec.nodeName=,status.phase=Pending"}));
  for (const GpuResource& resource : resources) {
    std::int64_t used = 0, wanted = 0;
    for (const kube::Pod& pod : here)
      if (!pod.finished()) used += AsksFor(pod, resource.name);
    for (const kube::Pod& pod : waiting) wanted += AsksFor(pod, resource.name);
    if (wanted == 0 && used < resource.allocatable) return resource.name;
  }
  return std::string();
}

}  // namespace

Result<> ValidateCuda(const Surroundings& with) {
  if (with.options.with_workload) {
    TRY(NeedApi(with));
    auto ran = RunWorkload(with, Workload::kCuda, {});
    if (!ran) {
      TRY(with.files.Remove("cuda-ready"));
      return ran;
    }
  }
  return with.files.Write("cuda-ready");
}

Result<> ValidatePlugin(const Surroundings& with) {
  TRY(NeedApi(with));
  auto resources = WaitForResources(with);
  if (!resources) {
    TRY(with.files.Remove("plugin-ready"));
    return std::unexpected(std::move(resources).error());
  }
  with.log.Info("the node offers GPUs", {{"resources", Describe(*resources)}});
  if (with.options.with_workload) {
    ASSIGN(const std::string resource, FreeResource(with, *resources));
    if (resource.empty()) {
      with.log.Info("no GPU is free, or a Pod waits for one: the plugin's Pod is left out");
    } else if (auto ran = RunWorkload(with, Workload::kPlugin, resource); !ran) {
      TRY(with.files.Remove("plugin-ready"));
      return ran;
    }
  }
  return with.files.Write("plugin-ready");
}

}  // namespace gpuop::operands::validator
