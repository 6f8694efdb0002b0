#include "sim/controllers/job_controller.h"

#include <algorithm>

namespace gpuop::sim {

namespace json = boost::json;

namespace {

std::string NsOf(const kube::ObjectMeta& meta) { return std::string(meta.ns.view()); }

json::value TimeOrNull(const std::optional<WallTime>& t) {
  return t ? json::value(FormatTime(*t)) : json::value(nullptr);
}

json::value Uids(const std::vector<std::string>& uids) {
  json::array out(uids.begin(), uids.end());
  return out.empty() ? json::value(nullptr) : json::value(std::move(out));
}

json::array ConditionsJson(const std::vector<kube::Condition>& conditions) {
  json::array out;
  for (const kube::Condition& c : conditions) out.push_back(ConditionJson(c));
  return out;
}

}  // namespace

JobController::JobController(ControllerParts parts, SharedCaches& caches, PodControl& pods, EventWriter& events)
    : parts_(std::move(parts)),
      caches_(caches),
      pods_(pods),
      events_(events),
      controller_(parts_.executor, parts_.log, {.name = "job", .seed = parts_.seed + 3},
                  [this](const std::string& key) { return Reconcile(key); }) {
  controller_.Needs(caches_.jobs);
  controller_.Needs(caches_.pods);
  Watch();
}

void JobController::Watch() {
  caches_.jobs.OnChange([this](const kube::Change<kube::Job>& change) { controller_.Add(change.Key()); });
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    const auto* owner = change.any().meta.Controller();
    if (owner != nullptr && owner->kind == "Job")
      controller_.AddAfter(kube::KeyOf(change.any().meta.ns, owner->name), std::chrono::milliseconds(10));
    // A pod whose Job is gone keeps no finalizer of it.
    if (change.now && owner != nullptr && owner->kind == "Job" && change.now->meta.deleting() &&
        caches_.jobs.HasSynced() && caches_.jobs.Get(change.now->meta.ns, owner->name) == nullptr)
      if (auto r = Release(*change.now); !r)
        parts_.log.Warn("pod not released", {{"pod", change.Key()}, {"error", r.error().text}});
  });
}

Result<kube::Next> JobController::Reconcile(const std::string& key) {
  const auto job = caches_.jobs.Get(key);
  if (job == nullptr) return kube::Next{};
  ASSIGN(const std::vector<PodPtr> pods, pods_.Claim(*job, job->spec.selector));
  const WallTime now = parts_.executor.Wall();
  const JobPlan plan = PlanJob(*job, pods, now);
  const bool settled = pods_.Settled(job->meta.uid);
  if (settled) TRY(Act(*job, plan));
  TRY(WriteStatus(*job, plan));
  for (const PodPtr& pod : plan.release) TRY(Release(*pod));
  kube::Next next;
  if (plan.again) next.again = std::max<Duration>(*plan.again - now, std::chrono::milliseconds(1));
  if (!settled) next.again = std::chrono::seconds(1);
  return next;
}

Result<> JobController::Act(const kube::Job& job, const JobPlan& plan) {
  if (plan.delete_job) {
    auto r = parts_.client.Delete(kube::Ref<kube::Job>(NsOf(job.meta), job.meta.name),
                                  {.propagation = kube::Propagation::kForeground, .uid = job.meta.uid});
    if (!r && r.error().code != Code::kNotFound) return std::unexpected(std::move(r).error());
  }
  for (const PodPtr& pod : plan.remove) TRY(pods_.Delete(job, *pod));
  if (plan.create == 0) return {};
  ASSIGN(json::object pod, PodFromTemplate(job.spec.pod_template.whole, kube::Job::kResource, job.meta));
  json::value& finalizers = pod["metadata"].get_object()["finalizers"];
  if (!finalizers.is_array()) finalizers.emplace_array();
  finalizers.get_array().emplace_back(kJobTracking);
  for (std::int32_t i = 0; i < plan.create; ++i) TRY(pods_.Create(job, pod));
  return {};
}

Result<> JobController::WriteStatus(const kube::Job& job, const JobPlan& plan) {
  const kube::JobStatus& s = plan.status;
  if (s == job.status) return {};
  json::object status{
      {"active", OrNull(s.active)},
      {"succeeded", OrNull(s.succeeded)},
      {"failed", OrNull(s.failed)},
      {"ready", s.ready.value_or(0)},
      {"terminating", s.terminating.value_or(0)},
      {"startTime", TimeOrNull(s.started)},
      {"completionTime", TimeOrNull(s.completed)},
      {"uncountedTerminatedPods", {{"succeeded", Uids(s.uncounted.succeeded)}, {"failed", Uids(s.uncounted.failed)}}}};
  if (!s.conditions.empty()) status["conditions"] = ConditionsJson(s.conditions);
  kube::ObjectRef ref = kube::Ref<kube::Job>(NsOf(job.meta), job.meta.name);
  ref.subresource = "status";
  auto r = MergePatch(parts_.client, ref, {{"status", std::move(status)}}, job.meta.resource_version);
  if (!r && r.error().code == Code::kNotFound) return {};
  if (!r) return std::unexpected(std::move(r).error().During("write status"));
  for (const JobEvent& e : plan.events) events_.Emit(ReferenceTo(job), {e.type, e.reason, {}, e.message});
  return {};
}

Result<> JobController::Release(const kube::Pod& pod) {
  json::array rest;
  for (const Interned& f : pod.meta.finalizers)
    if (f != kJobTracking) rest.emplace_back(f.view());
  if (rest.size() == pod.meta.finalizers.size()) return {};
  auto r =
      MergePatch(parts_.client, kube::Ref<kube::Pod>(NsOf(pod.meta), pod.meta.name),
                 {{"metadata", {{"uid", pod.meta.uid}, {"finalizers", std::move(rest)}}}}, pod.meta.resource_version);
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace gpuop::sim
