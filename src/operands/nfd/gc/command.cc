#include "operands/nfd/gc/command.h"

#include <array>

#include "base/rng.h"
#include "base/stop.h"
#include "base/text.h"
#include "data/duration.h"
#include "kube/api_door.h"
#include "operands/nfd/gc/gc.h"
#include "operands/nfd/program.h"
#include "os/heap.h"

namespace gpuop::operands::nfd {
namespace {

constexpr const char* kName = "nfd-gc";
constexpr std::array kFlags = {
    FlagText{"gc-interval", "1h", false, "how often all objects are looked at (1h)"},
    FlagText{"list-size", "200", false, "objects per list request (200)"},
    FlagText{"kubeconfig", "", false, "how to reach the API outside a Pod"},
    FlagText{"port", "8080", false, "of /healthz and /metrics (8080)"},
};

Result<> Serve(const container::FlagValues& flags, const os::Fs& fs, const std::stop_token& stop) {
  GarbageCollector::Options options;
  ASSIGN(options.interval, data::ParseDuration(flags.Text("gc-interval")));
  if (options.interval < std::chrono::seconds(1)) return Fail(Code::kInvalid, "-gc-interval: expected 1s at least");
  const auto page = ParseInt(flags.Text("list-size"));
  if (!page || *page < 1 || *page > 10000) return Fail(Code::kInvalid, "-list-size: expected 1 to 10000");
  options.page = static_cast<int>(*page);
  options.seed = RandomSeed();
  ASSIGN(const int port, ReadPort(flags.Text("port")));
  ASSIGN(const auto api, kube::ApiDoor::Open(fs, flags.Text("kubeconfig"), kName, 2));
  StderrLog log(api->workers());
  MetricRegistry metrics;
  ASSIGN(const auto server, ServeHealth(api->io(), metrics, port));
  GarbageCollector collector(api->workers(), api->MakeClient(stop), options, log, metrics);
  collector.Start();
  WaitForStop(stop);
  return {};
}

}  // namespace

int RunNfdGc(std::span<char* const> args) {
  os::KeepHeapSmall();
  return RunProgram({kName, "deletes what is known of nodes that are gone", kFlags}, args, Serve);
}

}  // namespace gpuop::operands::nfd
