#include "operands/validator/command.h"

#include <cstdio>

#include "kube/api_door.h"
#include "operands/validator/components.h"
#include "operands/validator/metrics.h"
#include "operands/validator/probe.h"
#include "operands/validator/watch.h"
#include "os/heap.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/signals.h"

namespace gpuop::operands::validator {
namespace {

constexpr const char* kProgram = "nvidia-validator";

int Report(const Error& error) {
  std::fprintf(stderr, "%s: %s\n", kProgram, error.text.c_str());
  return 1;
}

/// Trees that a Pod may or may not have mounted.
std::unique_ptr<os::RealFs> OpenIfThere(const std::string& path) {
  auto fs = os::RealFs::Open(path);
  return fs ? *std::move(fs) : nullptr;
}

Result<> Run(const Options& options, const std::stop_token& stop) {
  const SystemClock clock;
  StderrLog log(clock);
  ASSIGN(const auto own, os::RealFs::Open("/"));
  const auto host = OpenIfThere("/host"), dev_char = OpenIfThere("/host-dev-char");
  StatusFiles files(*own, options.output_dir);
  TRY(files.Prepare(options.cleanup_all));
  std::string api_error;
  std::unique_ptr<kube::ApiDoor> api;
  std::optional<kube::Client> client;
  if (auto opened = kube::ApiDoor::Open(*own, options.kubeconfig, kProgram)) {
    api = *std::move(opened);
    client = api->MakeClient(stop);
  } else {
    api_error = opened.error().text;
  }
  os::RealProcesses processes;
  os::InotifyWatcher watcher;
  const Surroundings with{options,
                          *own,
                          host.get(),
                          dev_char.get(),
                          processes,
                          watcher,
                          clock,
                          log,
                          client ? &*client : nullptr,
                          api ? &api->workers() : nullptr,
                          api_error,
                          stop,
                          files};
  if (options.component == Component::kWatch) return RunWatch(with);
  if (options.component != Component::kMetrics) return RunComponent(with);
  if (api != nullptr) return RunMetrics(with, api->io());
  net::IoThread io;
  io.Start();
  return RunMetrics(with, io);
}

}  // namespace

int RunValidator(std::span<char* const> args) {
  if (!args.empty() && std::string_view(args[0]) == kAskDriver) return RunAskDriver(args.subspan(1));
  const auto options = ReadOptions({args.begin(), args.end()}, os::Variable);
  if (!options) return Report(options.error());
  if (!*options) {
    std::fputs(Help().c_str(), stdout);
    return 0;
  }
  os::KeepHeapSmall();
  const auto signals = os::StopSignals::Catch();
  if (!signals) return Report(signals.error());
  const auto done = Run(**options, (*signals)->token());
  return done ? 0 : Report(done.error());
}

}  // namespace gpuop::operands::validator
