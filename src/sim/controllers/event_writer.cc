#include "sim/controllers/event_writer.h"

#include <fmt/core.h>

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr std::size_t kRemembered = 4096;

const kube::Resource kEvents{"", "v1", "events", "Event", true};

std::string Identity(const kube::ObjectReference& about, const EventText& text) {
  std::string id = about.uid;
  for (const std::string_view part :
       {about.kind.view(), std::string_view(about.name), text.type, text.reason, std::string_view(text.message)})
    id.append(1, '\0').append(part);
  return id;
}

json::object ReferenceJson(const kube::ObjectReference& about) {
  json::object out{{"apiVersion", about.api_version.view()}, {"kind", about.kind.view()}, {"name", about.name}};
  if (!about.ns.empty()) out["namespace"] = about.ns.view();
  if (!about.uid.empty()) out["uid"] = about.uid;
  if (!about.resource_version.empty()) out["resourceVersion"] = about.resource_version;
  if (!about.field_path.empty()) out["fieldPath"] = about.field_path;
  return out;
}

}  // namespace

EventWriter::EventWriter(Executor& executor, kube::Client client, Log& log, std::string component, std::uint64_t seed)
    : executor_(executor), client_(std::move(client)), log_(log), component_(std::move(component)), rng_(seed) {}

void EventWriter::Emit(const kube::ObjectReference& about, const EventText& text) {
  if (seen_.size() >= kRemembered) {
    const TimePoint now = executor_.Now();
    std::erase_if(seen_, [&](const auto& e) { return now - e.second.last > std::chrono::minutes(10); });
    if (seen_.size() >= kRemembered) seen_.clear();
  }
  const auto [it, fresh] = seen_.try_emplace(Identity(about, text));
  Seen& seen = it->second;
  if (!fresh && executor_.Now() - seen.last < kQuiet) return;
  seen.last = executor_.Now();
  fresh ? Write(about, text, seen) : Repeat(text, seen);
}

void EventWriter::Write(const kube::ObjectReference& about, const EventText& text, Seen& seen) {
  seen.ns = about.ns.empty() ? "default" : std::string(about.ns.view());
  seen.name = fmt::format("{}.{:016x}", about.name, rng_.Next());
  const WallTime now = executor_.Wall();
  json::object event{{"apiVersion", "v1"},
                     {"kind", "Event"},
                     {"metadata", {{"name", seen.name}, {"namespace", seen.ns}}},
                     {"involvedObject", ReferenceJson(about)},
                     {"reason", text.reason},
                     {"message", text.message},
                     {"type", text.type},
                     {"reportingComponent", component_}};
  if (text.action.empty()) {
    event["reportingInstance"] = "";
    event["source"] = json::object{{"component", component_}};
    event["firstTimestamp"] = event["lastTimestamp"] = FormatTime(now);
    event["eventTime"] = nullptr;
    event["count"] = 1;
  } else {
    event["reportingInstance"] = component_ + "-sim";
    event["source"] = json::object{};
    event["firstTimestamp"] = event["lastTimestamp"] = nullptr;
    event["eventTime"] = FormatMicroTime(now);
    event["action"] = text.action;
  }
  if (auto r = client_.Create(kEvents, event); !r && r.error().code != Code::kForbidden)
    log_.Warn("event not written",
              {{"about", about.name}, {"reason", std::string(text.reason)}, {"error", r.error().text}});
}

void EventWriter::Repeat(const EventText& text, Seen& seen) {
  ++seen.count;
  json::object patch;
  if (text.action.empty())
    patch = {{"count", seen.count}, {"lastTimestamp", FormatTime(executor_.Wall())}};
  else
    patch = {{"series", {{"count", seen.count}, {"lastObservedTime", FormatMicroTime(executor_.Wall())}}}};
  auto r = client_.Patch({kEvents, seen.ns, seen.name, {}}, kube::PatchType::kMerge, patch);
  if (!r && r.error().code == Code::kNotFound) seen.last = {};  // it has expired; the next one is a new event
}

}  // namespace gpuop::sim
