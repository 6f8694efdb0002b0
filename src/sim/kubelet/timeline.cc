#include "sim/kubelet/timeline.h"

#include "base/text.h"
#include "data/duration.h"
#include "data/glob.h"
#include "data/json.h"

namespace gpuop::sim {

namespace {

Result<Duration> Span(std::string_view text) {
  ASSIGN(const Duration span, data::ParseDuration(text));
  if (span < Duration{}) return Fail(Code::kInvalid, "must not be negative");
  return span;
}

Result<int> ExitCode(std::string_view text) {
  const auto code = ParseInt(text);
  if (!code || *code < 0 || *code > 255) return Fail(Code::kInvalid, "must be a number from 0 to 255");
  return static_cast<int>(*code);
}

struct RuleText {
  std::string ns, name;
  kube::LabelSelector selector;
  std::vector<std::pair<std::string, std::string>> settings;

  template <class V>
  void Visit(V& v) {
    v("namespace", ns);
    v("name", name);
    v("selector", selector);
    v("settings", settings);
  }
};

bool Fits(const std::string& pattern, std::string_view name) {
  return pattern.empty() || data::MatchGlob(pattern, name).value_or(false);
}

}  // namespace

Result<> SetTimeline(Timeline& t, std::string_view name, std::string_view value) {
  if (name == "start-after") {
    ASSIGN(t.start_after, Span(value));
  } else if (name == "ready-after") {
    t.ready_after.reset();
    if (value != "never") {
      ASSIGN(t.ready_after, Span(value));
    }
  } else if (name == "run-for") {
    t.run_for.reset();
    if (!value.empty() && value != "forever") {
      ASSIGN(t.run_for, Span(value));
    }
  } else if (name == "exit-code") {
    ASSIGN(t.exit_code, ExitCode(value));
  } else if (name == "init-for") {
    ASSIGN(t.init_for, Span(value));
  } else if (name == "init-exit-code") {
    ASSIGN(t.init_exit_code, ExitCode(value));
  } else if (name == "stop-after") {
    ASSIGN(t.stop_after, Span(value));
  } else if (name == "waiting") {
    t.waiting = value;
  } else {
    return Fail(Code::kInvalid, "no such setting");
  }
  return {};
}

Result<std::vector<TimelineRule>> ReadTimelineRules(const boost::json::value& rules) {
  std::vector<RuleText> texts;
  TRY(kube::ReadField(rules, texts));
  std::vector<TimelineRule> out;
  for (RuleText& text : texts) {
    Timeline scratch;
    for (const std::string* glob : {&text.ns, &text.name}) TRY(data::MatchGlob(*glob, ""));
    for (const auto& [name, value] : text.settings)
      if (auto r = SetTimeline(scratch, name, value); !r)
        return std::unexpected(std::move(r).error().During("[" + std::to_string(out.size()) + "]: settings: " + name));
    out.push_back({std::move(text.ns), std::move(text.name), std::move(text.selector), std::move(text.settings)});
  }
  return out;
}

Timeline TimelineOf(const kube::Pod& pod, const std::vector<TimelineRule>& rules, std::vector<std::string>& problems) {
  Timeline t;
  if (const auto* owner = pod.meta.Controller(); owner != nullptr && owner->kind == "Job")
    t.run_for = std::chrono::seconds(1);
  const auto set = [&](std::string_view name, std::string_view value) {
    if (auto r = SetTimeline(t, name, value); !r)
      problems.push_back(std::string(kTimelinePrefix) + std::string(name) + ": " + r.error().text);
  };
  for (const TimelineRule& rule : rules) {
    if (!Fits(rule.ns, pod.meta.ns) || !Fits(rule.name, pod.meta.name)) continue;
    if (!kube::Matches(rule.selector, pod.meta.labels)) continue;
    for (const auto& [name, value] : rule.settings) set(name, value);
  }
  for (const auto& [key, value] : pod.meta.annotations)
    if (key.view().starts_with(kTimelinePrefix)) set(key.view().substr(kTimelinePrefix.size()), value);
  return t;
}

}  // namespace gpuop::sim
