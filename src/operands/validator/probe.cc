#include "operands/validator/probe.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "data/reader.h"
#include "data/writer.h"
#include "operands/validator/finding_text.h"

namespace gpuop::operands::validator {
namespace {

struct StateText {
  std::string driver_version;
  std::vector<GpuState> gpus;
  std::vector<FindingText> findings;

  template <class V>
  void Visit(V& v) {
    v("driverVersion", driver_version);
    v("gpus", gpus);
    v("findings", findings);
  }
};

DriverState Broken(api::ReasonCode code, std::string evidence) {
  DriverState out;
  out.findings.push_back({code, std::move(evidence)});
  return out;
}

DriverState AskFirst(const std::vector<std::string>& libraries) {
  auto nvml = gpu::Nvml::Open(libraries);
  if (!nvml) {
    DriverState out;
    out.findings.push_back(FindingOf(nvml.error()));
    return out;
  }
  auto state = AskDriver(**nvml);
  // Nothing is left to be done, and stopping NVML could hang: the child just ends.
  static_cast<void>(nvml->release());
  if (state) return *std::move(state);
  DriverState out;
  out.findings.push_back(FindingOf(state.error()));
  return out;
}

}  // namespace

std::string WriteDriverState(const DriverState& state) {
  StateText text{state.driver_version, state.gpus, {}};
  for (const api::Finding& finding : state.findings) text.findings.push_back(ToText(finding));
  return data::ToJson(data::WriteValue(text));
}

Result<DriverState> ReadDriverState(std::string_view text) {
  ASSIGN(const data::Json json, data::ParseJson(text));
  ASSIGN(StateText in, data::ReadAs<StateText>(json));
  DriverState out{std::move(in.driver_version), std::move(in.gpus), {}};
  for (FindingText& finding : in.findings) {
    ASSIGN(out.findings.emplace_back(), FromText(std::move(finding)));
  }
  return out;
}

DriverState AskDriverInChild(os::Processes& processes, const std::vector<std::string>& libraries, Duration limit,
                             const std::stop_token& stop) {
  using enum api::ReasonCode;
  os::Command command{.argv = {"/proc/self/exe", "nvidia-validator", kAskDriver},
                      .limit = limit,
                      .grace = std::chrono::milliseconds(100)};
  command.argv.insert(command.argv.end(), libraries.begin(), libraries.end());
  const auto exit = processes.Run(command, stop);
  const std::string library = libraries.empty() ? "libnvidia-ml.so.1" : libraries.front();
  if (!exit && exit.error().code == Code::kTimeout)
    return Broken(kDriverHung, fmt::format("NVML ({}) did not answer within {} s", library,
                                           std::chrono::duration_cast<std::chrono::seconds>(limit).count()));
  if (!exit) return Broken(kDriverFailed, "asking the driver: " + exit.error().text);
  if (!exit->ok()) return Broken(kDriverFailed, fmt::format("NVML ({}): {}", library, exit->Describe()));
  auto state = ReadDriverState(exit->out);
  if (!state) return Broken(kDriverFailed, "asking the driver: " + state.error().text);
  return *std::move(state);
}

int RunAskDriver(std::span<char* const> libraries) {
  const DriverState state = AskFirst({libraries.begin(), libraries.end()});
  std::puts(WriteDriverState(state).c_str());
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace gpuop::operands::validator
