#include "main/controller_options.h"

#include <optional>
#include <string_view>

#include "base/text.h"
#include "data/duration.h"

namespace gpuop {
namespace {

constexpr std::string_view kHelp =
    R"(gpu-operator controller: keeps the cluster's GPU nodes as ClusterPolicy and NVIDIADriver say

usage: gpu-operator controller [options]      (OPERATOR_NAMESPACE names the namespace that operands run in)

  --metrics-bind-address A         where metrics are served (:8080; 0 for nowhere)
  --health-probe-bind-address A    where /healthz and /readyz are served (:8081; 0 for nowhere)
  --leader-elect                   act only while holding the lease 53822513.nvidia.com
  --leader-elect-namespace NS      the lease's namespace (the operator's)
  --leader-lease-renew-deadline D  give up the lead when it could not be renewed for D (10s)
  --metrics-cert-file F            serve metrics over TLS with this certificate and
  --metrics-key-file F             this key,
  --metrics-client-ca-file F       only to clients with a certificate of this authority
  --zap-log-level L                debug, info, error or a number (info)
  --zap-devel, --zap-encoder, --zap-stacktrace-level, --zap-time-encoding
                                   accepted and without effect
  --kubeconfig FILE                how to reach the API (the Pod's service account, or KUBECONFIG)
  --dry-run                        print what would be written, as a difference, and end
  --help                           show this
)";

Result<bool> Boolean(std::string_view name, std::string_view text) {
  if (const auto is = ParseBool(text)) return *is;
  return Fail(Code::kInvalid, "--" + std::string(name) + ": expected true or false, got " + Quote(text));
}

Result<LogLevel> Level(std::string_view text) {
  if (text == "info") return LogLevel::kInfo;
  if (text == "debug") return LogLevel::kDebug;
  if (text == "warn") return LogLevel::kWarn;
  if (text == "error" || text == "panic" || text == "fatal") return LogLevel::kError;
  if (const auto number = ParseInt(text); number && *number >= 0)
    return *number > 0 ? LogLevel::kDebug : LogLevel::kInfo;
  return Fail(Code::kInvalid, "--zap-log-level: expected debug, info, error or a number, got " + Quote(text));
}

/// The flag's place when it is a yes or no; null for any other.
bool* Switch(ControllerOptions& o, std::string_view name) {
  static bool ignored = false;
  if (name == "leader-elect") return &o.leader_elect;
  if (name == "dry-run") return &o.dry_run;
  if (name == "help" || name == "h") return &o.help;
  return name == "zap-devel" ? &ignored : nullptr;
}

Result<> Set(ControllerOptions& o, std::string_view name, const std::string& value) {
  std::string* text = name == "metrics-bind-address"        ? &o.metrics_address
                      : name == "health-probe-bind-address" ? &o.health_address
                      : name == "leader-elect-namespace"    ? &o.lease_namespace
                      : name == "metrics-cert-file"         ? &o.metrics_certificate
                      : name == "metrics-key-file"          ? &o.metrics_key
                      : name == "metrics-client-ca-file"    ? &o.metrics_client_ca
                      : name == "kubeconfig"                ? &o.kubeconfig
                                                            : nullptr;
  if (text != nullptr) {
    *text = value;
  } else if (name == "leader-lease-renew-deadline") {
    ASSIGN(o.renew_deadline, data::ParseDuration(value));
    if (o.renew_deadline < Duration::zero()) return Fail(Code::kInvalid, "--" + std::string(name) + ": negative");
  } else if (name == "zap-log-level") {
    ASSIGN(o.log_level, Level(value));
  } else if (name != "zap-encoder" && name != "zap-stacktrace-level" && name != "zap-time-encoding") {
    return Fail(Code::kInvalid, "unknown flag --" + std::string(name));
  }
  return {};
}

}  // namespace

Result<ControllerOptions> ParseControllerOptions(std::span<char* const> args) {
  ControllerOptions out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string_view arg = args[i];
    if (!arg.starts_with('-')) return Fail(Code::kInvalid, "unexpected argument " + Quote(arg));
    arg.remove_prefix(arg.starts_with("--") ? 2 : 1);
    const std::size_t equals = arg.find('=');
    const std::string_view name = arg.substr(0, equals);
    if (bool* flag = Switch(out, name)) {
      *flag = true;
      if (equals != std::string_view::npos) {
        ASSIGN(*flag, Boolean(name, arg.substr(equals + 1)));
      }
    } else if (equals != std::string_view::npos) {
      TRY(Set(out, name, std::string(arg.substr(equals + 1))));
    } else if (i + 1 < args.size()) {
      TRY(Set(out, name, args[++i]));
    } else {
      return Fail(Code::kInvalid, "flag --" + std::string(name) + " is unknown, or needs a value");
    }
  }
  if (out.metrics_certificate.empty() != out.metrics_key.empty())
    return Fail(Code::kInvalid, "--metrics-cert-file and --metrics-key-file go together");
  if (!out.metrics_client_ca.empty() && out.metrics_key.empty())
    return Fail(Code::kInvalid, "--metrics-client-ca-file needs --metrics-cert-file and --metrics-key-file");
  return out;
}

std::string ControllerHelp() { return std::string(kHelp); }

}  // namespace gpuop
