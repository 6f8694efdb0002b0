#include "operator/operator.h"

#include <algorithm>
#include <boost/json.hpp>

#include "kube/controller.h"
#include "kube/events.h"
#include "kube/lease.h"
#include "operator/active.h"
#include "operator/coalesced.h"
#include "operator/driver_reconciler.h"
#include "operator/dry_run.h"
#include "operator/fleet.h"
#include "operator/health.h"
#include "operator/keeper.h"
#include "operator/lookout.h"
#include "operator/node_labeler.h"
#include "operator/policy_reconciler.h"
#include "operator/side_reconcilers.h"
#include "operator/world.h"

namespace gpuop::op {
namespace {

/// The key that stands for all objects of a kind.
constexpr const char* kAll = "*";
/// NVIDIA's name of the lease, so that both operators never act at the same time.
constexpr const char* kLease = "53822513.nvidia.com";
/// News that come in crowds (Pods that become ready, nodes that join) are gathered for this long.
constexpr std::chrono::milliseconds kGather{100};

kube::Client MakeClient(kube::Door& door, const Operator::Options& options) {
  kube::Client::Options out;
  out.wait = options.wait;
  return kube::Client(door, std::move(out));
}

kube::EventRecorder::Options EventOptions(const Operator::Options& options, Log& log) {
  kube::EventRecorder::Options out;
  out.component = "nvidia-gpu-operator";
  out.instance = options.identity;
  out.log = &log;
  return out;
}

kube::Controller::Options Loop(std::string name, const Operator::Options& options, MetricRegistry& metrics) {
  return {.name = std::move(name),
          .concurrency = 1,
          .back_off = {std::chrono::milliseconds(100), std::chrono::seconds(30), 0.1},
          .seed = options.seed,
          .metrics = &metrics};
}

}  // namespace

/// In the order in which things are made: what comes later uses what came earlier, and ends before it.
struct Operator::Parts {
  Parts(Executor& e, kube::Door& door, Log& l, MetricRegistry& registry, Options o);

  Result<kube::Next> PolicyTurn(const std::string& key);
  Result<kube::Next> DriverTurn(const std::string& key);
  Result<kube::Next> ClusterTurn(const std::string& key);
  void Connect();
  bool WaitsForLabels(const boost::json::object& wanted, const OwnObject& live);
  void Begin();
  void Pause();

  Executor& executor;
  Log& log;
  const Options options;
  kube::Client client;
  OperatorMetrics metrics;
  World world;
  Fleet fleet;
  kube::EventRecorder events;
  StatusWriter statuses;
  /// Who is given a turn by `wake`; filled before anything begins.
  const std::shared_ptr<std::vector<std::function<void(std::string_view)>>> woken;
  Coalesced wake;  ///< gives all policies and drivers a turn, soon
  NodeLabeler labeler;
  Keeper keeper;
  Lookout lookout;
  PolicyReconciler policies;
  DriverReconciler drivers;
  ClusterReconciler clusters;
  NamespaceReconciler namespaces;
  kube::Controller policy_loop, driver_loop, cluster_loop, namespace_loop;
  Health health;
  kube::Controller begin_loop;  ///< calls Begin when the world has become ready

