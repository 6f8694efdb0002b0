#include "cli/gpu/wait.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>

#include "base/mutex.h"
#include "cli/gpu/read.h"
#include "kube/cache.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

/// The first thing to say of a node, without the names of Pods, which nobody knows.
std::string Step(const NodeView& node, const std::vector<Diagnosis>& found, Standing standing) {
  if (const Diagnosis* first = FirstOf(found))
    return first->reason().severity == api::Severity::kFine
               ? std::string(first->brief())
               : fmt::format("{}: {}", first->reason().name, first->brief());
  if (standing == Standing::kNone) return "no GPU is known of";
  std::string offers;
  for (const auto& [resource, offer] : node.offers)
    offers += fmt::format("{}{} {}", offers.empty() ? "" : ", ", offer.allocatable, resource);
  return fmt::format("{}: {}", node.Product(), offers);
}

bool IsCordon(const Diagnosis& d) { return d.code == api::ReasonCode::kNodeCordoned; }

/// Nodes and Pods as caches hold them.
class Follower {
 public:
  Follower(Executor& executor, const kube::Client& client, ClusterFacts facts)
      : facts_(std::move(facts)), nodes_(executor, client), pods_(executor, client, {.ns = facts_.ns}) {
    nodes_.OnChange([this](const kube::Change<kube::Node>&) { Wake(); });
    pods_.OnChange([this](const kube::Change<kube::Pod>&) { Wake(); });
    nodes_.OnSynced([this] { Wake(); });
    pods_.OnSynced([this] { Wake(); });
    nodes_.Start();
    pods_.Start();
  }

  /// Waits for news until `end`; false when there were none, or `stop` was asked for.
  bool WaitForNews(TimePoint end, const std::stop_token& stop) {
    Lock l(mu_);
    const bool news = more_.wait_until(mu_, stop, end, [this]() REQUIRES(mu_) { return news_; });
    news_ = false;
    return news;
  }
  bool Complete() const { return nodes_.HasSynced() && pods_.HasSynced(); }
  ClusterFacts Facts() const {
    ClusterFacts out = facts_;
    out.nodes = nodes_.List();
    out.operands = pods_.List();
    return out;
  }

 private:
  void Wake() {
    Lock l(mu_);
    news_ = true;
    more_.notify_one();
  }

  ClusterFacts facts_;
  Mutex mu_;
  std::condition_variable_any more_;
  bool news_ GUARDED_BY(mu_) = false;
  kube::Cache<kube::Node> nodes_;
  kube::Cache<kube::Pod> pods_;
};

}  // namespace

bool Progress::Awaited(const NodeView& node) const {
  return names_.empty() ? node.HasGpus() : std::ranges::find(names_, node.name()) != names_.end();
}

std::vector<std::string> Progress::Look(const ClusterFacts& facts) {
  std::vector<std::string> lines;
  std::vector<std::string> absent = names_;
  bool any = false;
  worst_ = Standing::kFit;
  missing_.clear();
  const std::vector<NodeView> nodes = ViewNodes(facts);
  for (const NodeView& node : nodes) {
    if (!Awaited(node)) continue;
    any = true;
    std::erase(absent, node.name());
    std::vector<Diagnosis> found = DiagnoseNode(node, facts);
    const bool cordoned = std::erase_if(found, IsCordon) > 0;
    const Standing standing = StandingOf(node, found);
    const std::string step = Step(node, found, standing) + (cordoned ? " (cordoned)" : "");
    worst_ = std::max(worst_, standing == Standing::kNone ? Standing::kWaiting : standing);
    if (standing == Standing::kNone)
      missing_.push_back(fmt::format("{}: {}", node.name(), step));
    else if (standing != Standing::kFit)
      missing_.push_back(fmt::format("{} is {}: {}", node.name(), Word(standing), step));
    std::string line = fmt::format("{:<12}  {:<10}  {}", node.name(), Word(standing), step);
    std::string& said = said_[node.name()];
    if (said != line) lines.push_back(line);
    said = std::move(line);
  }
  for (const std::string& name : absent) missing_.push_back("there is no node " + name);
  if (names_.empty() && !any) missing_.emplace_back("no node with GPUs is known");
  if (!missing_.empty()) worst_ = std::max(worst_, Standing::kWaiting);
  return lines;
}

Result<Waited> WaitUntilFit(Executor& executor, const kube::Client& client, const WaitOrder& order,
                            const std::function<void(const std::string&)>& tell, std::stop_token stop) {
  ASSIGN(ClusterFacts facts, ReadCluster(client, order.operator_ns));
  const TimePoint begin = executor.Now();
  Follower follower(executor, client, std::move(facts));
  Progress progress(order.names);
  while (follower.WaitForNews(begin + order.limit, stop)) {
    if (!follower.Complete()) continue;
    const auto lines = progress.Look(follower.Facts());
    const double seconds = std::chrono::duration<double>(executor.Now() - begin).count();
    for (const std::string& line : lines) tell(fmt::format("{:6.2f} s  {}", seconds, line));
    if (progress.Done()) break;
  }
  return Waited{.worst = progress.worst(), .missing = progress.missing(), .took = executor.Now() - begin};
}

}  // namespace gpuop::cli::kubectl_gpu
