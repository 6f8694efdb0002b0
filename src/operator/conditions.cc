#include "operator/conditions.h"

#include <algorithm>
#include <boost/json.hpp>

#include "data/writer.h"

namespace gpuop::op {
namespace {

/// What the schema allows.
constexpr std::size_t kLongest = 32768;

}  // namespace

const api::Condition* FindCondition(const std::vector<api::Condition>& list, std::string_view type) {
  const auto it = std::ranges::find(list, type, &api::Condition::type);
  return it == list.end() ? nullptr : &*it;
}

void Conditions::Set(std::string_view type, bool holds, std::string_view reason, std::string message) {
  if (message.size() > kLongest) message.resize(kLongest);
  api::Condition out;
  out.type = type;
  out.status = holds ? "True" : "False";
  out.reason = reason;
  out.message = std::move(message);
  out.observed_generation = generation_;
  const api::Condition* before = FindCondition(before_, type);
  const bool same = before != nullptr && before->status == out.status && !before->last_transition_time.empty();
  out.last_transition_time = same ? before->last_transition_time : FormatTime(now_);
  list_.push_back(std::move(out));
}

void Conditions::SetReady(std::string_view reason, std::string message) {
  Set("Ready", true, reason, std::move(message));
  Set("Error", false, "Ready", "");
}

void Conditions::SetError(std::string_view reason, std::string message) {
  Set("Ready", false, "Error", "");
  Set("Error", true, reason, std::move(message));
}

boost::json::object StatusPatch(std::string_view state, std::string_view ns, const std::vector<api::Condition>& list) {
  boost::json::object status{{"state", state}, {"namespace", ns}, {"conditions", data::WriteValue(list)}};
  return {{"status", std::move(status)}};
}

std::string NamesText(const std::vector<std::string>& names, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) out.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > most) out.append(" and ").append(std::to_string(names.size() - most)).append(" more");
  return out;
}

}  // namespace gpuop::op
