#include "operands/toolkit/program/keeper.h"

#include "container/device_nodes.h"
#include "data/json.h"
#include "kube/api_door.h"
#include "kube/config/config.h"
#include "operands/toolkit/program/guard.h"
#include "operands/toolkit/program/install.h"
#include "operands/toolkit/program/locate.h"
#include "operands/toolkit/program/specs.h"
#include "os/real_fs.h"

namespace gpuop::operands::toolkit {
namespace {

using Clock = std::chrono::steady_clock;

/// A driver that loads changes many names at once; what it changed is looked at when it has been quiet for kQuiet, or
/// after kLongest in any case.
constexpr auto kQuiet = std::chrono::milliseconds(500);
constexpr auto kLongest = std::chrono::seconds(10);

}  // namespace

Keeper::Keeper(const Options& options, os::Fs& host, os::Fs& engine_files, Log& log, std::stop_token stop)
    : options_(options),
      host_(host),
      engine_files_(engine_files),
      log_(log),
      stop_(std::move(stop)),
      // Its paths are those of one root, so each root has its own.
      journal_(engine_files,
               options.install_dir + (options.engine_root == "/" ? "/.toolkit-journal" : "/.toolkit-journal-host")),
      engine_(options, processes_, watcher_, log, stop_),
      transaction_(
          engine_files, journal_, engine_,
          {.kind = options.engine, .files = options.files, .record = options.install_dir + "/.toolkit-engine.json"}) {}

Result<> Keeper::Recover() {
  ASSIGN(const os::Recovery recovery, transaction_.Recover());
  if (recovery.outcome == os::Recovery::Outcome::kNothing) return {};
  log_.Warn(
      "a change that was cut short was ended",
      {{"change", recovery.name}, {"how", recovery.outcome == os::Recovery::Outcome::kUndone ? "undone" : "finished"}});
  for (const std::string& left : recovery.left) log_.Warn("left as somebody else made it", {{"what", left}});
  engine_.RemoveLeftSandboxes();
  return {};
}

Result<> Keeper::SetUp() {
  TRY(Install());
  if (WritesSpecs()) {
    TRY(Bear("write the management CDI spec", ManagementSpec()));
    DeviceSpec();
  }
  return ConfiguresEngine() ? ConfigureEngine() : Result<>();
}

void Keeper::Wait() {
  const auto watches = Watch();
  // What changed before they listened.
  if (WritesSpecs()) Ring(Matter::kSpecs);
  if (ConfiguresEngine()) Ring(Matter::kEngine);
  for (;;) {
    const std::set<Matter> changed = WaitForChange();
    if (changed.empty()) return;
    if (changed.contains(Matter::kSpecs)) {
      if (auto done = ManagementSpec(); !done)
        log_.Warn("the management CDI spec stays as it was", {{"error", done.error().text}});
      DeviceSpec();
    }
    if (changed.contains(Matter::kEngine)) Repair();
  }
}

Result<> Keeper::CleanUp() {
  if (!ConfiguresEngine()) return {};
  std::vector<std::string> names;
  for (const container::WantedRuntime& runtime : options_.wish.runtimes) names.push_back(runtime.name);
  const std::string folder = options_.install_dir + "/toolkit";
  if (const auto told = engine_.CanBeTold(); !told) {
    log_.Warn("the files are given back, and the engine keeps the runtimes until somebody restarts it",
              {{"error", told.error().text}});
    engine_.LeaveAlone();
  }
  if (options_.engine == container::EngineKind::kDocker && options_.restart_mode == "signal") {
    ASSIGN(const container::EngineChange forget, transaction_.PlanForget(names, folder));
    TRY(Apply(forget));
  }
  ASSIGN(const container::EngineChange change, transaction_.PlanCleanUp(names, folder));
  if (!change.empty()) log_.Info("engine's configuration goes back to what it was", {{"diff", change.files.Diff()}});
  return Apply(change);
}

Result<> Keeper::Install() {
  std::vector<std::string> runtimes = {"runc", "crun"};
  const auto texts = container::ReadEngineTexts(options_.engine, engine_files_, options_.files);
  if (texts)
    if (const auto config = container::UnderstandEngine(options_.engine, *texts, options_.files))
      runtimes = container::LowLevelRuntimes(*config);
  ASSIGN(const Payload payload, MakePayload(options_, runtimes));
  ASSIGN(const bool changed, InstallPayload(options_.install_dir + "/toolkit", payload));
  log_.Info(changed ? "programs installed" : "programs are as they should be",
            {{"folder", options_.install_dir + "/toolkit"}});
  return {};
}

Result<> Keeper::ManagementSpec() {
  if (options_.create_control_nodes)
    TRY(container::MakeDriverNodes(options_.dev_root_ctr,
                                   container::ControlNodes(host_.Read("/proc/devices").value_or(""))));
  ASSIGN(const bool changed, WriteManagementSpec(options_, host_));
  if (changed) log_.Info("management CDI spec written", {{"folder", options_.cdi_output_dir}});
  return {};
}

void Keeper::DeviceSpec() {
  const auto changed = WriteDeviceSpec(options_, host_, processes_, stop_);
  const std::string trouble = changed ? std::string() : changed.error().text;
  if (changed && *changed) log_.Info("CDI spec of the GPUs written", {{"folder", options_.cdi_output_dir}});
  // The operand's own devices need none of it: the device plugin has a spec of its own.
  if (!changed && trouble != device_spec_trouble_)
    log_.Warn("no CDI spec nvidia.com/gpu is written; one that is there stays", {{"error", trouble}});
  device_spec_trouble_ = trouble;
}

Result<> Keeper::Bear(const char* doing, Result<> done) {
  if (done) return done;
  if (!options_.ignore_errors) return std::unexpected(std::move(done).error().During(doing));
  log_.Warn("goes on without", {{"doing", doing}, {"error", done.error().text}});
  return {};
}

Result<> Keeper::Apply(const container::EngineChange& change) {
  if (change.empty()) return {};
  if (change.reload) {
    TRY(engine_.CanBeTold());
    engine_.LookBefore(change.before);
  }
  if (stop_.stop_requested()) return Fail(Code::kCancelled, "stopped before the engine's configuration was changed");
  // Somebody must put things right should this process be killed between the first write and the last check.
  auto guard = Guard::Start(options_);
  if (!guard) log_.Warn("no guard watches this change", {{"error", guard.error().text}});
  return transaction_.Apply(change);
}

Result<> Keeper::RemoveLostHook() {
  const std::string& file = options_.crio_hook_file;
  if (file.empty()) return {};
  const auto hook = data::ParseJson(host_.Read(file).value_or(""));
  if (!hook) return {};
  const std::string program(data::StringOr(*hook, "hook.path"));
  if (!program.starts_with(options_.install_dir + "/toolkit/") || host_.Resolve(program)) return {};
  log_.Warn("a hook whose program is gone is taken away", {{"file", file}, {"program", program}});
  return host_.Remove(file);
}

Result<> Keeper::ConfigureEngine() {
  TRY(RemoveLostHook());
  if (options_.crio_by_hook)
    log_.Warn(
        "nvidia-container-runtime-hook is no part of this toolkit; CRI-O gets the runtimes, with the first as default",
        {});
  ASSIGN(const container::EngineChange change, transaction_.PlanSetUp(options_.wish));
  if (change.empty()) {
    log_.Info("engine knows the runtimes already", {{"engine", std::string(container::EngineName(options_.engine))}});
    return {};
  }
  log_.Info("engine's configuration changes",
            {{"reload", change.reload ? "true" : "false"}, {"diff", change.files.Diff()}});
  return Apply(change);
}

void Keeper::Repair() {
  const auto change = transaction_.PlanSetUp(options_.wish);
  if (!change) {
    log_.Error("engine's configuration cannot be read", {{"error", change.error().text}});
    return;
  }
  if (change->empty()) return;
  const RepairBound::Answer answer = repairs_.Ask(Clock::now());
  if (answer != RepairBound::Answer::kRepair) {
    log_.Error("somebody keeps taking the runtimes out of the engine's configuration; it is left as it is", {});
    if (answer == RepairBound::Answer::kGiveUp) Tell(GivenUp(options_, *change));
    return;
  }
  log_.Warn("somebody took the runtimes out of the engine's configuration; they are put back",
            {{"diff", change->files.Diff()}});
  const auto done = Apply(*change);
  if (!done) log_.Error("they could not be put back", {{"error", done.error().text}});
  Tell(done ? Restored(options_, *change) : NotRestored(options_, *change, done.error()));
}

void Keeper::Tell(RepairNews news) {
  if (options_.node.empty()) return;
  if (!teller_) {
    tellers_thread_ = std::make_unique<ThreadExecutor>(1);
    const auto open = [this]() -> Result<std::shared_ptr<const kube::Client>> {
      ASSIGN(kube::ApiConfig config, kube::InClusterConfig(host_, &net::ProcessEnv));
      config.user_agent = kTeller;
      ASSIGN(auto api, kube::ApiDoor::Open(host_, std::move(config)));
      return kube::HoldClient(std::move(api), stop_);
    };
    teller_ = std::make_unique<RepairTeller>(*tellers_thread_, open, options_.node, log_);
  }
  teller_->Tell(std::move(news));
}

std::vector<std::unique_ptr<os::Watch>> Keeper::Watch() {
  std::vector<std::unique_ptr<os::Watch>> out;
  const auto keep = [&](Result<std::unique_ptr<os::Watch>> watch, const char* what) {
    if (watch)
      out.push_back(*std::move(watch));
    else
      log_.Warn("changes are not watched", {{"of", what}, {"error", watch.error().text}});
  };
  if (ConfiguresEngine()) {
    std::vector<std::string> paths = {options_.watch_root + options_.files.config};
    if (!options_.files.drop_in.empty()) paths.push_back(options_.watch_root + options_.files.drop_in);
    keep(watcher_.Start(paths, [this](const auto&) { Ring(Matter::kEngine); }), "the engine's configuration");
  }
  if (WritesSpecs()) {
    const SpecSources sources = WhatSpecsComeFrom(options_);
    keep(watcher_.Start(sources.files, [this](const auto&) { Ring(Matter::kSpecs); }), "the driver's files");
    keep(watcher_.StartNames(sources.nodes, [this](const auto&) { Ring(Matter::kSpecs); }), "the driver's nodes");
  }
  return out;
}

void Keeper::Ring(Matter matter) {
  Lock l(mu_);
  rung_.insert(matter);
  bell_.notify_all();
}

std::set<Keeper::Matter> Keeper::WaitForChange() {
  Lock l(mu_);
  std::set<Matter> out;
  bell_.wait(mu_, stop_, [this]() REQUIRES(mu_) { return !rung_.empty(); });
  const auto last = Clock::now() + kLongest;
  while (!rung_.empty() && Clock::now() < last) {
    out.merge(rung_);
    rung_.clear();
    bell_.wait_for(mu_, stop_, kQuiet, [this]() REQUIRES(mu_) { return !rung_.empty(); });
  }
  if (stop_.stop_requested()) out.clear();
  return out;
}

Result<> RecoverAll(const Options& options, os::Fs& own, Log& log) {
  Options through = options;
  through.engine_root = "/";
  TRY(Keeper(through, own, own, log, {}).Recover());
  if (options.files.host_root.empty() && options.engine_root == "/") return {};
  const auto host = os::RealFs::Open(kHostView);
  if (!host) return {};
  through.engine_root = kHostView;
  return Keeper(through, own, **host, log, {}).Recover();
}

}  // namespace gpuop::operands::toolkit
