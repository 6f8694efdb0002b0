#include "operands/driver_manager/command.h"

#include <cstdio>

#include "kube/api_door.h"
#include "operands/driver_manager/manager.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/signals.h"

namespace gpuop::operands::driver_manager {
namespace {

constexpr const char* kProgram = "driver-manager";

int Report(const Error& error) {
  std::fprintf(stderr, "%s: %s\n", kProgram, error.text.c_str());
  return 1;
}

Result<> Uninstall(const Options& options, const std::stop_token& stop) {
  const SystemClock clock;
  StderrLog log(clock);
  ASSIGN(const auto own, os::RealFs::Open("/"));
  auto host = os::RealFs::Open("/host");
  if (!host) return std::unexpected(std::move(host).error().During("the host's files must be mounted at /host"));
  ASSIGN(const auto api, kube::ApiDoor::Open(*own, options.kubeconfig, kProgram));
  RealKernel kernel;
  return Manager({options, api->MakeClient(stop), api->workers(), **host, *own, kernel, log, stop}).UninstallDriver();
}

}  // namespace

int RunDriverManager(std::span<char* const> args) {
  const std::string_view verb = args.empty() ? "" : args[0];
  if (verb == "preflight_check") return 0;
  if (verb != "uninstall_driver") {
    std::fprintf(stderr, "usage: %s uninstall_driver | preflight_check\n", kProgram);
    return 1;
  }
  const auto options = ReadOptions(os::Variable);
  if (!options) return Report(options.error());
  const auto signals = os::StopSignals::Catch();
  if (!signals) return Report(signals.error());
  const auto done = Uninstall(*options, (*signals)->token());
  return done ? 0 : Report(done.error());
}

}  // namespace gpuop::operands::driver_manager
