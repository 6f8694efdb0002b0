#include "sim/kubelet/kubelets.h"

#include <algorithm>

#include "base/text.h"
#include "data/json.h"
#include "sim/kubelet/admission.h"
#include "sim/kubelet/node_api.h"
#include "sim/scheduler/read.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

/// A Pod that a node has taken.
struct Hosted {
  std::string uid;
  PodRun run;
  std::uint64_t written = 0;  ///< a hash of the status as last written
  std::int64_t version = 0;   ///< the Pod's resourceVersion after that
  std::optional<TimePoint> timer;
};

struct Host {
  HollowNode node;
  std::size_t index_in_pool = 0;
  bool registered = false, cut = false;
  WallTime ready_since{};
  TimePoint reported{};
  std::size_t addresses = 0;
  std::map<std::string, Hosted> pods;  ///< by key
};

}  // namespace

struct Kubelets::State : std::enable_shared_from_this<State> {
  State(Parts p, std::vector<HollowPool> all, std::vector<TimelineRule> timeline_rules)
      : parts(std::move(p)),
        pools(std::move(all)),
        rules(std::move(timeline_rules)),
        rng(parts.seed ^ 0x6b7562656c6574ULL) {
    std::size_t number = 0;
    for (const HollowPool& pool : pools) {
      for (std::int64_t i = 0; i < pool.count; ++i, ++number) {
        std::string name = pool.name;
        if (const auto at = name.find("{i}"); at != std::string::npos) name.replace(at, 3, std::to_string(i));
        Host& host = hosts[name];
        host.node = {name, HostAddress(number), NewUuid(rng), NewUuid(rng), number, &pool};
        host.index_in_pool = static_cast<std::size_t>(i);
      }
    }
  }

  // Nodes.

  void Start() {
    const auto count = static_cast<std::int64_t>(hosts.size());
    std::int64_t i = 0;
    for (auto& [name, host] : hosts) {
      parts.executor.Post([weak = weak_from_this(), key = name] {
        if (const auto self = weak.lock()) self->Register(self->hosts.at(key));
      });
      Beat(name, kLeaseRenewal * i++ / count);  // spread, so that no second carries them all
    }
  }

  void Register(Host& host) {
    const WallTime now = parts.executor.Wall();
    auto made = parts.client.Create(kube::Node::kResource, NodeObject(host.node, host.index_in_pool));
    if (!made && made.error().code != Code::kAlreadyExists) return Later(host, "node not registered", made.error());
    host.ready_since = now;
    if (auto r = Report(host, NodeStatusObject(host.node, now, now)); !r)
      return Later(host, "node status not written", r.error());
    host.registered = true;
    for (const auto& pod : parts.pods.Find("node", host.node.name)) Take(host, *pod);
  }

  void Later(Host& host, std::string_view what, const Error& error) {
    parts.log.Warn(what, {{"node", host.node.name}, {"error", error.text}});
    parts.executor.PostAfter(kRetry, [weak = weak_from_this(), key = host.node.name] {
      if (const auto self = weak.lock()) self->Register(self->hosts.at(key));
    });
  }

  Result<> Report(Host& host, json::object status) {
    TRY(PatchNodeStatus(parts.client, host.node.name, std::move(status)));
    host.reported = parts.executor.Now();
    return {};
  }

  /// Ten thousand nodes beat on one thread here. When it cannot keep up they beat less often, up to what a lease lasts,
  /// rather than let nothing else happen.
  void Beat(const std::string& name, Duration delay) {
    const TimePoint due = parts.executor.Now() + delay;
    parts.executor.PostAt(due, [weak = weak_from_this(), name, due] {
      const auto self = weak.lock();
      if (!self) return;
      Host& host = self->hosts.at(name);
      if (host.registered && !host.cut) {
        self->RenewLease(host);
        if (self->parts.executor.Now() - host.reported >= kStatusReport) self->Heartbeat(host);
      }
      const Duration late = self->parts.executor.Now() - due;
      self->Beat(name, kLeaseRenewal + std::min<Duration>(2 * late, 2 * kLeaseRenewal));
    });
  }

  void RenewLease(Host& host) {
    RenewNodeLease(parts.client, parts.nodes, parts.log, host.node.name, parts.executor.Wall());
  }

  void Heartbeat(Host& host) {
    const WallTime now = parts.executor.Wall();
    if (auto r = Report(host, {{"conditions", NodeConditions(now, host.ready_since)}}); !r)
      parts.log.Debug("heartbeat not written", {{"node", host.node.name}, {"error", r.error().text}});
  }

