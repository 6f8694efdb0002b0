#include "base/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"
#include "base/check.h"

namespace gpuop {
namespace {

bool IsName(std::string_view name, bool colon) {
  const auto letter = [colon](char c) { return IsLetter(c) || c == '_' || (colon && c == ':'); };
  const auto follows = [&letter](char c) { return letter(c) || IsDigit(c); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, follows);
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// Escapes a label value, or a help text (where quotes stay as they are).
std::string Escape(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

/// {a="1",b="2"}; `le` is added when not empty.
std::string Braces(const MetricLabels& labels, const std::string& le = {}) {
  std::string out;
  for (const auto& [name, value] : labels)
    out.append(out.empty() ? "" : ",").append(name).append("=\"").append(Escape(value, true)).append("\"");
  if (!le.empty()) out.append(out.empty() ? "" : ",").append("le=\"").append(le).append("\"");
  return out.empty() ? out : "{" + out + "}";
}

void Line(std::string& out, std::string_view name, const std::string& braces, double value) {
  out.append(name).append(braces).append(" ").append(Number(value)).append("\n");
}

void Print(std::string& out, const std::string& name, const MetricLabels& labels, const Histogram& h) {
  double below = 0;
  for (std::size_t i = 0; i <= h.bounds().size(); ++i) {
    below += static_cast<double>(h.count(i));
    const std::string le = i < h.bounds().size() ? Number(h.bounds()[i]) : "+Inf";
    Line(out, name + "_bucket", Braces(labels, le), below);
  }
  Line(out, name + "_sum", Braces(labels), h.sum());
  Line(out, name + "_count", Braces(labels), below);
}

}  // namespace

void Histogram::Observe(double value) {
  const auto it = std::ranges::lower_bound(bounds_, value);
  counts_[static_cast<std::size_t>(it - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

MetricRegistry::Family& MetricRegistry::FamilyOf(std::string_view name, std::string_view help, std::string_view kind,
                                                 const MetricLabels& labels) {
  auto it = families_.find(name);
  if (it == families_.end()) {
    GPUOP_CHECK(IsName(name, true));
    it = families_
             .emplace(name, Family{.help = std::string(help),
                                   .kind = std::string(kind),
                                   .counters = {},
                                   .gauges = {},
                                   .histograms = {}})
             .first;
  }
  GPUOP_CHECK(it->second.kind == kind);
  for (const auto& label : labels) GPUOP_CHECK(IsName(label.first, false));
  return it->second;
}

Counter& MetricRegistry::counter(std::string_view name, std::string_view help, MetricLabels labels) {
  Lock l(mu_);
  auto& slot = FamilyOf(name, help, "counter", labels).counters[std::move(labels)];
  if (!slot) slot = std::make_unique<Counter>();
  return *slot;
}

Gauge& MetricRegistry::gauge(std::string_view name, std::string_view help, MetricLabels labels) {
  Lock l(mu_);
  auto& slot = FamilyOf(name, help, "gauge", labels).gauges[std::move(labels)];
  if (!slot) slot = std::make_unique<Gauge>();
  return *slot;
}

Histogram& MetricRegistry::histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                                     MetricLabels labels) {
  Lock l(mu_);
  auto& slot = FamilyOf(name, help, "histogram", labels).histograms[std::move(labels)];
  if (!slot) slot = std::make_unique<Histogram>(std::move(bounds));
  return *slot;
}

std::string MetricRegistry::Text() const {
  Lock l(mu_);
  std::string out;
  for (const auto& [name, family] : families_) {
    out.append("# HELP ").append(name).append(" ").append(Escape(family.help, false)).append("\n");
    out.append("# TYPE ").append(name).append(" ").append(family.kind).append("\n");
    for (const auto& [labels, c] : family.counters) Line(out, name, Braces(labels), c->value());
    for (const auto& [labels, g] : family.gauges) Line(out, name, Braces(labels), g->value());
    for (const auto& [labels, h] : family.histograms) Print(out, name, labels, *h);
  }
  return out;
}

std::vector<double> ExponentialBounds(double first, double factor, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i, first *= factor) out.push_back(first);
  return out;
}

}  // namespace gpuop
