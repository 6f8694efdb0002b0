#include "cli/cleanup.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <utility>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "data/duration.h"
#include "kube/api_door.h"
#include "kube/config/config.h"
#include "os/real_fs.h"
#include "os/signals.h"

namespace gpuop::cli {
namespace {

constexpr const char* kUsage =
    "usage: gpu-operator cleanup --namespace NS --selector LABELS [--limit 60s] [--kubeconfig FILE]\n";
constexpr const char* kState = "nvidia.com/gpu-operator.state";
constexpr const char* kPresent = "nvidia.com/gpu.present";

Result<std::vector<std::string>> NamesOf(const kube::Client& client, const kube::Resource& resource,
                                         const std::string& selector) {
  std::vector<std::string> out;
  const Result<> listed =
      client.List(resource, {.label_selector = selector}, [&out](const boost::json::object& object) -> Result<> {
        out.push_back(kube::KeyIn(object));
        return {};
      });
  if (!listed && listed.error().code != Code::kNotFound) return std::unexpected(listed.error());
  return out;
}

struct Order {
  std::string ns, selector, kubeconfig;
  Duration limit = std::chrono::seconds(60);
};

Result<Order> ParseOrder(std::span<char* const> args) {
  Order out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string option = args[i];
    if (i + 1 == args.size()) return Fail(Code::kInvalid, option + ": a value is expected");
    const std::string value = args[++i];
    if (option == "--namespace") {
      out.ns = value;
    } else if (option == "--selector") {
      out.selector = value;
    } else if (option == "--kubeconfig") {
      out.kubeconfig = value;
    } else if (option == "--limit") {
      ASSIGN(out.limit, data::ParseDuration(value));
    } else {
      return Fail(Code::kInvalid, "there is no option " + option);
    }
  }
  if (out.ns.empty() || out.selector.empty()) return Fail(Code::kInvalid, "--namespace and --selector are needed");
  return out;
}

/// Waits until nothing is left; what is left when the time is over.
std::string WaitUntilGone(Executor& executor, const kube::Client& client, const Order& order, std::stop_token stop) {
  Mutex mu;
  std::condition_variable_any more;
  bool done = false;
  Leftovers leftovers(executor, client, order.ns, [&] {
    Lock l(mu);
    done = true;
    more.notify_one();
  });
  Lock l(mu);
  more.wait_for(mu, stop, order.limit, [&] { return done; });
  return done ? "" : leftovers.Text();
}

Result<> Carry(const Order& order) {
  ASSIGN(const auto signals, os::StopSignals::Catch());
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(kube::ApiConfig config, kube::FindConfig(*fs, {.kubeconfig = order.kubeconfig}));
  ASSIGN(const auto api, kube::ApiDoor::Open(*fs, std::move(config), 2));
  const kube::Client client = kube::Client(api->door()).With(signals->token());
  ASSIGN(const std::size_t others, DeletePolicies(client, order.selector));
  if (others > 0) {
    std::printf("%zu policies of others are left; what belongs to them stays\n", others);
    return {};
  }
  const std::string left = WaitUntilGone(api->workers(), client, order, signals->token());
  std::printf("%s\n", left.empty() ? "operands and labels are gone" : ("still there: " + left).c_str());
  return {};
}

}  // namespace

Result<std::size_t> DeletePolicies(const kube::Client& client, const std::string& selector) {
  std::size_t others = 0;
  for (const kube::Resource* resource : {&api::ClusterPolicy::kResource, &api::NvidiaDriver::kResource}) {
    ASSIGN(const auto ours, NamesOf(client, *resource, selector));
    for (const std::string& name : ours) {
      const auto deleted = client.Delete({.resource = *resource, .ns = {}, .name = name, .subresource = {}});
      if (!deleted && deleted.error().code != Code::kNotFound) return std::unexpected(deleted.error());
      std::printf("%s %s deleted\n", resource->kind.c_str(), name.c_str());
    }
    ASSIGN(const auto all, NamesOf(client, *resource, ""));
    for (const std::string& name : all) others += std::ranges::find(ours, name) == ours.end() ? 1 : 0;
  }
  return others;
}

Leftovers::Leftovers(Executor& executor, const kube::Client& client, const std::string& ns, std::function<void()> gone)
    : daemonsets_(executor, client, {.ns = ns, .label_selector = kState}),
      nodes_(executor, client, {.label_selector = kPresent}),
      gone_(std::move(gone)) {
  daemonsets_.OnChange([this](const kube::Change<kube::DaemonSet>&) { Look(); });
  nodes_.OnChange([this](const kube::Change<kube::Node>&) { Look(); });
  daemonsets_.OnSynced([this] { Look(); });
  nodes_.OnSynced([this] { Look(); });
  daemonsets_.Start();
  nodes_.Start();
}

void Leftovers::Look() {
  const bool known = daemonsets_.HasSynced() && nodes_.HasSynced();
  if (known && daemonsets_.size() == 0 && nodes_.size() == 0) gone_();
}

std::string Leftovers::Text() const {
  return std::to_string(daemonsets_.size()) + " DaemonSets, " + std::to_string(nodes_.size()) + " nodes with labels";
}

int RunCleanup(std::span<char* const> args) {
  const auto order = ParseOrder(args);
  if (!order) {
    std::fprintf(stderr, "gpu-operator cleanup: %s\n%s", order.error().text.c_str(), kUsage);
    return 2;
  }
  if (const Result<> done = Carry(*order); !done) {
    std::fprintf(stderr, "gpu-operator cleanup: %s\n", done.error().text.c_str());
    return 1;
  }
  return 0;
}

}  // namespace gpuop::cli
