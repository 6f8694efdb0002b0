#pragma once
// Numbers about this process for Prometheus (text format 0.0.4).

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace gpuop {

/// Only grows. Thread-safe.
class Counter {
 public:
  void Add(double by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

/// Goes up and down. Thread-safe.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

/// Counts observations in buckets. Thread-safe.
class Histogram {
 public:
  /// `bounds` are the buckets' upper ends, ascending; +Inf is added.
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void Observe(double value);

  const std::vector<double>& bounds() const { return bounds_; }
  /// Observations in bucket `i` alone (not the ones below it).
  std::uint64_t count(std::size_t i) const { return counts_[i].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

/// Label names and values, in the order they are printed.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// All metrics of a process (or of a test). The first call with a name and labels makes the metric, later ones find
/// it; the references stay valid as long as the registry. A name has one kind: another is a broken invariant, as is
/// a name or label name that Prometheus would refuse. Thread-safe.
class MetricRegistry {
 public:
  Counter& counter(std::string_view name, std::string_view help, MetricLabels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, MetricLabels labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                       MetricLabels labels = {});

  /// The exposition: families by name, series by labels.
  std::string Text() const;
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Family {
    std::string help;
    std::string kind;
    std::map<MetricLabels, std::unique_ptr<Counter>> counters;
    std::map<MetricLabels, std::unique_ptr<Gauge>> gauges;
    std::map<MetricLabels, std::unique_ptr<Histogram>> histograms;
  };
  Family& FamilyOf(std::string_view name, std::string_view help, std::string_view kind, const MetricLabels& labels)
      REQUIRES(mu_);

  mutable Mutex mu_;
  std::map<std::string, Family, std::less<>> families_ GUARDED_BY(mu_);
};

/// Upper ends first, first*factor, … `count` of them.
std::vector<double> ExponentialBounds(double first, double factor, int count);

}  // namespace gpuop