  Mutex mu;
  bool leads GUARDED_BY(mu) = false;
  std::function<void()> when_ready GUARDED_BY(mu);
  std::unique_ptr<kube::LeaderLease> lease;
};

Operator::Parts::Parts(Executor& e, kube::Door& door, Log& l, MetricRegistry& registry, Options o)
    : executor(e),
      log(l),
      options(std::move(o)),
      client(MakeClient(door, options)),
      metrics(registry),
      world(e, client, {.ns = options.ns, .seed = options.seed, .log = &l, .metrics = &registry}),
      fleet(world.nodes()),
      events(e, client, EventOptions(options, l)),
      statuses(client, e, options.ns),
      woken(std::make_shared<std::vector<std::function<void(std::string_view)>>>()),
      wake(e, kGather,
           [adders = woken] {
             for (const auto& add : *adders) add(kAll);
           }),
      labeler(e, world, client, events, l,
              {.concurrency = options.concurrency, .seed = options.seed, .metrics = &registry}, [w = wake] { w(); }),
      keeper(e, world, client, l,
             {.concurrency = options.concurrency,
              .seed = options.seed,
              .metrics = &registry,
              .must_wait = [this](const auto& wanted, const auto& live) { return WaitsForLabels(wanted, live); }},
             [w = wake](const std::string&) { w(); }),
      lookout(world, keeper, fleet),
      policies({executor, world, keeper, lookout, fleet, statuses, events, metrics, log, options.operands,
                options.surroundings, [this] { return labeler.Settled(); }}),
      drivers({executor, world, keeper, lookout, fleet, statuses, events, options.surroundings,
               [this] { return labeler.Settled(); }}),
      clusters(e, world, statuses, events),
      namespaces(world, client, l),
      policy_loop(e, l, Loop("policies", options, registry),
                  [this](const std::string& key) { return PolicyTurn(key); }),
      driver_loop(e, l, Loop("drivers", options, registry), [this](const std::string& key) { return DriverTurn(key); }),
      cluster_loop(e, l, Loop("clusters", options, registry),
                   [this](const std::string& key) { return ClusterTurn(key); }),
      namespace_loop(e, l, Loop("namespace", options, registry),
                     [this](const std::string&) { return namespaces.Turn(); }),
      health(e, world),
      begin_loop(e, l, Loop("begin", options, registry), [this](const std::string&) {
        Begin();
        return kube::Next{};
      }) {
  *woken = {policy_loop.Adder(), driver_loop.Adder()};
  for (const kube::Controller* loop : {&policy_loop, &driver_loop, &cluster_loop, &namespace_loop})
    health.Watch(loop->queue(), [loop] { return loop->turns(); });
  health.Watch(keeper.queue(), [this] { return keeper.turns(); });
  health.Watch(labeler.queue(), [this] { return labeler.turns(); });
  Connect();
}

/// Which change gives whom a turn.
void Operator::Parts::Connect() {
  const auto policy = policy_loop.Adder(), driver = driver_loop.Adder(), cluster = cluster_loop.Adder(),
             own_namespace = namespace_loop.Adder();
  // Each kind of custom resource decides about the others: which policy counts, whether drivers do.
  const auto everybody = [policy, driver, cluster, own_namespace] {
    for (const auto& add : {policy, driver, cluster, own_namespace}) add(kAll);
  };
  world.policies().OnChange([policy, everybody](const kube::Change<api::ClusterPolicy>& c) {
    policy(c.Key());
    if (!c.old || !c.now || c.old->meta.generation != c.now->meta.generation || c.now->meta.deleting()) everybody();
  });
  world.drivers().OnChange([driver, everybody](const kube::Change<api::NvidiaDriver>& c) {
    driver(c.Key());
    if (!c.old || !c.now || c.old->meta.generation != c.now->meta.generation || c.now->meta.deleting()) everybody();
  });
  world.clusters().OnChange([cluster, everybody](const kube::Change<api::GpuCluster>& c) {
    cluster(c.Key());
    if (!c.old || !c.now) everybody();
  });
  world.namespaces().OnChange([own_namespace](const auto&) { own_namespace(kAll); });
  world.nodes().OnChange([w = wake](const kube::Change<NodeState>& c) {
    if (!c.old || !c.now || Differs(*c.old, *c.now)) w();
  });
  world.crds().OnChange([everybody](const kube::Change<ServedCrd>& c) {
    if (!c.old || !c.now || c.old->established != c.now->established || c.old->missing != c.now->missing) everybody();
  });
  world.secrets().OnChange([w = wake](const kube::Change<OwnObject>& c) {
    if (!c.old || !c.now) w();
  });
  world.driver_pods().OnChange([w = wake](const kube::Change<DriverPod>& c) {
    if ((c.old ? c.old->missing_image : Interned()) != (c.now ? c.now->missing_image : Interned())) w();
  });
  world.cluster_versions().OnChange([w = wake](const auto&) { w(); });
  world.proxies().OnChange([w = wake](const auto&) { w(); });
  world.image_streams().OnChange([w = wake](const auto&) { w(); });
  world.OnObject([w = wake](const kube::Resource&, const kube::Change<OwnObject>& c) {
    if (!c.old || !c.now || c.old->rollout != c.now->rollout || DiffersInWish(*c.old, *c.now)) w();
  });
  world.OnReady([add = begin_loop.Adder()] { add(kAll); });
  begin_loop.Start();
}

/// A DaemonSet whose selector is changed must not lose the Pods of nodes that are about to get the labels it asks for.
bool Operator::Parts::WaitsForLabels(const boost::json::object& wanted, const OwnObject& live) {
  const auto tree = kube::ParseObject(live.whole.text);
  if (!tree) return false;
  const Placement from = Placement::Of(*tree), to = Placement::Of(wanted);
  if (from.selector == to.selector) return false;
  const auto losing = fleet.Losing(from, to);
  return std::ranges::any_of(losing, [this](const std::string& node) { return labeler.Waits(node); });
}

/// Acting begins when this process leads and knows what there is.
void Operator::Parts::Begin() {
  bool act = true;
  std::function<void()> told;
  {
    Lock l(mu);
    if (when_ready && world.Ready()) told = std::exchange(when_ready, nullptr);
    if (!leads || !world.Ready() || !options.act) act = false;
  }
  if (told) told();
  if (!act) return;
  labeler.Start();  // first: what others decide may rest on labels
  for (kube::Controller* loop : {&policy_loop, &driver_loop, &cluster_loop, &namespace_loop}) {
    loop->Add(kAll);
    loop->Start();
  }
  keeper.Start();
}

void Operator::Parts::Pause() {
  for (kube::Controller* loop : {&policy_loop, &driver_loop, &cluster_loop, &namespace_loop}) loop->Pause();
  keeper.Pause();
  labeler.Pause();
}

Result<kube::Next> Operator::Parts::PolicyTurn(const std::string& key) {
  if (key != kAll) return policies.Turn(key);
  if (world.policies().size() == 0) metrics.reconciliation_status.Set(-1);
  for (const auto& policy : world.policies().List()) policy_loop.Add(policy->meta.name);
  return kube::Next{};
}

Result<kube::Next> Operator::Parts::DriverTurn(const std::string& key) {
  if (key != kAll) return drivers.Turn(key);
  for (const auto& driver : world.drivers().List()) driver_loop.Add(driver->meta.name);
  return kube::Next{};
}

Result<kube::Next> Operator::Parts::ClusterTurn(const std::string& key) {
  if (key != kAll) return clusters.Turn(key);
  for (const auto& c : world.clusters().List()) cluster_loop.Add(c->meta.name);
  return kube::Next{};
}

Operator::Operator(Executor& executor, kube::Door& door, Log& log, MetricRegistry& metrics, Options options)
    : parts_(std::make_unique<Parts>(executor, door, log, metrics, std::move(options))) {}

Operator::~Operator() = default;

void Operator::WhenReady(std::function<void()> done) {
  Lock l(parts_->mu);
  parts_->when_ready = std::move(done);
}

void Operator::Start() {
  Parts& p = *parts_;
  const auto lead = [&p] {
    {
      Lock l(p.mu);
      p.leads = true;
    }
    p.Begin();
  };
  const auto lose = [&p] {
    {
      Lock l(p.mu);
      p.leads = false;
    }
    p.Pause();
  };
  p.world.Start();
  if (!p.options.leader_elect) return lead();
  kube::LeaderLease::Options lease;
  lease.ns = p.options.lease_ns.empty() ? p.options.ns : p.options.lease_ns;
  lease.name = kLease;
  lease.identity = p.options.identity;
  lease.renew_deadline = p.options.renew_deadline;
  lease.duration = p.options.renew_deadline + std::chrono::seconds(5);
  lease.seed = p.options.seed;
  lease.log = &p.log;
  p.lease = std::make_unique<kube::LeaderLease>(p.executor, p.client, std::move(lease), lead, lose);
  p.lease->Start();
}

void Operator::Stop(std::function<void()> done) {
  if (parts_->lease) return parts_->lease->Stop(std::move(done));
  parts_->Pause();
  done();
}

bool Operator::Leads() const {
  Lock l(parts_->mu);
  return parts_->leads;
}

bool Operator::Ready() const { return parts_->world.Ready(); }

std::vector<std::string> Operator::Ailments() { return parts_->health.Ailments(); }

std::string Operator::DryRun() {
  Parts& p = *parts_;
  DryRunText out;
  if (const auto policy = ActivePolicy(p.world.policies().List())) {
    if (auto wish = p.policies.Preview(*policy)) {
      p.keeper.Want(policy->meta.uid, *std::move(wish));
    } else {
      out.AddRefusal("ClusterPolicy " + policy->meta.name, wish.error().text);
    }
  }
  for (const auto& driver : p.world.drivers().List())
    if (const auto wanted = p.drivers.Preview(*driver); !wanted)
      out.AddRefusal("NVIDIADriver " + driver->meta.name, wanted.error().text);
  p.keeper.Preview(out);
  for (const auto& node : p.world.nodes().List()) p.labeler.Preview(*node, out);
  if (const auto patch = p.namespaces.Preview()) out.AddPatch("Namespace " + p.world.ns(), *patch);
  return std::move(out).Take();
}

}  // namespace gpuop::op
