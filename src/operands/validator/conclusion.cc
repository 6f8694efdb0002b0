#include "operands/validator/conclusion.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

std::string Words(const gpu::XidMessage& message) {
  return fmt::format("GPU {}: Xid {}, {}", message.pci, message.code, gpu::FindXid(message.code).meaning);
}

/// "8 x NVIDIA A100-SXM4-40GB".
std::string Products(const std::vector<GpuState>& gpus) {
  std::map<std::string, int> counts;
  for (const GpuState& gpu : gpus) ++counts[gpu.product];
  std::string out;
  for (const auto& [product, count] : counts) out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", count, product);
  return out;
}

std::string Proof(const Evidence& e) {
  std::string out =
      fmt::format("driver {} of the {}", e.driver.driver.driver_version, e.host_driver ? "host" : "operator");
  if (!e.platform.empty()) out += " (" + e.platform + ")";
  if (!e.driver.driver.gpus.empty()) out += "; " + Products(e.driver.driver.gpus);
  if (!e.offered.empty()) out += "; " + Describe(e.offered);
  return out;
}

/// Fewer GPUs, where one was taken out for what is known of it, are told with their cause.
void AddResources(const Evidence& e, std::vector<api::Finding>& findings) {
  const bool fewer = e.resources->code == kDeviceUnhealthy || e.resources->code == kResourceCountWrong;
  if (fewer && !e.xids.empty())
    return findings.push_back({kXidFatal, Words(e.xids.back()) + "; " + e.resources->evidence});
  const auto cause = std::ranges::find_if(findings, api::TakesGpuOut, &api::Finding::code);
  if (fewer && cause != findings.end())
    cause->evidence += "; " + e.resources->evidence;
  else
    findings.push_back(*e.resources);
}

}  // namespace

bool IsFatal(const gpu::XidMessage& message) { return gpu::MakesUnhealthy(gpu::FindXid(message.code)); }

api::Finding Conclude(const Evidence& e) {
  std::vector<api::Finding> findings = e.driver.findings;
  if (e.cdi) findings.push_back(*e.cdi);
  if (e.resources) AddResources(e, findings);
  if (e.cuda && e.cuda->code != kProved) findings.push_back(*e.cuda);
  if (!e.xids.empty() && !e.xids_survived) findings.push_back({kXidReported, Words(e.xids.back())});
  if (const api::Finding* const first = api::FirstBroken(findings)) return *first;
  return {kProved, Proof(e)};
}

}  // namespace gpuop::operands::validator