  /// Somebody says of a node that beats that it does not: the kubelet knows better.
  void OnNode(const kube::Change<kube::Node>& change) {
    const auto it = hosts.find(change.any().meta.name);
    if (it == hosts.end() || !it->second.registered || it->second.cut) return;
    Host& host = it->second;
    if (!change.now) {  // as a kubelet that is restarted: it registers again
      host.registered = false;
      return Later(host, "node was deleted", {Code::kNotFound, "registering again"});
    }
    if (change.now->ready() || change.now->status.conditions.empty()) return;
    host.ready_since = parts.executor.Wall();
    Heartbeat(host);
  }

  // Pods.

  void OnPod(const kube::Change<kube::Pod>& change) {
    const kube::Pod& pod = change.any();
    const auto it = hosts.find(std::string(pod.spec.node_name.view()));
    if (it == hosts.end() || !it->second.registered || it->second.cut) return;
    if (!change.now) {
      const auto hosted = it->second.pods.find(change.Key());
      if (hosted != it->second.pods.end() && hosted->second.uid == pod.meta.uid) it->second.pods.erase(hosted);
      return;
    }
    Take(it->second, *change.now);
  }

  void Take(Host& host, const kube::Pod& pod) {
    const std::string key = pod.meta.Key();
    auto hosted = host.pods.find(key);
    if (hosted != host.pods.end() && hosted->second.uid != pod.meta.uid) {
      host.pods.erase(hosted);
      hosted = host.pods.end();
    }
    if (hosted == host.pods.end()) {
      if (pod.finished()) {
        if (pod.meta.deleting()) Remove(pod);
        return;
      }
      hosted = Admitted(host, pod);
      if (hosted == host.pods.end()) return;
    }
    if (pod.meta.deleting()) hosted->second.run.Stop(parts.executor.Wall(), *pod.meta.deleted);
    Step(host, key);
  }

  std::map<std::string, Hosted>::iterator Admitted(Host& host, const kube::Pod& pod) {
    auto info = ReadPod(pod);
    if (!info) {
      parts.log.Error("pod cannot be run", {{"pod", pod.meta.Key()}, {"error", info.error().text}});
      return host.pods.end();
    }
    std::vector<std::string> problems;
    Timeline timeline = TimelineOf(pod, rules, problems);
    for (const std::string& problem : problems)
      parts.log.Warn("timeline setting ignored", {{"pod", pod.meta.Key()}, {"problem", problem}});
    const std::string ip = pod.spec.host_network ? host.node.host_ip : PodAddress(host.node.number, host.addresses++);
    PodRun run(pod, std::move(timeline), ip, host.node.host_ip, parts.executor.Wall());
    if (const auto refusal = Refused(host, **info)) run.Reject(refusal->reason, refusal->message);
    return host.pods.emplace(pod.meta.Key(), Hosted{pod.meta.uid, std::move(run), 0, 0, {}}).first;
  }

  std::optional<Refusal> Refused(const Host& host, const PodInfo& pod) const {
    const auto node = parts.nodes.Get(host.node.name);
    if (node == nullptr) return std::nullopt;
    std::vector<PodInfoPtr> others;
    for (const auto& [key, hosted] : host.pods) {
      const auto other = hosted.run.Finished() ? nullptr : parts.pods.Get(key);
      if (other == nullptr || other->meta.uid != hosted.uid) continue;
      if (auto info = ReadPod(*other)) others.push_back(*std::move(info));
    }
    return Admit(pod, *node, others);
  }

  void Step(Host& host, const std::string& key) {
    const auto it = host.pods.find(key);
    if (it == host.pods.end() || host.cut) return;
    Hosted& hosted = it->second;
    const auto pod = parts.pods.Get(key);
    if (pod == nullptr || pod->meta.uid != hosted.uid) return;
    const auto next = hosted.run.Advance(parts.executor.Wall());
    const bool written = WriteStatus(hosted, *pod);
    if (written && hosted.run.Stopped() && pod->meta.deleting()) return Remove(*pod);
    if (written && pod->meta.deleting() && hosted.run.Finished()) return Remove(*pod);
    if (!written) return SetTimer(host, key, hosted, kRetry);
    if (next) SetTimer(host, key, hosted, *next - parts.executor.Wall());
  }

