#include "e2e/operator/ground.h"
#include "sim/cluster.h"
#include "sim/controllers/control_loops.h"

namespace gpuop::e2e {
namespace {

class EmbeddedGround final : public Ground {
 public:
  EmbeddedGround(std::uint64_t seed, Log& log) : seed_(seed), log_(log), cluster_(seed) {}

  kube::ApiResponse Call(const std::string& method, const std::string& path, const std::string& body,
                         const std::string& content_type) override {
    return cluster_.Call(method, path, body, content_type);
  }
  Executor& executor() override { return cluster_.executor(); }
  void RunFor(Duration span) override { cluster_.RunFor(span); }
  std::unique_ptr<kube::Door> DoorFor(const std::string& ns, const std::string& account) override {
    return cluster_.DoorFor(sim::User::ServiceAccount(ns, account));
  }
  void StartNodes(std::vector<sim::HollowPool> pools, std::vector<sim::TimelineRule> timelines) override {
    sim::ControlLoops::Options options;
    options.pools = std::move(pools);
    options.timelines = std::move(timelines);
    options.seed = seed_;
    loops_ = std::make_unique<sim::ControlLoops>(cluster_.control_plane(), log_, std::move(options));
    loops_->Start();
    RunFor(std::chrono::seconds(5));
  }
  void WithKubelets(const std::function<void(sim::Kubelets&)>& what) override { what(loops_->kubelets()); }
  sim::Faults* faults() override { return &cluster_.faults(); }

 private:
  const std::uint64_t seed_;
  Log& log_;
  sim::Cluster cluster_;
  std::unique_ptr<sim::ControlLoops> loops_;
};

}  // namespace

std::unique_ptr<Ground> MakeEmbeddedGround(std::uint64_t seed, Log& log) {
  return std::make_unique<EmbeddedGround>(seed, log);
}

}  // namespace gpuop::e2e
