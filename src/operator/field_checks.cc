#include "operator/field_checks.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/text.h"
#include "data/label_selector.h"
#include "data/names.h"
#include "data/regex.h"

namespace gpuop::op {
namespace {

/// More than a Pod can sensibly carry: objects end at about 1.5 MB.
constexpr std::size_t kMostEnvBytes = 256U << 10U;

/// The grammar of image references (distribution/reference), without its length limits.
const data::Regex& Reference() {
  static const data::Regex kReference =
      data::Regex::Compile(R"(^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+)?/)?)"
                           R"([a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)"
                           R"((:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-fA-F]{32,})?$)")
          .value();
  return kReference;
}

}  // namespace

std::optional<std::int64_t> PrometheusMillis(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> kUnits{{{"ms", 1},
                                                                                    {"s", 1000},
                                                                                    {"m", 60'000},
                                                                                    {"h", 3'600'000},
                                                                                    {"d", 86'400'000},
                                                                                    {"w", 604'800'000},
                                                                                    {"y", 31'536'000'000}}};
  if (text == "0") return 0;
  std::int64_t out = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    const auto count = ParseInt(text.substr(0, digits));
    text.remove_prefix(digits);
    const auto* unit = std::ranges::find_if(kUnits, [&](const auto& u) { return text.starts_with(u.first); });
    if (!count || unit == kUnits.end() || *count > 1'000'000'000) return std::nullopt;
    out += *count * unit->second;
    text.remove_prefix(unit->first.size());
  }
  return out;
}

void FieldChecks::Complain(Path path, std::string_view value, std::string_view what) {
  Complain(path, Quote(value) + ": " + std::string(what));
}

void FieldChecks::Name(Path path, std::string_view name) {
  if (name.empty()) return;
  for (const std::string& message : data::CheckDnsSubdomain(name)) return Complain(path, name, message);
}

void FieldChecks::AbsolutePath(Path path, std::string_view value) {
  if (value.empty()) return;
  if (!value.starts_with('/')) return Complain(path, value, "must be an absolute path");
  if (value.contains("/../") || value.ends_with("/..")) Complain(path, value, "must not contain '..'");
  if (value.contains(':')) Complain(path, value, "must not contain ':'");
}

void FieldChecks::NumberOrPercent(Path path, const data::IntOrString& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) {
    if (*number < 0) Complain(path, "must not be negative");
    return;
  }
  const std::string& text = std::get<std::string>(value.value);
  const bool percent = text.ends_with('%');
  const auto number = ParseInt(percent ? std::string_view(text).substr(0, text.size() - 1) : std::string_view(text));
  if (!number || *number < 0 || (percent && *number > 100))
    Complain(path, "must be a number, or a percentage from 0% to 100%, not \"" + text + "\"");
}

void FieldChecks::LabelSelector(Path path, const std::string& text) {
  if (auto selector = data::LabelSelector::Parse(text); !selector) Complain(path, text, selector.error().text);
}

void FieldChecks::Labels(Path path, const std::map<std::string, std::string>& labels) {
  for (const auto& [key, value] : labels) {
    for (const std::string& message : data::CheckQualifiedName(key)) Complain(path + "[" + key + "]", message);
    for (const std::string& message : data::CheckLabelValue(value)) Complain(path + "[" + key + "]", value, message);
  }
}

void FieldChecks::Annotations(Path path, const std::map<std::string, std::string>& annotations) {
  data::JsonObject object;
  for (const auto& [key, value] : annotations) object[key] = value;
  for (const data::FieldError& error : data::CheckAnnotations(object, path)) problems_.push_back(error.ToString());
}

void FieldChecks::Env(Path path, const std::vector<api::EnvVar>& env) {
  std::set<std::string_view> names;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string& name = env[i].name;
    const std::string here = path + "[" + std::to_string(i) + "].name";
    bytes += name.size() + env[i].value.size();
    const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f && c != '='; });
    if (name.empty() || !printable) Complain(here, "must be printable ASCII without blanks and '=': \"" + name + "\"");
    if (!names.insert(name).second) Complain(here, "\"" + name + "\" is there twice");
  }
  if (bytes > kMostEnvBytes) Complain(path, "more than 256 KiB of variables");
}

void FieldChecks::Resources(Path path, const std::optional<api::Resources>& resources) {
  if (!resources) return;
  for (const auto& [name, amount] : resources->limits) {
    if (amount.Sign() < 0) Complain(path + ".limits[" + name + "]", amount.ToString(), "must not be negative");
    for (const std::string& message : data::CheckQualifiedName(name)) Complain(path + ".limits[" + name + "]", message);
  }
  for (const auto& [name, amount] : resources->requests) {
    if (amount.Sign() < 0) Complain(path + ".requests[" + name + "]", amount.ToString(), "must not be negative");
    const auto limit = resources->limits.find(name);
    if (limit != resources->limits.end() && amount > limit->second)
      Complain(path + ".requests[" + name + "]",
               amount.ToString() + " is more than the limit of " + limit->second.ToString());
  }
}

void FieldChecks::Tolerations(Path path, const std::vector<api::Toleration>& tolerations) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const api::Toleration& t = tolerations[i];
    const std::string here = path + "[" + std::to_string(i) + "]";
    OneOf(here + ".operator", t.op, {"Exists", "Equal"});
    OneOf(here + ".effect", t.effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    if (t.op == "Exists" && !t.value.empty())
      Complain(here + ".value", t.value, "must be empty when the operator is Exists");
    if (t.key.empty() && t.op != "Exists") Complain(here + ".operator", "must be Exists when the key is empty");
    if (t.seconds && t.effect != "NoExecute")
      Complain(here + ".effect", "must be NoExecute when tolerationSeconds is set");
    if (t.key.empty()) continue;
    for (const std::string& message : data::CheckQualifiedName(t.key)) Complain(here + ".key", t.key, message);
  }
}

