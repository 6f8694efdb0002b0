#pragma once
// Checks of single fields, each telling what is wrong as "path: what". Pure.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/components.h"
#include "api/driver_settings.h"
#include "api/monitoring.h"
#include "api/pod_settings.h"
#include "data/field.h"

namespace gpuop::op {

/// Gathers what is wrong, below one field at a time.
class FieldChecks {
 public:
  using Path = const std::string&;

  void Complain(Path path, std::string_view what) { problems_.push_back(path + ": " + std::string(what)); }

  /// The same, showing what stands there now.
  void Complain(Path path, std::string_view value, std::string_view what);

  /// A name of an object, "" allowed.
  void Name(Path path, std::string_view name);
  void AbsolutePath(Path path, std::string_view value);
  /// A number, or a percentage from 0 to 100.
  void NumberOrPercent(Path path, const data::IntOrString& value);
  void LabelSelector(Path path, const std::string& text);
  void Labels(Path path, const std::map<std::string, std::string>& labels);
  void Annotations(Path path, const std::map<std::string, std::string>& annotations);
  void Env(Path path, const std::vector<api::EnvVar>& env);
  void Resources(Path path, const std::optional<api::Resources>& resources);
  void Tolerations(Path path, const std::vector<api::Toleration>& tolerations);
  void Image(Path path, const api::ImageSource& source);
  void Container(Path path, const api::Container& container);
  void Sidecar(Path path, const api::Sidecar& sidecar);
  void Manager(Path path, const api::DriverManager& manager);
  /// Kubernetes allows only one success for startup and liveness probes.
  void Probe(Path path, const std::optional<api::ProbeTimes>& probe, bool one_success);
  void Monitor(Path path, const api::ServiceMonitor& monitor);
  void OneOf(Path path, std::string_view value, const std::vector<std::string>& allowed);
  void Regexes(Path path, const std::vector<std::string>& patterns);

  template <bool kAuto>
  void Upgrade(Path path, const std::optional<api::UpgradePolicyOf<kAuto>>& policy) {
    if (!policy) return;
    NumberOrPercent(path + ".maxUnavailable", policy->max_unavailable);
    if (policy->wait_for_completion)
      LabelSelector(path + ".waitForCompletion.podSelector", policy->wait_for_completion->pod_selector);
    if (policy->drain) LabelSelector(path + ".drain.podSelector", policy->drain->pod_selector);
  }

  std::vector<std::string> Take() && { return std::move(problems_); }

 private:
  std::vector<std::string> problems_;
};

/// A span as Prometheus writes it ("1m30s") in milliseconds; nullopt when it is none.
std::optional<std::int64_t> PrometheusMillis(std::string_view text);

}  // namespace gpuop::op
