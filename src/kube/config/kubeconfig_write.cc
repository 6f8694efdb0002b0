#include "base/text.h"
#include "data/yaml.h"
#include "kube/config/kubeconfig.h"

namespace gpuop::kube {
namespace {

using data::JsonArray;
using data::JsonObject;

void Put(JsonObject& o, std::string_view name, const std::string& value) {
  if (!value.empty()) o[name] = value;
}
void PutBytes(JsonObject& o, std::string_view name, const std::string& bytes) {
  if (!bytes.empty()) o[name] = Base64Encode(bytes);
}
void PutList(JsonObject& o, std::string_view name, const std::vector<std::string>& values) {
  if (values.empty()) return;
  JsonArray& list = o[name].emplace_array();
  for (const std::string& v : values) list.emplace_back(v);
}

JsonObject Write(const KubeconfigCluster& c) {
  JsonObject o;
  Put(o, "server", c.server);
  Put(o, "certificate-authority", c.certificate_authority);
  PutBytes(o, "certificate-authority-data", c.certificate_authority_data);
  Put(o, "tls-server-name", c.tls_server_name);
  if (c.insecure_skip_tls_verify) o["insecure-skip-tls-verify"] = true;
  Put(o, "proxy-url", c.proxy_url);
  if (c.exec_config)
    o["extensions"] =
        JsonArray{JsonObject{{"name", "client.authentication.k8s.io/exec"}, {"extension", *c.exec_config}}};
  return o;
}

JsonObject Write(const ExecPlugin& e) {
  JsonObject o;
  Put(o, "apiVersion", e.api_version);
  Put(o, "command", e.command);
  PutList(o, "args", e.args);
  if (!e.env.empty()) {
    JsonArray& env = o["env"].emplace_array();
    for (const auto& [name, value] : e.env) env.push_back(JsonObject{{"name", name}, {"value", value}});
  }
  Put(o, "installHint", e.install_hint);
  static constexpr std::string_view kModes[] = {"", "Never", "IfAvailable", "Always"};
  Put(o, "interactiveMode", std::string(kModes[static_cast<std::size_t>(e.interactive_mode)]));
  if (e.provide_cluster_info) o["provideClusterInfo"] = true;
  return o;
}

JsonObject Write(const KubeconfigUser& u) {
  JsonObject o;
  Put(o, "client-certificate", u.client_certificate);
  PutBytes(o, "client-certificate-data", u.client_certificate_data);
  Put(o, "client-key", u.client_key);
  PutBytes(o, "client-key-data", u.client_key_data);
  Put(o, "token", u.token);
  Put(o, "tokenFile", u.token_file);
  Put(o, "username", u.username);
  Put(o, "password", u.password);
  Put(o, "as", u.as);
  Put(o, "as-uid", u.as_uid);
  PutList(o, "as-groups", u.as_groups);
  if (!u.as_user_extra.empty()) {
    JsonObject& extra = o["as-user-extra"].emplace_object();
    for (const auto& [key, values] : u.as_user_extra) {
      extra[key] = JsonArray();
      PutList(extra, key, values);
    }
  }
  if (u.exec) o["exec"] = Write(*u.exec);
  return o;
}

JsonObject Write(const KubeconfigContext& c) {
  JsonObject o;
  Put(o, "cluster", c.cluster);
  Put(o, "user", c.user);
  Put(o, "namespace", c.namespace_name);
  return o;
}

template <class T>
JsonArray WriteNamed(std::string_view member, const std::map<std::string, T>& named) {
  JsonArray list;
  for (const auto& [name, value] : named) list.push_back(JsonObject{{"name", name}, {member, Write(value)}});
  return list;
}

}  // namespace

std::string WriteKubeconfig(const Kubeconfig& config) {
  return data::ToYaml(JsonObject{{"apiVersion", "v1"},
                                 {"kind", "Config"},
                                 {"clusters", WriteNamed("cluster", config.clusters)},
                                 {"contexts", WriteNamed("context", config.contexts)},
                                 {"current-context", config.current_context},
                                 {"users", WriteNamed("user", config.users)}});
}

}  // namespace gpuop::kube
