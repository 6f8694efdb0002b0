#include "sim/faults.h"

#include <fmt/core.h>

#include "data/json.h"
#include "sim/parse_request.h"

namespace gpuop::sim {
namespace {

using boost::json::object;
using boost::json::value;

std::string_view ReasonOf(int code) {
  switch (code) {
    case 400: return "BadRequest";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 409: return "Conflict";
    case 410: return "Expired";
    case 429: return "TooManyRequests";
    case 500: return "InternalError";
    case 503: return "ServiceUnavailable";
    case 504: return "Timeout";
    default: return "";
  }
}

bool Fits(const FaultRule& rule, const Attributes& asked) {
  if (!rule.verb.empty() && rule.verb != asked.verb) return false;
  if (!rule.name.empty() && rule.name != asked.name) return false;
  return rule.resource.empty() || (rule.resource == asked.resource && rule.group == asked.group);
}

Status FailureOf(const FaultRule& rule, const Attributes& asked) {
  if (rule.code == 409 && rule.message.empty()) {
    ResourceInfo info;
    info.group = asked.group, info.plural = asked.resource;
    return StaleWrite(info, asked.name);
  }
  Status status{rule.code,
                rule.reason.empty() ? std::string(ReasonOf(rule.code)) : rule.reason,
                rule.message.empty() ? fmt::format("injected fault: {}", rule.code) : rule.message,
                std::nullopt,
                {}};
  if (rule.retry_after_seconds > 0) status.details = StatusDetails{{}, {}, {}, {}, {}, rule.retry_after_seconds};
  return status;
}

}  // namespace

std::uint64_t Faults::Add(FaultRule rule) {
  rules_.push_back({next_id_, std::move(rule)});
  return next_id_++;
}

std::uint64_t Faults::AddConflictStorm(std::string_view group, std::string_view resource, double probability,
                                       std::optional<std::int64_t> times) {
  FaultRule storm;
  storm.verb = "update";
  storm.group = group;
  storm.resource = resource;
  storm.code = 409;
  storm.times = times;
  storm.probability = probability;
  const std::uint64_t id = Add(storm);
  for (const char* verb : {"patch", "delete"}) {
    storm.verb = verb;
    rules_.push_back({id, storm});  // one storm, one id
  }
  return id;
}

bool Faults::Remove(std::uint64_t id) {
  return std::erase_if(rules_, [&](const Numbered& n) { return n.id == id; }) > 0;
}

void Faults::Clear() {
  rules_.clear();
  bytes_per_second = 0;
}

Verdict Faults::Judge(const kube::ApiRequest& request) {
  Verdict verdict;
  if (rules_.empty()) return verdict;
  const Attributes asked = AttributesOf(request, User{});
  bool struck = false;
  for (Numbered& n : rules_) {
    FaultRule& rule = n.rule;
    if (rule.times == 0 || !Fits(rule, asked)) continue;
    if (rule.probability < 1 && rng_.Unit() >= rule.probability) continue;
    if (rule.code != 0 && verdict.failure) continue;
    if (rule.times) --*rule.times;
    verdict.delay += rule.delay;
    if (rule.code != 0) verdict.failure = FailureOf(rule, asked);
    struck = true;
  }
  if (struck) ++struck_;
  return verdict;
}

Result<FaultRule> Faults::Parse(const value& json) {
  if (!json.is_object()) return Fail(Code::kInvalid, "a fault is an object");
  FaultRule rule;
  const auto text = [&](const char* name) { return std::string(data::StringOr(json, name)); };
  for (const auto& [name, v] : json.get_object()) {
    const bool is_text = name == "verb" || name == "group" || name == "resource" || name == "name" ||
                         name == "reason" || name == "message";
    const bool is_number = name == "code" || name == "retryAfterSeconds" || name == "delayMs" || name == "times";
    if (!is_text && !is_number && name != "probability")
      return Fail(Code::kInvalid, fmt::format("unknown field \"{}\"", std::string_view(name)));
    if ((is_text && !v.is_string()) || (is_number && (!v.is_int64() || v.get_int64() < 0)) ||
        (name == "probability" && !v.is_number()))
      return Fail(Code::kInvalid, fmt::format("{}: {} cannot stand here", std::string_view(name), data::KindName(v)));
  }
  rule.verb = text("verb"), rule.group = text("group"), rule.resource = text("resource"), rule.name = text("name");
  rule.reason = text("reason"), rule.message = text("message");
  rule.code = static_cast<int>(data::IntOr(json, "code"));
  rule.retry_after_seconds = static_cast<int>(data::IntOr(json, "retryAfterSeconds"));
  rule.delay = std::chrono::milliseconds(data::IntOr(json, "delayMs"));
  rule.times = data::GetInt(json, "times");
  if (const value* p = data::Find(json, "probability")) rule.probability = p->to_number<double>();
  if (rule.code != 0 && (rule.code < 400 || rule.code > 599)) return Fail(Code::kInvalid, "code: not an error status");
  if (rule.code == 0 && rule.delay == Duration{})
    return Fail(Code::kInvalid, "neither code nor delayMs: nothing to do");
  return rule;
}

value Faults::ToJson() const {
  boost::json::array list;
  for (const auto& [id, rule] : rules_) {
    object o{{"id", id}};
    for (const auto& [name, text] :
         {std::pair("verb", &rule.verb), std::pair("group", &rule.group), std::pair("resource", &rule.resource),
          std::pair("name", &rule.name), std::pair("reason", &rule.reason), std::pair("message", &rule.message)})
      if (!text->empty()) o[name] = *text;
    if (rule.code != 0) o["code"] = rule.code;
    if (rule.retry_after_seconds != 0) o["retryAfterSeconds"] = rule.retry_after_seconds;
    if (rule.delay != Duration{})
      o["delayMs"] = std::chrono::duration_cast<std::chrono::milliseconds>(rule.delay).count();
    if (rule.times) o["times"] = *rule.times;
    if (rule.probability < 1) o["probability"] = rule.probability;
    list.push_back(std::move(o));
  }
  return list;
}

}  // namespace gpuop::sim
