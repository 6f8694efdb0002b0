#include "sim/node/machines.h"

#include <latch>
#include <optional>

#include "base/text.h"
#include "sim/node/engine/machine_process.h"

namespace gpuop::sim::node {
namespace {

/// Hollow nodes count from 0; far above them there is room for machines.
constexpr std::size_t kFirstNumber = 60'000;

User Kubelet() { return {"system:nodes", "", {"system:masters", "system:authenticated"}, {}}; }

kube::Client ClientOf(kube::Door& door) {
  kube::Client::Options options;
  options.field_manager = "kubelet";
  return kube::Client(door, std::move(options));
}

}  // namespace

Machines::Machines(ControlPlane& plane, SharedCaches& caches, Log& log, Options options)
    : options_(std::move(options)),
      caches_(caches),
      door_(plane.DoorFor(Kubelet())),
      client_(ClientOf(*door_)),
      log_(log),
      plane_(plane),
      events_(plane.executor(), client_, log, "kubelet", options_.seed * 64 + 7),
      config_maps_(plane.executor(), client_),
      secrets_(plane.executor(), client_),
      streams_(plane.server(), [this](std::string_view node) { return Find(node); }) {}

Machines::~Machines() = default;

Result<std::unique_ptr<Machines>> Machines::Make(ControlPlane& plane, SharedCaches& caches, Log& log, Options options) {
  auto wishes = std::move(options.machines);
  std::unique_ptr<Machines> out(new Machines(plane, caches, log, std::move(options)));
  TRY(out->Prepare(std::move(wishes)));
  return out;
}

/// All at once: each is some hundred files.
Result<> Machines::OpenFolders(const std::vector<MachineWish>& wishes) {
  ASSIGN(const machine::DriverFiles files,
         machine::LinkableDriverFiles(options_.folder + "/.driver", machine::OwnDriverFiles()));
  std::vector<std::optional<Result<machine::MachineFolder>>> made(wishes.size());
  std::latch done(std::ssize(wishes));
  for (std::size_t i = 0; i < wishes.size(); ++i)
    workers_.Post([&, i] {
      made[i].emplace(OpenMachine(wishes[i], options_.folder + "/" + wishes[i].node, files));
      done.count_down();
    });
  done.wait();
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (!*made[i]) return std::unexpected(std::move(*made[i]).error().During("machine " + wishes[i].node));
    folders_.emplace(wishes[i].node, **std::move(made[i]));
  }
  return {};
}

Result<> Machines::Prepare(std::vector<MachineWish> wishes) {
  if (options_.folder.empty()) {
    ASSIGN(Scratch made, Scratch::Make());
    temporary_.emplace(std::move(made));
    options_.folder = temporary_->path();
  }
  TRY(OpenFolders(wishes));
  std::size_t number = kFirstNumber;
  for (const MachineWish& wish : wishes) {
    const std::string folder = options_.folder + "/" + wish.node;
    MachineOptions machine = OptionsOf(wish, folder, number++);
    machine.on_up = [this, node = wish.node](const std::string& view) { ShowPrograms(node, view); };
    nodes_.push_back(std::make_unique<MachineNode>(
        MachineNode::Parts{plane_.executor(), workers_, client_, log_, caches_.pods, caches_.nodes, events_,
                           options_.images, options_.program, options_.program_path, options_.program_names,
                           options_.serve_api, options_.seed},
        std::move(machine)));
  }
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    if (MachineNode* n = Find(change.any().spec.node_name)) n->OnPod(change);
  });
  caches_.nodes.OnChange([this](const kube::Change<kube::Node>& change) {
    if (MachineNode* n = Find(change.any().meta.name)) n->OnNode(change);
  });
  const auto follow = [this](std::string_view kind, const kube::ObjectMeta& meta) {
    for (const auto& n : nodes_) n->OnObject(kind, meta.ns, meta.name);
  };
  config_maps_.OnChange([follow](const kube::Change<kube::ConfigMap>& c) {
    if (c.old && c.now) follow("ConfigMap", c.now->meta);
  });
  secrets_.OnChange([follow](const kube::Change<kube::Secret>& c) {
    if (c.old && c.now) follow("Secret", c.now->meta);
  });
  return {};
}

void Machines::Start() {
  config_maps_.Start();
  secrets_.Start();
  for (const auto& n : nodes_) n->Start();
}

MachineNode* Machines::Find(std::string_view node) {
  for (const auto& n : nodes_)
    if (n->name() == node) return n.get();
  return nullptr;
}

/// A machine that shows its programs something else than its files are goes on; its owner reads why in the log.
void Machines::ShowPrograms(const std::string& node, const std::string& view) {
  if (view.empty()) return;
  if (auto shown = folders_.find(node)->second.ShowPrograms(view); !shown)
    log_.Warn("programs see an older /usr", {{"node", node}, {"error", shown.error().text}});
}

Result<> Machines::Do(std::string_view name, std::vector<std::string> words) {
  MachineNode* const node = Find(name);
  if (node == nullptr) return Fail(Code::kNotFound, "no simulated machine is called " + std::string(name));
  if (words.empty()) return Fail(Code::kInvalid, "what shall happen to " + std::string(name) + "?");
  const std::string what = words.front();
  if (what == "partition" || what == "mend") {
    node->SetPartitioned(what == "partition");
    return {};
  }
  if (what == "kubelet-restart") {
    node->RestartKubelet();
    return {};
  }
  machine::MachineFolder& folder = folders_.find(name)->second;
  if (what == "clear") words.erase(words.begin());
  ASSIGN(const machine::Fault fault, machine::ParseFault(words));
  TRY(what == "clear" ? folder.Clear(fault) : folder.Inject(fault));
  // What the machine's files do not show by themselves.
  if (what == "reboot" || what == "power-loss")
    node->Reboot();
  else
    ShowPrograms(node->name(), node->view());
  if (what == "engine-restart") node->RestartEngine();
  return {};
}

}  // namespace gpuop::sim::node
