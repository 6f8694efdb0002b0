#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/field.h"

namespace gpuop::api {

/// A relabeling step of Prometheus.
struct Relabeling {
  std::vector<std::string> source_labels;
  std::string separator, target_label, regex, replacement;
  std::optional<std::int64_t> modulus;
  std::string action = "replace";

  template <class V>
  void Visit(V& v) {
    v("sourceLabels", source_labels, {.description = "Labels whose values are joined and matched."});
    v("separator", separator, {.description = "What stands between the joined values."});
    v("targetLabel", target_label, {.description = "Label that receives the result."});
    v("regex", regex, {.description = "Regular expression that the joined value is matched with."});
    v("modulus", modulus, {.description = "Modulus of the hash, for action hashmod.", .minimum = 0});
    v("replacement", replacement, {.description = "What the target label becomes where the expression matches."});
    v("action", action,
      {.description = "What is done on a match.",
       .defaulted = true,
       .enumeration = {"replace",   "Replace",   "keep",      "Keep",      "drop",      "Drop",
                       "hashmod",   "HashMod",   "labelmap",  "LabelMap",  "labeldrop", "LabelDrop",
                       "labelkeep", "LabelKeep", "lowercase", "Lowercase", "uppercase", "Uppercase",
                       "keepequal", "KeepEqual", "dropequal", "DropEqual"}});
  }
  bool operator==(const Relabeling&) const = default;
};

/// The Prometheus Operator's ServiceMonitor that an operand gets.
struct ServiceMonitor {
  std::optional<bool> enabled, honor_labels;
  std::string interval, scrape_timeout;
  std::map<std::string, std::string> additional_labels;
  std::vector<Relabeling> relabelings;

  bool IsEnabled() const { return enabled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    static constexpr const char* kDuration =
        R"(^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$)";
    v("enabled", enabled, {.description = "Whether a ServiceMonitor is made, where Prometheus Operator is installed."});
    v("interval", interval,
      {.description = "Time between scrapes, as Prometheus writes it (30s, 1m).", .pattern = kDuration});
    v("scrapeTimeout", scrape_timeout,
      {.description = "How long a scrape may take, as Prometheus writes it.", .pattern = kDuration});
    v("honorLabels", honor_labels,
      {.description = "Whether labels of the metrics win over those that Prometheus would add."});
    v("additionalLabels", additional_labels,
      {.description = "Labels of the ServiceMonitor, for Prometheus to select it by."});
    v("relabelings", relabelings, {.description = "Relabeling steps before a scrape."});
  }
  bool operator==(const ServiceMonitor&) const = default;
};

}  // namespace gpuop::api