  void SetTimer(Host& host, const std::string& key, Hosted& hosted, Duration delay) {
    const TimePoint due = parts.executor.Now() + std::max(delay, Duration{});
    if (hosted.timer && *hosted.timer <= due && *hosted.timer > parts.executor.Now()) return;
    hosted.timer = due;
    parts.executor.PostAt(due, [weak = weak_from_this(), node = host.node.name, key, uid = hosted.uid, due] {
      const auto self = weak.lock();
      if (!self) return;
      Host& h = self->hosts.at(node);
      const auto it = h.pods.find(key);
      if (it == h.pods.end() || it->second.uid != uid || it->second.timer != due) return;
      it->second.timer.reset();
      self->Step(h, key);
    });
  }

  /// False: try again.
  bool WriteStatus(Hosted& hosted, const kube::Pod& pod) {
    json::object status = hosted.run.Status(pod, parts.executor.Wall());
    const std::uint64_t hash = std::hash<std::string>()(json::serialize(status));
    // Somebody else may have said meanwhile that the Pod is not ready: the kubelet knows better.
    const bool ready = hosted.run.Ready() == pod.ready();
    const bool stale = ParseInt(pod.meta.resource_version).value_or(0) <= hosted.version;
    if (hash == hosted.written && (ready || stale)) return true;
    auto version = PatchPodStatus(parts.client, pod, std::move(status));
    if (!version) return false;
    if (*version != 0) hosted.version = *version;
    hosted.written = hash;
    return true;
  }

  void Remove(const kube::Pod& pod) {
    if (LetPodGo(parts.client, pod)) return;
    parts.executor.PostAfter(kRetry, [weak = weak_from_this(), key = pod.meta.Key(), uid = pod.meta.uid] {
      const auto self = weak.lock();
      if (!self) return;
      if (const auto again = self->parts.pods.Get(key); again != nullptr && again->meta.uid == uid)
        self->Remove(*again);
    });
  }

  // What is done to machines.

  Result<Host*> Find(const std::string& node) {
    const auto it = hosts.find(node);
    if (it == hosts.end()) return Fail(Code::kNotFound, "no hollow node " + node);
    return &it->second;
  }

  void Rejoin(Host& host) {
    host.ready_since = parts.executor.Wall();
    RenewLease(host);
    Heartbeat(host);
    std::set<std::string> known;
    for (const auto& pod : parts.pods.Find("node", host.node.name)) {
      known.insert(pod->meta.Key());
      Take(host, *pod);
    }
    std::erase_if(host.pods, [&](const auto& e) { return !known.contains(e.first); });
  }

  Parts parts;
  const std::vector<HollowPool> pools;
  const std::vector<TimelineRule> rules;
  Rng rng;
  std::map<std::string, Host> hosts;
};

Kubelets::Kubelets(Parts parts, std::vector<HollowPool> pools, std::vector<TimelineRule> rules)
    : state_(std::make_shared<State>(std::move(parts), std::move(pools), std::move(rules))) {
  const std::weak_ptr<State> weak = state_;
  state_->parts.pods.OnChange([weak](const kube::Change<kube::Pod>& change) {
    if (const auto self = weak.lock()) self->OnPod(change);
  });
  state_->parts.nodes.OnChange([weak](const kube::Change<kube::Node>& change) {
    if (const auto self = weak.lock()) self->OnNode(change);
  });
}

Kubelets::~Kubelets() = default;

void Kubelets::Start() { state_->Start(); }

Result<> Kubelets::SetPartitioned(const std::string& node, bool cut) {
  ASSIGN(Host* const host, state_->Find(node));
  if (host->cut == cut) return {};
  host->cut = cut;
  if (!cut && host->registered) state_->Rejoin(*host);
  return {};
}

Result<> Kubelets::Reboot(const std::string& node) {
  ASSIGN(Host* const host, state_->Find(node));
  host->node.boot_id = NewUuid(state_->rng);
  const WallTime now = state_->parts.executor.Wall();
  TRY(state_->Report(*host, {{"nodeInfo", {{"bootID", host->node.boot_id}}}}));
  std::vector<std::string> keys;
  for (auto& [key, hosted] : host->pods) {
    hosted.run.Reboot(now);
    keys.push_back(key);
  }
  for (const std::string& key : keys) state_->Step(*host, key);
  return {};
}

Result<> Kubelets::SetCapacity(const std::string& node, const std::string& resource, const std::string& quantity) {
  ASSIGN(Host* const host, state_->Find(node));
  return state_->Report(*host, {{"capacity", {{resource, quantity}}}, {"allocatable", {{resource, quantity}}}});
}

std::vector<std::string> Kubelets::Names() const {
  std::vector<std::string> out;
  for (const auto& [name, host] : state_->hosts) out.push_back(name);
  return out;
}

}  // namespace gpuop::sim
