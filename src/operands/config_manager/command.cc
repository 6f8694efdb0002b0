#include "operands/config_manager/command.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/stop.h"
#include "kube/api_door.h"
#include "kube/cache.h"
#include "kube/controller.h"
#include "kube/types/node.h"
#include "operands/config_manager/follower.h"
#include "operands/config_manager/options.h"
#include "operands/status_server.h"
#include "os/heap.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "os/watcher.h"

namespace gpuop::operands::config_manager {
namespace {

std::optional<std::string> LabelOf(const kube::Node& node, const std::string& key) {
  const Interned* const value = node.meta.labels.Find(key);
  return value == nullptr ? std::nullopt : std::optional(std::string(value->view()));
}

/// Follows the node's label and the files until `stop`. What goes wrong is logged; the last good link stays.
class Manager {
 public:
  Manager(kube::ApiDoor& api, const std::stop_token& stop, os::Fs& fs, Log& log, const Options& options)
      : options_(options),
        log_(log),
        programs_(fs),
        follower_({fs, programs_, log, &metrics_}, options),
        io_(api.io()),
        cache_(api.workers(), api.MakeClient(stop), {.field_selector = "metadata.name=" + options.node, .log = &log}),
        controller_(api.workers(), log, {.name = "config-manager"}, [this](const std::string&) { return Turn(); }) {
    controller_.Watch<kube::Node>(cache_, [this](const kube::Change<kube::Node>& c) {
      return !c.old || !c.now || LabelOf(*c.old, options_.label) != LabelOf(*c.now, options_.label);
    });
  }

  Result<> Run(const std::stop_token& stop) {
    os::InotifyWatcher watcher;
    ASSIGN(const auto watch,
           watcher.Start({options_.source, options_.destination},
                         [add = controller_.Adder(), node = options_.node](const auto&) { add(node); }));
    std::unique_ptr<net::Server> status;
    if (!options_.metrics_address.empty()) {
      ASSIGN(status, ServeStatus(io_, options_.metrics_address, metrics_, [this] { return trouble_.Get(); }));
    }
    controller_.Start();
    cache_.Start();
    WaitForStop(stop);
    return {};
  }

 private:
  Result<kube::Next> Turn() {
    const auto node = cache_.Get(options_.node);
    if (node == nullptr) return kube::Next{};  // what it said last still holds
    const auto followed = follower_.Follow(LabelOf(*node, options_.label));
    const bool news = trouble_.Set(followed ? "" : followed.error().text);
    if (news) os::SettleDown();
    if (followed) return kube::Next{};
    // Until a label or a file changes, trying again would find the same.
    const Error& error = followed.error();
    const bool lasting = error.code == Code::kNotFound || error.code == Code::kInvalid;
    if (!lasting) return std::unexpected(error);
    if (news) log_.Error("the last good configuration stays", {{"reason", error.text}});
    return kube::Next{};
  }

  const Options& options_;
  Log& log_;
  MetricRegistry metrics_;
  RealPrograms programs_;
  Follower follower_;
  net::IoThread& io_;
  Trouble trouble_{"the node's label is not known yet"};
  kube::Cache<kube::Node> cache_;
  kube::Controller controller_;
};

Result<> Manage(const Options& options, const std::stop_token& stop) {
  const SystemClock clock;
  StderrLog log(clock);
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(const auto api, kube::ApiDoor::Open(*fs, options.kubeconfig, "config-manager"));
  if (!options.oneshot) return Manager(*api, stop, *fs, log, options).Run(stop);
  ASSIGN(const auto node, api->MakeClient(stop).Get<kube::Node>(options.node));
  RealPrograms programs(*fs);
  TRY(Follower({*fs, programs, log}, options).Follow(LabelOf(node, options.label)));
  return {};
}

int Report(const Error& error, int status) {
  std::fprintf(stderr, "config-manager: %s\n", error.text.c_str());
  return status;
}

}  // namespace

int RunConfigManager(std::span<char* const> args) {
  for (const std::string_view arg : args)
    if (arg == "-h" || arg == "--help") {
      std::fputs(Help().c_str(), stdout);
      return 0;
    }
  const auto options = ReadOptions({args.begin(), args.end()}, std::getenv);
  if (!options) return Report(options.error(), 2);
  os::KeepHeapSmall();
  const auto signals = os::StopSignals::Catch();
  if (!signals) return Report(signals.error(), 1);
  const auto done = Manage(*options, (*signals)->token());
  return done ? 0 : Report(done.error(), 1);
}

}  // namespace gpuop::operands::config_manager
