#include "kube/config/config.h"

#include <fmt/core.h>

#include "base/text.h"

namespace gpuop::kube {
namespace {

constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

std::unexpected<Error> Wrong(const std::string& where, std::string_view field, std::string_view what) {
  return Fail(Code::kInvalid, fmt::format("{}.{}: {}", where, field, what));
}

// Data counts before a file, as in client-go.
net::Pem DataOrFile(const std::string& data, const std::string& file) {
  return data.empty() ? net::Pem{.text = {}, .file = file} : net::Pem{.text = data, .file = {}};
}

Result<> TakeCluster(const KubeconfigCluster& c, const net::GetEnv& env, ApiConfig& out) {
  if (c.server.empty()) return Wrong(c.where, "server", "must be set");
  auto server = net::ParseUrl(c.server);
  if (!server) return Wrong(c.where, "server", server.error().text);
  out.server = *std::move(server);
  out.tls.ca = DataOrFile(c.certificate_authority_data, c.certificate_authority);
  out.tls.server_name = c.tls_server_name;
  out.tls.insecure_skip_verify = c.insecure_skip_tls_verify;
  if (c.insecure_skip_tls_verify && !out.tls.ca.empty())
    return Wrong(c.where, "insecure-skip-tls-verify", "cannot be used together with a certificate authority");
  out.exec_config = c.exec_config;
  out.proxy = c.proxy_url;
  if (out.proxy.empty()) {
    out.proxy = net::ProxyFromEnvironment(out.server, env);
  } else if (auto proxy = net::ParseUrl(out.proxy); !proxy) {
    return Wrong(c.where, "proxy-url", proxy.error().text);
  }
  return {};
}

Result<> CheckExec(const KubeconfigUser& u) {
  const std::string where = u.where + ".exec";
  const ExecPlugin& e = *u.exec;
  const bool v1 = e.api_version == "client.authentication.k8s.io/v1";
  if (!v1 && e.api_version != "client.authentication.k8s.io/v1beta1")
    return Wrong(
        where, "apiVersion",
        fmt::format("\"{}\" is not supported, only client.authentication.k8s.io/v1 and v1beta1 are", e.api_version));
  if (v1 && e.interactive_mode == InteractiveMode::kUnset)
    return Wrong(where, "interactiveMode", "must be set with client.authentication.k8s.io/v1");
  if (e.interactive_mode == InteractiveMode::kAlways)
    return Wrong(where, "interactiveMode",
                 fmt::format("{} wants to ask a person (Always), and there is no terminal here", e.command));
  return {};
}

Result<> TakeUser(const KubeconfigUser& u, ApiConfig& out) {
  if (!u.auth_provider.empty())
    return Wrong(u.where, "auth-provider",
                 fmt::format("\"{}\": auth providers were removed from Kubernetes in 1.26; use an exec plugin",
                             u.auth_provider));
  out.tls.certificate = DataOrFile(u.client_certificate_data, u.client_certificate);
  out.tls.key = DataOrFile(u.client_key_data, u.client_key);
  if (out.tls.certificate.empty() && !out.tls.key.empty())
    return Wrong(u.where, "client-certificate", "must be set, because client-key is");
  if (out.tls.key.empty() && !out.tls.certificate.empty())
    return Wrong(u.where, "client-key", "must be set, because client-certificate is");
  out.token = u.token;
  out.token_file = u.token_file;
  out.username = u.username;
  out.password = u.password;
  if (!u.username.empty() && (!u.token.empty() || !u.token_file.empty()))
    return Wrong(u.where, "username", "cannot be used together with a token");
  if (u.as.empty() && (!u.as_uid.empty() || !u.as_groups.empty() || !u.as_user_extra.empty()))
    return Wrong(u.where, "as", "must be set, because other impersonation fields are");
  out.impersonation = {.user = u.as, .uid = u.as_uid, .groups = u.as_groups, .extra = u.as_user_extra};
  if (u.exec) {
    TRY(CheckExec(u));
    out.exec = u.exec;
  }
  return {};
}

// A user that is not named at all is nobody in particular; one that is named must exist.
Result<ApiConfig> Assemble(const Kubeconfig& config, const KubeconfigContext& context, const net::GetEnv& env) {
  ApiConfig out;
  const auto cluster = config.clusters.find(context.cluster);
  if (context.cluster.empty()) return Wrong(context.where, "cluster", "must be set");
  if (cluster == config.clusters.end())
    return Wrong(context.where, "cluster", fmt::format("no cluster named \"{}\"", context.cluster));
  TRY(TakeCluster(cluster->second, env, out));
  if (!context.user.empty()) {
    const auto user = config.users.find(context.user);
    if (user == config.users.end())
      return Wrong(context.where, "user", fmt::format("no user named \"{}\"", context.user));
    TRY(TakeUser(user->second, out));
  }
  if (!context.namespace_name.empty()) out.namespace_name = context.namespace_name;
  return out;
}

std::string Absolute(std::string_view path, const std::string& folder) {
  return path.starts_with('/') ? std::string(path) : folder + (folder.ends_with('/') ? "" : "/") + std::string(path);
}

std::vector<std::string> FilesOf(const ConfigSources& sources) {
  if (!sources.kubeconfig.empty()) return {Absolute(sources.kubeconfig, sources.working_folder)};
  std::vector<std::string> files;
  const std::string listed = sources.env("KUBECONFIG");
  if (!listed.empty()) {
    for (std::string_view file : Split(listed, ':'))
      if (!file.empty()) files.push_back(Absolute(file, sources.working_folder));
  } else if (const std::string home = sources.env("HOME"); !home.empty()) {
    files.push_back(home + "/.kube/config");
  }
  return files;
}

}  // namespace

Result<ApiConfig> SelectContext(const Kubeconfig& config, const std::string& context, const net::GetEnv& env) {
  const std::string& name = context.empty() ? config.current_context : context;
  const std::string asked = context.empty() ? config.current_context_file + ": current-context" : "context";
  if (name.empty()) return Fail(Code::kInvalid, asked + ": must be set");
  const auto found = config.contexts.find(name);
  if (found == config.contexts.end())
    return Fail(Code::kInvalid, fmt::format("{}: no context named \"{}\"", asked, name));
  ASSIGN(ApiConfig out, Assemble(config, found->second, env));
  out.context = name;
  out.source = found->second.where.substr(0, found->second.where.find(": "));
  return out;
}

Result<ApiConfig> InClusterConfig(const os::Fs& fs, const net::GetEnv& env) {
  const std::string host = env("KUBERNETES_SERVICE_HOST");
  const std::string port = env("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    return Fail(Code::kNotFound, "not in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  ApiConfig out;
  const std::string folder(kServiceAccount);
  auto url = net::ParseUrl("https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port);
  if (!url) return std::unexpected(std::move(url).error().During("KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT"));
  out.server = *std::move(url);
  out.token_file = folder + "/token";
  auto token = fs.Read(out.token_file);
  if (!token) return std::unexpected(std::move(token).error().During("in-cluster configuration"));
  out.tls.ca.file = folder + "/ca.crt";
  out.proxy = net::ProxyFromEnvironment(out.server, env);
  if (auto ns = fs.Read(folder + "/namespace"); ns && !Trim(*ns).empty()) out.namespace_name = Trim(*ns);
  out.source = "in-cluster";
  return out;
}

Result<ApiConfig> FindConfig(const os::Fs& fs, const ConfigSources& sources) {
  const std::vector<std::string> files = FilesOf(sources);
  std::size_t found = 0;
  ASSIGN(const Kubeconfig config, ReadKubeconfigs(fs, files, found));
  if (!sources.kubeconfig.empty() && found == 0) return Fail(Code::kNotFound, files[0] + ": no such file");
  const bool empty = config.contexts.empty() && config.clusters.empty() && config.current_context.empty();
  if (!empty) return SelectContext(config, sources.context, sources.env);
  if (!sources.kubeconfig.empty()) return Fail(Code::kInvalid, files[0] + ": holds no configuration");
  auto in_cluster = InClusterConfig(fs, sources.env);
  if (in_cluster || in_cluster.error().code != Code::kNotFound || !sources.env("KUBERNETES_SERVICE_HOST").empty())
    return in_cluster;
  return Fail(Code::kNotFound, fmt::format("no Kubernetes configuration: {}, and {}",
                                           files.empty() ? "neither KUBECONFIG nor HOME is set"
                                           : found == 0  ? Join(files, " and ") + " not there"
                                                         : Join(files, " and ") + " empty",
                                           in_cluster.error().text));
}

}  // namespace gpuop::kube
