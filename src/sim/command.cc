#include "sim/command.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stop_token>

#include "base/log.h"
#include "base/text.h"
#include "data/json.h"
#include "net/certificates.h"
#include "net/io_thread.h"
#include "os/heap.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/temp_folder.h"
#include "sim/cluster.h"
#include "sim/controllers/control_loops.h"
#include "sim/http/http_door.h"
#include "sim/http/identify.h"
#include "sim/join.h"
#include "sim/kubeconfig.h"
#include "sim/machine_fault.h"
#include "sim/node/engine/machine_process.h"
#include "sim/node/engine/sandbox.h"
#include "sim/node/machines.h"
#include "sim/options.h"
#include "sim/state_file.h"

namespace gpuop::sim {
namespace {

constexpr char kDefaultKubeconfig[] = "gpu-operator-sim.kubeconfig";
constexpr std::chrono::seconds kGrace{2};
constexpr std::chrono::seconds kQuiet{1};

/// Everything of a running embedded cluster, in the order in which it is made.
struct Running {
  explicit Running(std::uint64_t seed) : plane(io, seed) {}

  net::IoThread io;
  ControlPlane plane;
  std::unique_ptr<StateFile> state;
  std::unique_ptr<ControlLoops> loops;
  std::unique_ptr<HttpDoor> door;
  std::unique_ptr<node::Machines> machines;
  std::optional<os::TempFolder> scratch;
  /// For the API server as Pods on machines see it.
  std::optional<net::TlsServerOptions> pod_tls;
  bool compacting = false;
  TimePoint last_write{};
  bool trim_waits = false;
};

/// Opens the state file and keeps it from growing without end.
Result<> KeepState(Running& run, const std::string& path, Log& log) {
  ASSIGN(run.state, StateFile::Open(path, run.plane.store()));
  if (run.state->dropped() > 0)
    log.Warn("dropped an unfinished write at the end of the state file",
             {{"file", path}, {"bytes", std::to_string(run.state->dropped())}});
  run.plane.store().SetLog(run.state.get());
  run.plane.store().Observe([&run, &log](std::string_view, const Event&) {
    if (run.compacting || !run.state->WantsCompaction()) return;
    run.compacting = true;
    run.io.Post([&run, &log] {
      if (auto done = run.state->Compact(run.plane.store()); !done)
        log.Error("the state file could not be rewritten", {{"error", done.error().text}});
      run.compacting = false;
    });
  });
  return {};
}

/// When nothing has been written for a moment, memory that was needed meanwhile goes back to the system.
void TrimWhenQuiet(Running& run) {
  run.io.PostAt(run.last_write + kQuiet, [&run] {
    if (run.io.Now() < run.last_write + kQuiet) return TrimWhenQuiet(run);
    run.trim_waits = false;
    os::TrimHeap();
  });
}

void TrimAfterWrites(Running& run) {
  run.plane.store().Observe([&run](std::string_view, const Event&) {
    run.last_write = run.io.Now();
    if (!std::exchange(run.trim_waits, true)) TrimWhenQuiet(run);
  });
}

/// A new authority, the server's certificate and the administrator's.
Result<net::TlsServerOptions> MakeTls(const Clock& clock, KubeconfigParts& parts) {
  const WallTime from = clock.Wall() - std::chrono::hours(1), to = from + std::chrono::days(365);
  ASSIGN(const net::KeyPair ca, net::MakeAuthority("gpu-operator-sim", from, to));
  ASSIGN(const net::KeyPair server,
         net::MakeCertificate(ca, {"kube-apiserver",
                                   {},
                                   {"127.0.0.1", "localhost", node::kApiAddress, "kubernetes", "kubernetes.default",
                                    "kubernetes.default.svc"},
                                   from,
                                   to}));
  ASSIGN(const net::KeyPair admin, net::MakeCertificate(ca, {"system:admin", {"system:masters"}, {}, from, to}));
  parts.ca = ca.certificate, parts.certificate = admin.certificate, parts.key = admin.key;
  return net::TlsServerOptions{{server.certificate, ""}, {server.key, ""}, {ca.certificate, ""}};
}

Result<> Listen(Running& run, const SimOptions& options, KubeconfigParts& parts) {
  std::optional<net::TlsServerOptions> tls;
  // Without TLS, whoever shows no credentials is the administrator, as behind `kubectl proxy`.
  if (options.tls || !options.machines.empty()) {
    ASSIGN(run.pod_tls, MakeTls(run.io, parts));
  }
  if (options.tls) tls = run.pod_tls;
  auto identify = IdentifyBy(run.plane.plugins().authenticator(), options.tls ? User::Anonymous() : User::Admin());
  const Control control(run.plane.server(), run.plane.faults(),
                        [&run](std::string_view name, std::vector<std::string> words) -> Result<> {
                          if (!run.machines) return Fail(Code::kNotFound, "there are no simulated machines");
                          return run.machines->Do(name, std::move(words));
                        });
  run.door = std::make_unique<HttpDoor>(run.io, run.plane.server(), run.plane.faults(), control, std::move(identify));
  ASSIGN(const std::string address, run.door->Listen(fmt::format("127.0.0.1:{}", options.port), std::move(tls)));
  parts.server = (options.tls ? "https://" : "http://") + address;
  return {};
}

/// The names that this program answers to, as its own list has them.
Result<std::vector<std::string>> OwnNames(const std::string& program) {
  os::RealProcesses processes;
  ASSIGN(const os::Exit listed, processes.Run({.argv = {program, "--names"}}, {}));
  std::vector<std::string> names;
  for (const std::string_view line : Split(listed.out, '\n'))
    if (!line.empty()) names.emplace_back(line);
  return names;
}

Result<> AddMachines(Running& run, const SimOptions& options, Log& log) {
  node::Machines::Options machines;
  ASSIGN(machines.machines, node::ReadMachines(options.machines));
  if (!options.machines_folder.empty()) machines.folder = std::filesystem::absolute(options.machines_folder);
  ASSIGN(os::TempFolder scratch, os::TempFolder::Make());
  run.scratch.emplace(std::move(scratch));
  if (!options.images_file.empty()) {
    ASSIGN(machines.images, node::Registry::Read(options.images_file, run.scratch->path()));
  }
  std::error_code error;
  machines.program_path = std::filesystem::read_symlink("/proc/self/exe", error);
  machines.program = {machines.program_path, node::kMachineApplet};
  ASSIGN(machines.program_names, OwnNames(machines.program_path));
  machines.serve_api = [&run](os::Fd socket) { return run.door->Adopt(std::move(socket), run.pod_tls); };
  machines.seed = RandomSeed();
  ASSIGN(run.machines, node::Machines::Make(run.plane, run.loops->caches(), log, std::move(machines)));
  return {};
}

Result<std::vector<HollowPool>> ReadPools(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(Code::kNotFound, path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSIGN(const boost::json::value json, data::ParseJson(text));
  auto pools = ReadHollowPools(json);
  if (!pools) return std::unexpected(std::move(pools).error().During(path));
  return pools;
}

Result<std::vector<HollowPool>> Pools(const SimOptions& options) {
  std::vector<HollowPool> pools;
  if (!options.pools_file.empty()) {
    ASSIGN(pools, ReadPools(options.pools_file));
  }
  if (options.nodes > 0) pools.push_back(PlainPool(options.nodes));
  return pools;
}

Result<> Join(const SimOptions& options) {
  SystemClock clock;
  StderrLog log(clock);
  ASSIGN(std::vector<HollowPool> pools, Pools(options));
  return RunJoined(options, std::move(pools), log);
}

Result<> Start(Running& run, const SimOptions& options, Log& log, KubeconfigParts& parts) {
  if (!options.state_file.empty()) TRY(KeepState(run, options.state_file, log));
  TrimAfterWrites(run);
  run.plane.Bootstrap();
  TRY(Listen(run, options, parts));
  if (options.api_only) return {};
  ControlLoops::Options loops;
  ASSIGN(loops.pools, Pools(options));
  loops.root_certificate = parts.ca;
  loops.seed = RandomSeed();
  run.loops = std::make_unique<ControlLoops>(run.plane, log, std::move(loops));
  if (!options.machines.empty()) TRY(AddMachines(run, options, log));
  run.loops->Start();
  if (run.machines) run.machines->Start();
  return {};
}

void Greet(const KubeconfigParts& parts, const std::string& kubeconfig) {
  std::printf("a Kubernetes API is at %s (Ctrl-C ends it)\n", parts.server.c_str());
  for (const char* line : {"get nodes", "get namespaces", "create configmap hello --from-literal=a=b"})
    std::printf("  kubectl --kubeconfig %s %s\n", kubeconfig.c_str(), line);
  std::fflush(stdout);
}

int Complain(const Error& error, int status) {
  std::fprintf(stderr, "gpu-operator sim: %s\n", error.text.c_str());
  return status;
}

}  // namespace

int RunSim(std::span<char* const> args) {
  if (!args.empty() && std::strcmp(args[0], "fault") == 0) return RunMachineFault(args.subspan(1));
  const auto options = ParseSimOptions(args);
  if (!options) return Complain(options.error(), 2);
  if (options->help) {
    std::fputs(SimHelp().c_str(), stdout);
    return 0;
  }
  if (!options->join.empty()) {
    const auto joined = Join(*options);
    return joined ? 0 : Complain(joined.error(), 1);
  }
  const auto signals = os::StopSignals::Catch();
  if (!signals) return Complain(signals.error(), 1);
  SystemClock clock;
  StderrLog log(clock);
  Running run(options->seed != 0 ? options->seed : RandomSeed());
  KubeconfigParts parts;
  if (auto started = Start(run, *options, log, parts); !started) return Complain(started.error(), 1);
  const std::string kubeconfig = options->kubeconfig.empty() ? kDefaultKubeconfig : options->kubeconfig;
  if (auto written = WriteKubeconfig(kubeconfig, parts); !written) return Complain(written.error(), 1);
  Greet(parts, kubeconfig);
  const std::stop_callback ending(
      (*signals)->token(), [&run] { run.io.Post([&run] { run.door->Stop(kGrace, [&run] { run.io.Stop(); }); }); });
  run.io.Run({});
  // The machines go while their door is there.
  run.machines.reset();
  return 0;
}

}  // namespace gpuop::sim
