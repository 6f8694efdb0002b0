#include "operands/nfd/master/command.h"

#include <malloc.h>

#include <condition_variable>

#include "base/rng.h"
#include "base/stop.h"
#include "base/text.h"
#include "kube/api_door.h"
#include "kube/lease.h"
#include "operands/nfd/master/node_writer.h"
#include "operands/nfd/master/options.h"
#include "operands/nfd/program.h"
#include "os/watcher.h"

namespace gpuop::operands::nfd {
namespace {

constexpr const char* kName = "nfd-master";

/// Takes everything that is noted as ours from all nodes.
Result<> Prune(const kube::Client& client, const NodeSettings& settings, Log& log) {
  std::vector<NodeState> nodes;
  TRY(client.List(NodeRecord::kResource, {}, [&](const data::JsonObject& object) -> Result<> {
    ASSIGN(NodeState node, NodeState::FromJson(object));
    if (HasOurs(node, settings)) nodes.push_back(std::move(node));
    return {};
  }));
  for (const NodeState& node : nodes) {
    NodePatch patch = PlanNode(node, {}, settings);
    if (patch.empty()) continue;
    TRY(WriteNode(client, node.name, std::move(patch), settings));
    log.Info("node pruned", {{"node", node.name}});
  }
  return {};
}

std::unique_ptr<kube::LeaderLease> MakeLease(kube::ApiDoor& api, const kube::Client& client,
                                             const MasterProgramOptions& options, Master& master, Log& log) {
  Rng rng(RandomSeed());
  return std::make_unique<kube::LeaderLease>(
      api.workers(), client,
      kube::LeaderLease::Options{.ns = options.lease_ns,
                                 .name = "nfd-master.nfd.kubernetes.io",
                                 .identity = options.identity + "_" + std::to_string(rng.Next()),
                                 .duration = options.lease,
                                 .renew_deadline = options.renew,
                                 .retry = options.retry,
                                 .seed = rng.Next(),
                                 .log = &log},
      [&master] { master.Lead(); }, [&master] { master.Rest(); });
}

/// So that another master can lead at once.
void GiveBack(kube::LeaderLease& lease) {
  constexpr std::chrono::seconds kFarewell{5};
  struct Latch {
    Mutex mu;
    std::condition_variable_any changed;
    bool done GUARDED_BY(mu) = false;
  };
  const auto latch = std::make_shared<Latch>();
  lease.Stop([latch] {
    Lock l(latch->mu);
    latch->done = true;
    latch->changed.notify_all();
  });
  Lock l(latch->mu);
  latch->changed.wait_for(latch->mu, kFarewell, [&]() REQUIRES(latch->mu) { return latch->done; });
}

Result<> Serve(const container::FlagValues& flags, const os::Fs& fs, const std::stop_token& stop) {
  ASSIGN(const MasterProgramOptions options, MakeMasterOptions(flags, fs, net::ProcessEnv));
  // Those who wait for answers, and two for caches and the lease.
  ASSIGN(const auto api, kube::ApiDoor::Open(fs, options.kubeconfig, kName, options.master.parallelism + 2));
  const kube::Client client = api->MakeClient(stop);
  StderrLog log(api->workers());
  if (options.prune) return Prune(client, options.node, log);
  MetricRegistry metrics;
  ASSIGN(const auto server, ServeHealth(api->io(), metrics, options.port));
  Master master(api->workers(), client, options.master, options.node, log, metrics);
  os::InotifyWatcher watcher;
  std::unique_ptr<os::Watch> watch;
  if (!options.config_file.empty()) {
    ASSIGN(watch, watcher.Start({options.config_file}, [&](const std::vector<std::string>&) {
      auto changed = MakeMasterOptions(flags, fs, net::ProcessEnv);
      if (!changed) {
        log.Error("the settings file is not used, the last good settings stay", {{"reason", changed.error().text}});
        return;
      }
      log.Info("settings read", {{"file", options.config_file}});
      master.Use(changed->node);
    }));
  }
  std::unique_ptr<kube::LeaderLease> lease;
  master.Start();
  if (options.leader_election) {
    // Its last word is said after `stop`.
    lease = MakeLease(*api, api->MakeClient({}), options, master, log);
    lease->Start();
  } else {
    master.Lead();
  }
  WaitForStop(stop);
  if (lease) GiveBack(*lease);
  return {};
}

}  // namespace

int RunNfdMaster(std::span<char* const> args) {
  // Workers mostly wait: a heap for each of them would only hold memory.
  mallopt(M_ARENA_MAX, 2);
  return RunProgram({kName, "gives nodes what NodeFeature and NodeFeatureRule objects say", MasterFlags()}, args,
                    Serve);
}

}  // namespace gpuop::operands::nfd