void FieldChecks::Image(Path path, const api::ImageSource& source) {
  for (std::size_t i = 0; i < source.pull_secrets.size(); ++i) {
    const std::string here = path + ".imagePullSecrets[" + std::to_string(i) + "]";
    if (source.pull_secrets[i].empty()) Complain(here, "must not be empty");
    Name(here, source.pull_secrets[i]);
  }
  std::string reference = source.image;
  if (!source.repository.empty() && !source.version.empty())
    reference =
        source.repository + "/" + source.image + (source.version.starts_with("sha256:") ? "@" : ":") + source.version;
  if (!source.image.empty() && !Reference().Search(reference))
    Complain(path + ".image", "invalid image specification: \"" + reference +
                                  "\" is no image reference (lower case, REPOSITORY/IMAGE:TAG or @sha256:DIGEST)");
}

void FieldChecks::Container(Path path, const api::Container& container) {
  Image(path, container);
  Env(path + ".env", container.env);
  Resources(path + ".resources", container.resources);
}

void FieldChecks::Sidecar(Path path, const api::Sidecar& sidecar) {
  Image(path, sidecar);
  Env(path + ".env", sidecar.env);
}

void FieldChecks::Manager(Path path, const api::DriverManager& manager) {
  Image(path, manager);
  Env(path + ".env", manager.env);
}

void FieldChecks::Probe(Path path, const std::optional<api::ProbeTimes>& probe, bool one_success) {
  if (!probe) return;
  if (one_success && probe->success_threshold.value_or(1) != 1)
    Complain(path + ".successThreshold", std::to_string(*probe->success_threshold), "must be 1");
  if (probe->initial_delay_s.value_or(0) < 0)
    Complain(path + ".initialDelaySeconds", std::to_string(*probe->initial_delay_s), "must not be negative");
}

void FieldChecks::Monitor(Path path, const api::ServiceMonitor& monitor) {
  const auto interval = PrometheusMillis(monitor.interval), timeout = PrometheusMillis(monitor.scrape_timeout);
  if (!monitor.interval.empty() && !interval)
    Complain(path + ".interval", monitor.interval, "is no duration such as 30s");
  if (!monitor.scrape_timeout.empty() && !timeout)
    Complain(path + ".scrapeTimeout", monitor.scrape_timeout, "is no duration such as 10s");
  if (interval && timeout && *timeout > *interval)
    Complain(path + ".scrapeTimeout", monitor.scrape_timeout + " is longer than the interval of " + monitor.interval);
  Labels(path + ".additionalLabels", monitor.additional_labels);
  for (std::size_t i = 0; i < monitor.relabelings.size(); ++i)
    if (auto regex = data::Regex::Compile(monitor.relabelings[i].regex); !regex)
      Complain(path + ".relabelings[" + std::to_string(i) + "].regex", monitor.relabelings[i].regex,
               regex.error().text);
}

void FieldChecks::OneOf(Path path, std::string_view value, const std::vector<std::string>& allowed) {
  if (value.empty() || std::ranges::find(allowed, value) != allowed.end()) return;
  Complain(path, "must be one of " + Join(allowed, ", ") + ", not \"" + std::string(value) + "\"");
}

void FieldChecks::Regexes(Path path, const std::vector<std::string>& patterns) {
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (auto regex = data::Regex::Compile(patterns[i]); !regex)
      Complain(path + "[" + std::to_string(i) + "]", patterns[i], regex.error().text);
}

}  // namespace gpuop::op
