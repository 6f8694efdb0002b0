#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "sim/fields.h"
#include "sim/special.h"
#include "sim/writer.h"

namespace gpuop::sim {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

object Parse(const StoredPtr& stored) {
  auto parsed = data::ParseJson(stored->json);
  GPUOP_CHECK(parsed.has_value() && parsed->is_object());
  return std::move(parsed->get_object());
}

Status BindingConflict(std::string_view pod, std::string_view why) {
  ResourceInfo binding;
  binding.plural = "pods/binding";
  return Conflict(binding, pod, why);
}

/// Copies the binding's labels or annotations onto the pod.
void MergeMap(object& metadata, const object& binding, std::string_view field) {
  const object* from = ObjectAt(binding, fmt::format("metadata.{}", field));
  if (from == nullptr || from->empty()) return;
  object& to = Child(metadata, field);
  for (const auto& [key, v] : *from) to[key] = v;
}

void SetScheduled(object& pod, const std::string& now) {
  value& conditions = Child(pod, "status")["conditions"];
  if (!conditions.is_array()) conditions.emplace_array();
  object condition{
      {"type", "PodScheduled"}, {"status", "True"}, {"lastProbeTime", nullptr}, {"lastTransitionTime", now}};
  for (value& c : conditions.get_array())
    if (c.is_object() && TextAt(c.get_object(), "type") == "PodScheduled") {
      c = std::move(condition);
      return;
    }
  conditions.get_array().push_back(std::move(condition));
}

std::vector<std::string> ContainerNames(const object& pod) {
  std::vector<std::string> names;
  for (const char* list : {"spec.initContainers", "spec.containers", "spec.ephemeralContainers"})
    if (const array* containers = ArrayAt(pod, list))
      for (const value& c : *containers)
        if (c.is_object()) names.emplace_back(TextAt(c.get_object(), "name"));
  return names;
}

const object* StatusOf(const object& pod, std::string_view container) {
  for (const char* list : {"status.containerStatuses", "status.initContainerStatuses"})
    if (const array* statuses = ArrayAt(pod, list))
      for (const value& s : *statuses)
        if (s.is_object() && TextAt(s.get_object(), "name") == container) return &s.get_object();
  return nullptr;
}

/// The container whose log is asked for.
Answer<std::string> ChooseContainer(const Request& request, const object& pod) {
  const std::string asked(request.Param("container").value_or(""));
  const auto names = ContainerNames(pod);
  if (!asked.empty()) {
    if (std::ranges::find(names, asked) != names.end()) return asked;
    return std::unexpected(BadRequest(fmt::format("container {} is not valid for pod {}", asked, request.name())));
  }
  const array* main = ArrayAt(pod, "spec.containers");
  if (main != nullptr && main->size() == 1) return std::string(TextAt(main->front().as_object(), "name"));
  return std::unexpected(BadRequest(fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                                                request.name(), Join(names, " "))));
}

}  // namespace

Answer<Response> BindPod(ApiServer& server, Request& request) {
  ASSIGN(const object binding, server.DecodeBody(request));
  const std::string name(request.name().empty() ? TextAt(binding, "metadata.name") : request.name());
  const std::string node(TextAt(binding, "target.name"));
  if (node.empty())
    return std::unexpected(Invalid("", "Binding", name, {{FieldError::Kind::kRequired, "target.name", "", ""}}));
  const StoredPtr stored = server.store().Get("/pods", request.ns(), name);
  if (!stored) return std::unexpected(NotFound("", "pods", name));
  object pod = Parse(stored);
  object& metadata = Child(pod, "metadata");
  const std::string_view uid = TextAt(binding, "metadata.uid");
  if (!uid.empty() && uid != stored->uid)
    return std::unexpected(BindingConflict(
        name, fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, stored->uid)));
  if (metadata.contains("deletionTimestamp"))
    return std::unexpected(
        BindingConflict(name, fmt::format("pod {} is being deleted, cannot be assigned to a host", name)));
  if (const std::string_view has = TextAt(pod, "spec.nodeName"); !has.empty())
    return std::unexpected(
        BindingConflict(name, fmt::format("pod {} is already assigned to node {}", name, Quote(has))));
  if (const array* gates = ArrayAt(pod, "spec.schedulingGates"); gates != nullptr && !gates->empty())
    return std::unexpected(BindingConflict(name, fmt::format("pod {} has non-empty .spec.schedulingGates", name)));
  Child(pod, "spec")["nodeName"] = node;
  MergeMap(metadata, binding, "labels");
  MergeMap(metadata, binding, "annotations");
  SetScheduled(pod, FormatTime(server.executor().Wall()));
  if (!request.dry_run) {
    if (auto put = server.store().Put("/pods", pod); !put) return std::unexpected(put.error());
  }
  return Response::Json(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})", 201);
}

Answer<ContainerTarget> FindContainer(ApiServer& server, const Request& request) {
  const StoredPtr stored = server.store().Get("/pods", request.ns(), request.name());
  if (!stored) return std::unexpected(NotFound(*request.resource, request.name()));
  const object pod = Parse(stored);
  ContainerTarget out;
  ASSIGN(out.container, ChooseContainer(request, pod));
  out.node = TextAt(pod, "spec.nodeName");
  out.waiting = "ContainerCreating";
  const object* status = StatusOf(pod, out.container);
  if (status == nullptr) return out;
  if (const auto reason = TextAt(*status, "state.waiting.reason"); !reason.empty()) out.waiting = reason;
  for (const char* path : {"state.running.startedAt", "state.terminated.startedAt", "lastState.terminated.startedAt"})
    if (out.since.empty()) out.since = TextAt(*status, path);
  return out;
}

Answer<> CheckHasRun(const Request& request, const ContainerTarget& target) {
  if (!target.since.empty()) return {};
  return std::unexpected(BadRequest(fmt::format("container {} in pod {} is waiting to start: {}",
                                                Quote(target.container), Quote(request.name()), target.waiting)));
}

Answer<Response> PodLog(ApiServer& server, Request& request) {
  ASSIGN(const ContainerTarget target, FindContainer(server, request));
  if (target.node.empty()) return Response::Plain("");
  TRY(CheckHasRun(request, target));
  if (request.Param("tailLines") == "0") return Response::Plain("");
  std::string line = fmt::format("container {} of pod {}/{} started on hollow node {}: no process stands behind it\n",
                                 target.container, request.ns(), request.name(), target.node);
  if (BoolParam(*request.http, "timestamps")) line.insert(0, fmt::format("{} ", target.since));
  return Response::Plain(std::move(line));
}

}  // namespace gpuop::sim
