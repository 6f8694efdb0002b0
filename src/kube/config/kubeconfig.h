#pragma once
// Kubeconfig files (v1 Config, https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/): reading, merging and
// writing, without deciding anything.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "data/json.h"
#include "os/fs.h"

namespace gpuop::kube {

/// A cluster, as a file describes it. Relative paths have been resolved against the file's folder, data decoded.
struct KubeconfigCluster {
  std::string server{};
  std::string tls_server_name{};
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority{};
  std::string certificate_authority_data{};
  std::string proxy_url{};
  /// The extension "client.authentication.k8s.io/exec", meant for an exec plugin.
  std::optional<data::Json> exec_config{};
  /// Where it stands: "/home/x/config: clusters[0].cluster".
  std::string where{};
};

enum class InteractiveMode { kUnset, kNever, kIfAvailable, kAlways };

/// A program that makes credentials (client.authentication.k8s.io).
struct ExecPlugin {
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};
  /// "client.authentication.k8s.io/v1" or "…/v1beta1".
  std::string api_version{};
  std::string install_hint{};
  InteractiveMode interactive_mode = InteractiveMode::kUnset;
  bool provide_cluster_info = false;
};

struct KubeconfigUser {
  std::string client_certificate{}, client_certificate_data{};
  std::string client_key{}, client_key_data{};
  std::string token{}, token_file{};
  std::string username{}, password{};
  std::string as{}, as_uid{};
  std::vector<std::string> as_groups{};
  std::vector<std::pair<std::string, std::vector<std::string>>> as_user_extra{};
  std::optional<ExecPlugin> exec{};
  /// The name of an auth-provider, which is no longer supported anywhere.
  std::string auth_provider{};
  std::string where{};
};

struct KubeconfigContext {
  std::string cluster{}, user{}, namespace_name{};
  std::string where{};
};

/// One file, or several merged.
struct Kubeconfig {
  std::map<std::string, KubeconfigCluster> clusters{};
  std::map<std::string, KubeconfigUser> users{};
  std::map<std::string, KubeconfigContext> contexts{};
  std::string current_context{};
  /// The file that current_context comes from.
  std::string current_context_file{};
};

/// Reads one file's text. Errors: "/home/x/config: clusters[0].cluster.server: expected a string, got a number".
Result<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& file);
/// Reads files in order and merges them as client-go does: for every name, and for current-context, the first file
/// counts. Files that do not exist are passed over; `found` says how many did.
Result<Kubeconfig> ReadKubeconfigs(const os::Fs& fs, const std::vector<std::string>& files, std::size_t& found);
/// A file's text. Members that are empty are left out; what was read from files is written as the paths.
std::string WriteKubeconfig(const Kubeconfig& config);

}  // namespace gpuop::kube
