#include "sim/controllers/control_loops.h"

#include "sim/controllers/daemon_set_controller.h"
#include "sim/controllers/deployment_controller.h"
#include "sim/controllers/endpoints_controller.h"
#include "sim/controllers/garbage_collector.h"
#include "sim/controllers/job_controller.h"
#include "sim/controllers/namespace_controller.h"
#include "sim/controllers/node_lifecycle.h"
#include "sim/controllers/replica_set_controller.h"
#include "sim/scheduler/scheduler.h"

namespace gpuop::sim {

namespace {

User Component(std::string name) { return {std::move(name), "", {"system:masters", "system:authenticated"}, {}}; }

kube::Client ClientOf(kube::Door& door, std::string manager) {
  kube::Client::Options options;
  options.field_manager = std::move(manager);
  return kube::Client(door, std::move(options));
}

/// One version of everything whose objects come and go.
std::vector<kube::Resource> Content(const Registry& registry) {
  std::vector<kube::Resource> out;
  std::set<std::string> tables;
  for (const ResourcePtr& info : registry.All()) {
    const ResourcePtr best = registry.FindAnyVersion(info->group, info->plural);
    if (!best->Allows("list") || !best->Allows("watch") || !best->Allows("delete")) continue;
    if (tables.insert(best->table).second)
      out.push_back({best->group, best->version, best->plural, best->kind, best->namespaced});
  }
  return out;
}

/// The same without Events: they own nothing, nobody owns them, and they are many.
std::vector<kube::Resource> Deletable(const Registry& registry) {
  std::vector<kube::Resource> out = Content(registry);
  std::erase_if(out, [](const kube::Resource& r) { return r.plural == "events"; });
  return out;
}

}  // namespace

struct ControlLoops::Parts {
  Parts(ControlPlane& p, Log& log, Options o)
      : plane(p),
        manager_door(plane.DoorFor(Component("system:kube-controller-manager"))),
        scheduler_door(plane.DoorFor(Component("system:kube-scheduler"))),
        kubelet_door(plane.DoorFor(Component("system:nodes"))),
        manager{plane.executor(), ClientOf(*manager_door, "kube-controller-manager"), log, o.seed},
        caches(manager),
        daemon_events(Events("daemonset-controller", 1)),
        replica_events(Events("replicaset-controller", 2)),
        deployment_events(Events("deployment-controller", 3)),
        job_events(Events("job-controller", 4)),
        node_events(Events("node-controller", 6)),
        scheduler_events(plane.executor(), ClientOf(*scheduler_door, "kube-scheduler"), log,
                         std::string(Scheduler::kName), o.seed * 64 + 5),
        daemon_pods(manager, caches, daemon_events),
        replica_pods(manager, caches, replica_events),
        job_pods(manager, caches, job_events),
        daemon_sets(manager, caches, daemon_pods, daemon_events),
        replica_sets(manager, caches, replica_pods, replica_events),
        deployments(manager, caches, deployment_events),
        jobs(manager, caches, job_pods, job_events),
        garbage(manager, [this] { return Deletable(plane.registry()); }),
        namespaces(
            manager, caches, [this] { return Content(plane.registry()); }, std::move(o.root_certificate)),
        nodes(manager, caches, node_events),
        endpoints(manager, caches),
        scheduler({plane.executor(), ClientOf(*scheduler_door, "kube-scheduler"), log, caches.pods, caches.nodes,
                   scheduler_events}),
        kubelets({plane.executor(), ClientOf(*kubelet_door, "kubelet"), log, caches.pods, caches.nodes, o.seed},
                 std::move(o.pools), std::move(o.timelines)) {}

  EventWriter Events(std::string component, std::uint64_t number) const {
    return {manager.executor, manager.client, manager.log, std::move(component), manager.seed * 64 + number};
  }

  ControlPlane& plane;
  std::unique_ptr<CoreDoor> manager_door, scheduler_door, kubelet_door;
  ControllerParts manager;
  SharedCaches caches;
  EventWriter daemon_events, replica_events, deployment_events, job_events, node_events, scheduler_events;
  PodControl daemon_pods, replica_pods, job_pods;
  DaemonSetController daemon_sets;
  ReplicaSetController replica_sets;
  DeploymentController deployments;
  JobController jobs;
  GarbageCollector garbage;
  NamespaceController namespaces;
  NodeLifecycle nodes;
  EndpointsController endpoints;
  Scheduler scheduler;
  Kubelets kubelets;
};

ControlLoops::ControlLoops(ControlPlane& plane, Log& log, Options options)
    : parts_(std::make_shared<Parts>(plane, log, std::move(options))) {}

ControlLoops::~ControlLoops() = default;

void ControlLoops::Start() {
  parts_->plane.registry().OnChange([parts = std::weak_ptr<Parts>(parts_)] {
    if (const auto alive = parts.lock()) alive->garbage.RefreshSoon();
  });
  parts_->caches.Start();
  parts_->daemon_sets.Start();
  parts_->replica_sets.Start();
  parts_->deployments.Start();
  parts_->jobs.Start();
  parts_->garbage.Start();
  parts_->namespaces.Start();
  parts_->nodes.Start();
  parts_->endpoints.Start();
  parts_->kubelets.Start();
}

Kubelets& ControlLoops::kubelets() { return parts_->kubelets; }
const SharedCaches& ControlLoops::caches() const { return parts_->caches; }
SharedCaches& ControlLoops::caches() { return parts_->caches; }

}  // namespace gpuop::sim
