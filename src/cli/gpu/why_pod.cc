// From a Pod's state to its symptom, and from there to the first broken link.

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "cli/gpu/why.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using enum api::ReasonCode;
using api::ReasonCode;

constexpr std::string_view kNoneAsked = "no container of the Pod has nvidia.com/… (above 0) among its limits";

/// Everything that an answer about a Pod on a node rests on.
struct Case {
  const PodFacts& facts;
  const NodeView* node;
  std::vector<Diagnosis> found;  ///< about the node
  Trouble trouble;

  const kube::Pod& pod() const { return facts.pod; }
  std::string PodText() const { return fmt::format("-n {} {}", pod().meta.ns.view(), pod().meta.name); }
  Diagnosis Say(ReasonCode code, std::vector<std::string> evidence) const {
    return {.code = code,
            .evidence = std::move(evidence),
            .check = api::FirstCheck(code, pod().spec.node_name.view(), PodText())};
  }
  std::string Describe() const { return "kubectl describe pod " + PodText(); }
};

/// The newest warning about the Pod with one of these reasons (all, when none is named).
const kube::Event* NewestWarning(const PodFacts& facts, std::initializer_list<std::string_view> reasons) {
  for (auto e = facts.events.rbegin(); e != facts.events.rend(); ++e) {
    if (e->type != "Warning") continue;
    if (reasons.size() == 0 || std::ranges::find(reasons, e->reason.view()) != reasons.end()) return &*e;
  }
  return nullptr;
}

/// Where the node itself is broken at the same link or before, that is the cause, and what the Pod shows follows from
/// it.
Why Conclude(const Case& c, Symptom symptom, Diagnosis own) {
  Why out{.symptom = symptom, .standing = Standing::kBroken, .cause = {}, .others = {}, .nodes = {}};
  const Diagnosis* first = FirstOf(c.found);
  const bool node_first = first != nullptr && first->reason().severity == api::Severity::kBroken &&
                          first->code != kNodeCordoned && first->reason().link <= own.reason().link &&
                          own.code != kArchitectureMismatch && own.code != kImageNotPulled &&
                          own.code != kVolumeNotMounted;
  if (node_first && first->code != own.code) {
    out.cause = first->On(c.node->name());
    for (const std::string& line : own.evidence) out.cause->evidence.push_back("the Pod: " + line);
  } else {
    if (node_first) std::ranges::copy(first->evidence, std::back_inserter(own.evidence));
    out.cause = std::move(own);
  }
  for (const Diagnosis& d : c.found)
    if (d.code != out.cause->code) out.others.push_back(d);
  return out;
}

/// Whether the Pod misses what only Pods are given that ask for GPUs: a program of the driver, or the handler of a node
/// that has GPUs. What shows it is added.
bool NotAskedFor(const Case& c, std::optional<ReasonCode> code, std::vector<std::string>& evidence) {
  if (!GpusOf(c.pod()).empty()) return false;
  const bool elsewhere = c.node != nullptr && !c.node->HasGpus();
  if (code == kRuntimeHandlerMissing && elsewhere)
    evidence.push_back(fmt::format("{} has no GPUs; a Pod that asks for none is put on any node", c.node->name()));
  else if (code != kDevicesNotInjected || c.facts.visible_devices_by_hand)
    return false;
  evidence.emplace_back(kNoneAsked);
  return true;
}

Why NotCreated(const Case& c) {
  const Trouble& t = c.trouble;
  std::string words = t.Text();
  std::string read = t.reason + ": " + t.message;
  const kube::Event* event = NewestWarning(c.facts, {});
  std::vector<std::string> evidence{words};
  if (event != nullptr) {
    evidence.push_back(fmt::format("event {}: {}", event->reason.view(), event->message));
    read.append(" ").append(event->reason.view()).append(": ").append(event->message);
  }
  const auto code = ReadEngineError(read);
  if (!t.failing && event == nullptr) {
    Why out{
        .symptom = Symptom::kNotCreated, .standing = Standing::kWaiting, .cause = {}, .others = c.found, .nodes = {}};
    out.cause = c.Say(kValidating, {words});
    out.cause->check = c.Describe();
    return out;
  }
  if (NotAskedFor(c, code, evidence))
    return Conclude(c, Symptom::kNotCreated, c.Say(kGpuNotRequested, std::move(evidence)));
  Diagnosis own = c.Say(code.value_or(kContainerNotCreated), std::move(evidence));
  return Conclude(c, Symptom::kNotCreated, std::move(own));
}

Why Refused(const Case& c) {
  const kube::PodStatus& status = c.pod().status;
  const std::string words = fmt::format("{}: {}", status.reason.view(), status.message.view());
  const auto code = ReadEngineError(words);
  if (code == kAdmissionRefused && c.node != nullptr && !c.node->HasGpus() && !GpusOf(c.pod()).empty())
    return Conclude(c, Symptom::kNotCreated,
                    c.Say(kNoGpu, {words, fmt::format("nothing tells of a GPU on {}", c.node->name())}));
  return Conclude(c, Symptom::kNotCreated, c.Say(code.value_or(kContainerNotCreated), {words}));
}

