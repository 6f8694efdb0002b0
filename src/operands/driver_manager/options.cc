#include "operands/driver_manager/options.h"

#include "base/text.h"
#include "data/duration.h"

namespace gpuop::operands::driver_manager {
namespace {

Result<> Take(const GetEnv& env, const char* name, bool& out) {
  const auto text = env(name);
  if (!text || text->empty()) return {};
  const auto value = ParseBool(*text);
  if (!value) return Fail(Code::kInvalid, std::string(name) + ": " + Quote(*text) + " is neither true nor false");
  out = *value;
  return {};
}

Result<> TakeTimeout(const GetEnv& env, Duration& out) {
  constexpr const char* kName = "DRAIN_TIMEOUT_SECONDS";
  const auto text = env(kName);
  if (!text || text->empty()) return {};
  Duration span{};
  if (const auto seconds = ParseInt(*text)) {
    span = std::chrono::seconds(*seconds);
  } else {
    const auto parsed = data::ParseDuration(*text);
    if (!parsed) return Fail(Code::kInvalid, std::string(kName) + ": " + parsed.error().text);
    span = *parsed;
  }
  if (span < Duration::zero())
    return Fail(Code::kInvalid, std::string(kName) + ": " + Quote(*text) + " is less than 0");
  if (span > Duration::zero()) out = span;
  return {};
}

}  // namespace

Result<Options> ReadOptions(const GetEnv& env) {
  Options out;
  out.node = env("NODE_NAME").value_or("");
  if (out.node.empty()) return Fail(Code::kInvalid, "NODE_NAME must be set");
  if (auto ns = env("OPERATOR_NAMESPACE"); ns && !ns->empty()) out.ns = *std::move(ns);
  out.kubeconfig = env("KUBECONFIG").value_or("");
  out.pod_selector = env("DRAIN_POD_SELECTOR_LABEL").value_or("");
  out.custom_label = env("NODE_LABEL_FOR_GPU_POD_EVICTION").value_or("");
  out.config_digest = env("DRIVER_CONFIG_DIGEST").value_or("");
  TRY(Take(env, "ENABLE_GPU_POD_EVICTION", out.evict_gpu_pods));
  TRY(Take(env, "ENABLE_AUTO_DRAIN", out.auto_drain));
  TRY(Take(env, "DRAIN_USE_FORCE", out.force));
  TRY(Take(env, "DRAIN_DELETE_EMPTYDIR_DATA", out.delete_empty_dir));
  TRY(Take(env, "GPU_DIRECT_RDMA_ENABLED", out.rdma));
  TRY(Take(env, "USE_HOST_MOFED", out.host_mofed));
  TRY(Take(env, "FORCE_REINSTALL", out.force_reinstall));
  TRY(TakeTimeout(env, out.timeout));
  return out;
}

}  // namespace gpuop::operands::driver_manager
