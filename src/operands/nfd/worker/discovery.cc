#include "operands/nfd/worker/discovery.h"

#include <algorithm>

#include "base/text.h"
#include "data/names.h"
#include "operands/nfd/rules/name_rules.h"

namespace gpuop::operands::nfd {
namespace {

/// A label that a later, higher source does not replace.
struct Ranked {
  std::string value;
  int priority = 0;
};

class LabelGatherer {
 public:
  LabelGatherer(const WorkerSettings& settings, Log& log) : settings_(settings), log_(log) {}

  void Add(std::string_view source, int priority, bool verbatim, const TextMap& labels) {
    if (!settings_.label_sources.contains(source)) return;
    for (const auto& [name, value] : labels) {
      std::string full = name;
      if (!verbatim && name.find('/') == name.npos)
        full = std::string(kFeatureNs) + "/" + std::string(source) + "-" + name;
      if (!Allowed(full, value)) continue;
      Ranked& slot = out_[full];
      if (slot.priority <= priority) slot = {value, priority};
    }
  }
  TextMap Take() && {
    TextMap out;
    for (auto& [name, label] : out_) out.emplace_hint(out.end(), name, std::move(label.value));
    return out;
  }

 private:
  bool Allowed(const std::string& name, const std::string& value) {
    if (settings_.label_whitelist && !settings_.label_whitelist->Search(name.substr(name.find('/') + 1))) return false;
    auto messages = data::CheckQualifiedName(name);
    if (messages.empty()) messages = data::CheckLabelValue(value);
    if (messages.empty()) return true;
    log_.Debug("a label is left out", {{"label", name}, {"reason", messages.front()}});
    return false;
  }

  const WorkerSettings& settings_;
  Log& log_;
  std::map<std::string, Ranked> out_;
};

}  // namespace

void NodeDiscovery::Tell(std::string_view source, const std::vector<std::string>& before,
                         const std::vector<std::string>& now) {
  for (const std::string& complaint : now)
    if (std::ranges::find(before, complaint) == before.end())
      log_.Warn("something is passed over", {{"source", std::string(source)}, {"reason", complaint}});
}

bool NodeDiscovery::Ask(const Source& source, const WorkerSettings& settings, Found& known, bool is_new) {
  Found now = source.find({host_, settings.sources, clock_, node_});
  Tell(source.name, known.complaints, now.complaints);
  known.complaints = now.complaints;
  if (now.failed && !is_new) return false;
  const bool differs = !now.SaysTheSameAs(known);
  known = std::move(now);
  return differs;
}

bool NodeDiscovery::HasNews(const WorkerSettings& settings) {
  bool out = false;
  for (const Source& source : Sources()) {
    const auto it = known_.find(source.name);
    if (it == known_.end() || !source.changes_silently) continue;
    if (Ask(source, settings, it->second, false)) out = true;
  }
  return out;
}

std::optional<WallTime> NodeDiscovery::until() const {
  std::optional<WallTime> out;
  for (const auto& [name, found] : known_)
    if (found.until) out = std::min(out.value_or(*found.until), *found.until);
  return out;
}

NodeFacts NodeDiscovery::Look(const WorkerSettings& settings, bool all) {
  NodeFacts out;
  LabelGatherer labels(settings, log_);
  for (const Source& source : Sources()) {
    if (!settings.feature_sources.contains(source.name)) {
      known_.erase(source.name);
      continue;
    }
    const auto [it, is_new] = known_.try_emplace(source.name);
    if (is_new || all || source.changes_silently) Ask(source, settings, it->second, is_new);
    const Found& found = it->second;
    out.features.Add(found.features);
    labels.Add(source.name, source.priority, source.verbatim, found.labels);
  }
  if (settings.feature_sources.contains("custom")) {
    std::vector<std::string> complaints;
    labels.Add("custom", 10, true, CustomLabels(settings.sources, out.features, complaints));
    Tell("custom", custom_complaints_, complaints);
    custom_complaints_ = std::move(complaints);
  }
  out.labels = std::move(labels).Take();
  return out;
}

}  // namespace gpuop::operands::nfd
