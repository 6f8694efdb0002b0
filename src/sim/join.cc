#include "sim/join.h"

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "base/rng.h"
#include "base/stop.h"
#include "base/thread_executor.h"
#include "kube/api_door.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "sim/kubelet/kubelets.h"

namespace gpuop::sim {
Result<> RunJoined(const SimOptions& options, std::vector<HollowPool> pools, Log& log) {
  ASSIGN(const auto signals, os::StopSignals::Catch());
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(kube::ApiConfig config, kube::FindConfig(*fs, {.kubeconfig = std::filesystem::absolute(options.join)}));
  config.user_agent = "kubelet";
  const std::string server = config.source;
  ASSIGN(const auto api, kube::ApiDoor::Open(*fs, std::move(config)));
  // Kubelets and caches take one task at a time: one worker.
  ThreadExecutor executor(1);
  const kube::Client client(api->door(), {.field_manager = "kubelet"});
  kube::CacheOptions caching;
  caching.log = &log;
  kube::Cache<kube::Pod> pods(executor, client, caching);
  kube::Cache<kube::Node> nodes(executor, client, caching);
  Kubelets kubelets({executor, client, log, pods, nodes, options.seed != 0 ? options.seed : RandomSeed()},
                    std::move(pools));
  std::mutex mu;
  std::condition_variable started;
  bool done = false;
  executor.Post([&] {
    pods.Start();
    nodes.Start();
    kubelets.Start();
    const std::scoped_lock lock(mu);
    done = true;
    started.notify_one();
  });
  {
    std::unique_lock lock(mu);
    started.wait(lock, [&] { return done; });
  }
  std::printf("%zu hollow nodes have joined the cluster of %s (Ctrl-C ends them)\n", kubelets.Names().size(),
              server.c_str());
  std::fflush(stdout);
  WaitForStop(signals->token());
  return {};
}

}  // namespace gpuop::sim
