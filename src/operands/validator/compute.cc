#include "operands/validator/compute.h"

#include <fmt/core.h>

#include <array>

#include "data/json.h"
#include "data/reader.h"
#include "data/writer.h"
#include "gpu/cuda/workloads.h"
#include "operands/validator/finding_text.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;
namespace cuda = gpu::cuda;

constexpr unsigned kElements = 50'000, kEdge = 64;
constexpr std::size_t kPattern = 1U << 20U;
constexpr std::string_view kUnavailableName = "DEVICE_UNAVAILABLE", kUnavailableNumber = " error 46";

bool Says(const Error& error, std::string_view word) { return error.text.find(word) != std::string::npos; }

/// Errors that name another link than CUDA itself: by name, or by number where a driver does not name them.
struct Known {
  std::string_view name, number;
  api::ReasonCode reason;
};
constexpr std::array kKnown = std::to_array<Known>({
    {"SYSTEM_DRIVER_MISMATCH", " error 803", kDriverVersionMismatch},
    {"SYSTEM_NOT_READY", " error 802", kFabricNotReady},
    {kUnavailableName, kUnavailableNumber, kGpuNeedsReset},
    {"ECC_UNCORRECTABLE", " error 214", kEccUncorrected},
    {"UNSUPPORTED_PTX_VERSION", " error 222", kCudaDriverTooOld},
    {"NO_DEVICE", " error 100", kCudaNoDevice},
});

Result<> ComputeOn(const cuda::Driver& driver, cuda::DeviceOrdinal device) {
  ASSIGN(const auto session, cuda::OpenWorkloads(driver, device));
  TRY(cuda::RunVectorAdd(*session, kElements));
  TRY(cuda::RunReduction(*session, kElements));
  TRY(cuda::RunMatrixProduct(*session, kEdge));
  return cuda::RunMemoryPattern(*session, kPattern, 1);
}

}  // namespace

api::ReasonCode ReasonOfCuda(const Error& error) {
  if (Says(error, " instead of ")) return kCudaWrongResult;
  for (const Known& known : kKnown)
    if (Says(error, known.name) || error.text.ends_with(known.number)) return known.reason;
  if (error.text.starts_with("cuInit")) return kCudaInitFailed;
  return error.code == Code::kTimeout ? kCudaHung : kCudaFailed;
}

ComputeResult Compute(const cuda::Driver& driver, const std::function<bool(const std::string& uuid)>& is_busy,
                      const std::function<void(const std::string& device)>& on_device) {
  ComputeResult out;
  const auto devices = driver.Devices();
  if (!devices) {
    out.finding = {ReasonOfCuda(devices.error()), devices.error().text};
    return out;
  }
  if (devices->empty()) {
    out.finding = {kCudaNoDevice, "CUDA started and counts no device"};
    return out;
  }
  for (const cuda::DeviceInfo& device : *devices) {
    const std::string called = fmt::format("{} ({}, {})", device.uuid, device.name, device.pci);
    on_device(called);
    const auto done = ComputeOn(driver, device.ordinal);
    if (done) {
      ++out.proved;
      continue;
    }
    const bool refused = done.error().code == Code::kTooLarge || ReasonOfCuda(done.error()) == kGpuNeedsReset;
    if (refused && is_busy(device.uuid)) {
      out.busy.push_back(device.uuid);
      continue;
    }
    out.finding = {ReasonOfCuda(done.error()), called + ": " + done.error().text};
    return out;
  }
  out.finding = {kProved, fmt::format("{} of {} devices computed{}", out.proved, devices->size(),
                                      out.busy.empty() ? "" : ", the others are in use")};
  return out;
}

std::string WriteFinding(const api::Finding& finding) { return data::ToJson(data::WriteValue(ToText(finding))); }

Result<api::Finding> ReadFinding(std::string_view text) {
  ASSIGN(const data::Json json, data::ParseJson(text));
  ASSIGN(FindingText finding, data::ReadAs<FindingText>(json));
  return FromText(std::move(finding));
}

}  // namespace gpuop::operands::validator
