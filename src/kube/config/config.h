#pragma once
// How to reach a Kubernetes API and as whom: found where client-go finds it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/config/kubeconfig.h"
#include "net/tls.h"
#include "net/url.h"
#include "os/fs.h"

namespace gpuop::kube {

/// Whom to act as (the Impersonate-… headers); nobody when `user` is empty.
struct Impersonation {
  std::string user{}, uid{};
  std::vector<std::string> groups{};
  std::vector<std::pair<std::string, std::vector<std::string>>> extra{};
};

/// Everything that is needed to talk to one API server.
struct ApiConfig {
  net::Url server{};
  /// Authorities, the client's own certificate, and the name to expect.
  net::TlsClientOptions tls{};
  /// "" for a direct connection; from proxy-url, or else from the environment.
  std::string proxy{};

  std::string token{};
  /// Read again and again, because tokens rotate; counts before `token`.
  std::string token_file{};
  std::string username{}, password{};
  std::optional<ExecPlugin> exec{};
  /// The cluster's extension for the exec plugin.
  std::optional<data::Json> exec_config{};
  Impersonation impersonation{};

  std::string namespace_name = "default";
  std::string context{};
  /// What the configuration was found in, for people: a file, or "in-cluster".
  std::string source{};
  std::string user_agent = "gpu-operator";
};

/// Where to look.
struct ConfigSources {
  /// A file given by name (--kubeconfig): the only one then, and it must exist.
  std::string kubeconfig{};
  /// In place of current-context.
  std::string context{};
  net::GetEnv env = &net::ProcessEnv;
  /// For relative paths in KUBECONFIG.
  std::string working_folder = "/";
};

/// Finds the configuration: the file given, else the files in KUBECONFIG (':' between them), else ~/.kube/config, else
/// the Pod's service account. Errors name file and field; kNotFound says where was looked.
Result<ApiConfig> FindConfig(const os::Fs& fs, const ConfigSources& sources);
/// What `config` says about its context `context` (its current one when empty).
Result<ApiConfig> SelectContext(const Kubeconfig& config, const std::string& context, const net::GetEnv& env);
/// The service account of the Pod this runs in; kNotFound when this is no Pod.
Result<ApiConfig> InClusterConfig(const os::Fs& fs, const net::GetEnv& env);

}  // namespace gpuop::kube
