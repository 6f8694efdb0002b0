#include "operator/namespace_labels.h"

#include <array>

namespace gpuop::op {
namespace {

constexpr std::array kPodSecurity = {"pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/audit",
                                     "pod-security.kubernetes.io/warn"};
constexpr const char* kMonitoring = "openshift.io/cluster-monitoring";
constexpr const char* kOpenShiftNamespace = "nvidia-gpu-operator";

}  // namespace

std::map<std::string, std::optional<std::string>> PlanNamespace(const kube::StringMap& labels, const std::string& ns,
                                                                const api::ClusterPolicySpec* policy, bool openshift) {
  std::map<std::string, std::optional<std::string>> out;
  // On OpenShift only in the namespace that is the operator's by convention.
  const bool wanted = policy != nullptr && policy->psa.IsEnabled() && (!openshift || ns == kOpenShiftNamespace);
  const bool ours = labels.contains(kOurPodSecurity);
  for (const char* key : kPodSecurity) {
    if (wanted && labels.Get(key) != "privileged") out[key] = "privileged";
    if (!wanted && ours && labels.contains(key)) out[key] = std::nullopt;
  }
  if (wanted && !ours && !out.empty()) out[kOurPodSecurity] = "true";
  if (!wanted && ours) out[kOurPodSecurity] = std::nullopt;
  if (policy != nullptr && openshift && ns == kOpenShiftNamespace && !labels.contains(kMonitoring))
    out[kMonitoring] = "true";
  return out;
}

}  // namespace gpuop::op