/// The container whose program failed: its last words, or how it ended.
std::optional<Diagnosis> ProgramFailure(const Case& c) {
  for (const auto& [container, log] : c.facts.logs) {
    std::string line;
    auto code = ReadProgramError(log, line);
    if (!code) continue;
    // A container that is given no GPU has no driver library either, whatever the words.
    const bool none = GpusOf(c.pod()).empty() && !c.facts.visible_devices_by_hand;
    std::vector<std::string> evidence{fmt::format("{} writes: {}", container, line)};
    if (none && (*code == kCudaNoDevice || *code == kCudaLibraryMissing)) {
      code = kGpuNotRequested;
      evidence.emplace_back(kNoneAsked);
    }
    return c.Say(*code, std::move(evidence));
  }
  const Trouble& t = c.trouble;
  if (!t.ended || t.exit_code == 0) return std::nullopt;
  Diagnosis d = c.Say(kProgramFailed, {t.Text()});
  const kube::PodStatus& status = c.pod().status;
  if (!status.reason.empty()) d.evidence.push_back(fmt::format("{}: {}", status.reason.view(), status.message.view()));
  d.check = fmt::format("kubectl logs {} -c {} --previous", c.PodText(), t.container);
  return d;
}

bool RestartedNowAndThen(const kube::Pod& pod) {
  return std::ranges::any_of(pod.status.containers, [](const kube::ContainerStatus& s) {
    return s.restart_count > 0 && s.state.running.has_value() && s.ready;
  });
}

/// It runs. Is what it was given what it asked for, and is the GPU under it well?
Why Runs(const Case& c) {
  Why out{.symptom = Symptom::kNone, .standing = Standing::kFit, .cause = {}, .others = {}, .nodes = {}};
  const Diagnosis* first = FirstOf(c.found);
  if (first == nullptr || GpusOf(c.pod()).empty()) return out;
  const ReasonCode code = first->code;
  if (first->reason().severity == api::Severity::kFine || code == kNodeCordoned) return out;
  out.cause = first->On(c.node->name());
  out.standing = first->reason().severity == api::Severity::kBroken ? Standing::kBroken : Standing::kWarning;
  if (code == kMigProfileWrong || code == kResourceCountWrong)
    out.symptom = Symptom::kWrongCount;
  else
    out.symptom = first->reason().link == api::Link::kHealth || RestartedNowAndThen(c.pod()) ? Symptom::kNowAndThen
                                                                                             : Symptom::kCudaFails;
  for (const Diagnosis& d : c.found)
    if (d.code != code) out.others.push_back(d);
  return out;
}

/// The Pod's node is not in the cluster any longer.
Why Stranded(const Case& c) {
  Why out{.symptom = Symptom::kNowAndThen, .standing = Standing::kBroken, .cause = {}, .others = {}, .nodes = {}};
  out.cause = c.Say(kNodeNotReady, {fmt::format("there is no node {}", c.pod().spec.node_name.view())});
  out.cause->check = "kubectl get nodes";
  return out;
}

Why OnNode(const Case& c) {
  const kube::PodStatus& status = c.pod().status;
  if (status.phase == "Failed" && !status.reason.empty() && status.containers.empty()) return Refused(c);
  if (c.trouble.end_reason == "StartError" || c.trouble.end_reason == "ContainerCannotRun") return NotCreated(c);
  const bool waits = c.trouble.reason == "CrashLoopBackOff" || c.trouble.ended || c.trouble.reason == "Running";
  if (!c.trouble.container.empty() && !waits) return NotCreated(c);
  if (const auto read = ReadEngineError(c.trouble.message); read && c.trouble.ended && c.trouble.exit_code != 0)
    return Conclude(c, Symptom::kNotCreated, c.Say(*read, {c.trouble.Text()}));
  if (auto failure = ProgramFailure(c)) {
    const bool now_and_then = RestartedNowAndThen(c.pod());
    // Its program never began.
    const Symptom symptom = failure->code == kArchitectureMismatch ? Symptom::kNotCreated : Symptom::kCudaFails;
    return Conclude(c, now_and_then ? Symptom::kNowAndThen : symptom, *std::move(failure));
  }
  return Runs(c);
}

}  // namespace

std::string_view Words(Symptom symptom) {
  switch (symptom) {
    case Symptom::kNone: return "nothing is wrong";
    case Symptom::kPending: return "the Pod is Pending";
    case Symptom::kNotCreated: return "a container cannot be created";
    case Symptom::kCudaFails: return "it runs and CUDA fails";
    case Symptom::kWrongCount: return "wrong number of GPUs or MIG profile";
    case Symptom::kNowAndThen: return "errors now and then";
  }
  return "";
}

std::string_view Name(Symptom symptom) {
  switch (symptom) {
    case Symptom::kNone: return "None";
    case Symptom::kPending: return "Pending";
    case Symptom::kNotCreated: return "ContainerNotCreated";
    case Symptom::kCudaFails: return "CUDAFails";
    case Symptom::kWrongCount: return "WrongCount";
    case Symptom::kNowAndThen: return "NowAndThen";
  }
  return "";
}

Why WhyPod(const PodFacts& pod, const ClusterFacts& facts, const std::vector<NodeView>& nodes) {
  const std::string_view node_name = pod.pod.spec.node_name.view();
  if (pod.pod.status.phase == "Succeeded") return {};
  if (node_name.empty()) return WhyPending(pod, facts, nodes);
  const auto at = std::ranges::find(nodes, node_name, [](const NodeView& n) -> std::string_view { return n.name(); });
  Case c{.facts = pod, .node = at == nodes.end() ? nullptr : &*at, .found = {}, .trouble = FindTrouble(pod.pod)};
  if (c.node == nullptr && facts.sees_nodes) return Stranded(c);
  if (c.node != nullptr) c.found = DiagnoseNode(*c.node, facts);
  return OnNode(c);
}

}  // namespace gpuop::cli::kubectl_gpu
