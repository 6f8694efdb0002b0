#include <fmt/core.h>

#include "base/text.h"
#include "data/yaml.h"
#include "kube/config/kubeconfig.h"

namespace gpuop::kube {
namespace {

using data::Json;
using data::JsonArray;
using data::JsonObject;

// Reads the members of one object; the first thing that is wrong stays, named by its path.
class Members {
 public:
  Members(const JsonObject& in, std::string where, std::string folder)
      : in_(in), where_(std::move(where)), folder_(std::move(folder)) {}

  const Json* Get(std::string_view name) const {
    const Json* v = in_.if_contains(name);
    return v == nullptr || v->is_null() ? nullptr : v;
  }
  std::string String(std::string_view name) {
    const Json* v = Get(name);
    if (v == nullptr) return "";
    if (v->is_string()) return std::string(data::AsView(v->get_string()));
    WrongKind(name, "a string", *v);
    return "";
  }
  bool Bool(std::string_view name) {
    const Json* v = Get(name);
    if (v == nullptr) return false;
    if (v->is_bool()) return v->get_bool();
    WrongKind(name, "true or false", *v);
    return false;
  }
  /// A path, relative ones to the file's folder.
  std::string Path(std::string_view name) {
    std::string path = String(name);
    return path.empty() || path[0] == '/' ? path : folder_ + "/" + path;
  }
  /// Bytes written in base64.
  std::string Bytes(std::string_view name) {
    auto bytes = Base64Decode(String(name));
    if (!bytes) Wrong(name, "not base64");
    return std::move(bytes).value_or("");
  }
  std::vector<std::string> Strings(std::string_view name) {
    std::vector<std::string> all;
    const JsonArray* list = List(name);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if ((*list)[i].is_string())
        all.emplace_back(data::AsView((*list)[i].get_string()));
      else
        WrongKind(fmt::format("{}[{}]", name, i), "a string", (*list)[i]);
    }
    return all;
  }
  const JsonArray* List(std::string_view name) {
    const Json* v = Get(name);
    if (v == nullptr) return nullptr;
    if (!v->is_array()) WrongKind(name, "an array", *v);
    return v->if_array();
  }
  const JsonObject* Object(std::string_view name) {
    const Json* v = Get(name);
    if (v == nullptr) return nullptr;
    if (!v->is_object()) WrongKind(name, "an object", *v);
    return v->if_object();
  }
  std::string Where(std::string_view name) const {
    return fmt::format("{}{}{}", where_, where_.ends_with(": ") ? "" : ".", name);
  }
  void Wrong(std::string_view name, std::string_view what) {
    if (status_) status_ = Fail(Code::kInvalid, fmt::format("{}: {}", Where(name), what));
  }
  void Take(const Result<>& status) {
    if (status_ && !status) status_ = status;
  }
  Result<> status() const { return status_; }

 private:
  void WrongKind(std::string_view name, std::string_view want, const Json& got) {
    Wrong(name, fmt::format("expected {}, got {}", want, data::KindName(got)));
  }

  const JsonObject& in_;
  std::string where_;
  std::string folder_;
  Result<> status_{};
};

Result<> Read(Members& m, const std::string& /*folder*/, KubeconfigCluster& c) {
  c.server = m.String("server");
  c.tls_server_name = m.String("tls-server-name");
  c.insecure_skip_tls_verify = m.Bool("insecure-skip-tls-verify");
  c.certificate_authority = m.Path("certificate-authority");
  c.certificate_authority_data = m.Bytes("certificate-authority-data");
  c.proxy_url = m.String("proxy-url");
  if (const JsonArray* extensions = m.List("extensions"))
    for (const Json& e : *extensions)
      if (data::GetString(e, "name") == "client.authentication.k8s.io/exec")
        if (const Json* extension = data::Find(e, "extension")) c.exec_config = *extension;
  return m.status();
}

Result<> ReadExec(Members& m, ExecPlugin& exec, const std::string& folder) {
  exec.command = m.String("command");
  if (exec.command.empty()) m.Wrong("command", "must be set");
  // A bare name is looked for in PATH.
  if (exec.command.find('/') != std::string::npos && exec.command[0] != '/') exec.command = folder + "/" + exec.command;
  exec.args = m.Strings("args");
  exec.api_version = m.String("apiVersion");
  exec.install_hint = m.String("installHint");
  exec.provide_cluster_info = m.Bool("provideClusterInfo");
  const std::string mode = m.String("interactiveMode");
  if (mode == "Never")
    exec.interactive_mode = InteractiveMode::kNever;
  else if (mode == "IfAvailable")
    exec.interactive_mode = InteractiveMode::kIfAvailable;
  else if (mode == "Always")
    exec.interactive_mode = InteractiveMode::kAlways;
  else if (!mode.empty())
    m.Wrong("interactiveMode", fmt::format("\"{}\" is none of Never, IfAvailable, Always", mode));
  const JsonArray* env = m.List("env");
  for (std::size_t i = 0; env != nullptr && i < env->size(); ++i) {
    const std::string name = fmt::format("env[{}]", i);
    if (!(*env)[i].is_object()) {
      m.Wrong(name, "expected an object");
      continue;
    }
    Members pair((*env)[i].get_object(), m.Where(name), folder);
    exec.env.emplace_back(pair.String("name"), pair.String("value"));
    m.Take(pair.status());
  }
  return m.status();
}

Result<> Read(Members& m, const std::string& folder, KubeconfigUser& u) {
  u.client_certificate = m.Path("client-certificate");
  u.client_certificate_data = m.Bytes("client-certificate-data");
  u.client_key = m.Path("client-key");
  u.client_key_data = m.Bytes("client-key-data");
  u.token = m.String("token");
  u.token_file = m.Path("tokenFile");
  u.username = m.String("username");
  u.password = m.String("password");
  u.as = m.String("as");
  u.as_uid = m.String("as-uid");
  u.as_groups = m.Strings("as-groups");
  if (const JsonObject* extra = m.Object("as-user-extra")) {
    Members values(*extra, m.Where("as-user-extra"), folder);
    for (const auto& [key, _] : *extra) u.as_user_extra.emplace_back(key, values.Strings(key));
    m.Take(values.status());
  }
  if (const JsonObject* provider = m.Object("auth-provider")) {
    Members p(*provider, m.Where("auth-provider"), folder);
    u.auth_provider = p.String("name");
    if (u.auth_provider.empty()) u.auth_provider = "?";
  }
  if (const JsonObject* exec = m.Object("exec")) {
    Members e(*exec, m.Where("exec"), folder);
    m.Take(ReadExec(e, u.exec.emplace(), folder));
  }
  return m.status();
}

Result<> Read(Members& m, const std::string& /*folder*/, KubeconfigContext& c) {
  c.cluster = m.String("cluster");
  c.user = m.String("user");
  c.namespace_name = m.String("namespace");
  return m.status();
}

// [{name: …, <member>: {…}}, …]
template <class T>
Result<> ReadNamed(Members& top, const std::string& file, const std::string& folder, std::string_view list_name,
                   std::string_view member, std::map<std::string, T>& out) {
  const JsonArray* list = top.List(list_name);
  TRY(top.status());
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string where = fmt::format("{}: {}[{}]", file, list_name, i);
    const JsonObject* entry = (*list)[i].if_object();
    if (entry == nullptr)
      return Fail(Code::kInvalid, fmt::format("{}: expected an object, got {}", where, data::KindName((*list)[i])));
    Members named(*entry, where, folder);
    const std::string name = named.String("name");
    T value;
    value.where = named.Where(member);
    if (const JsonObject* inner = named.Object(member)) {
      Members m(*inner, value.where, folder);
      named.Take(Read(m, folder, value));
    }
    TRY(named.status());
    if (!out.emplace(name, std::move(value)).second)
      return Fail(Code::kInvalid, fmt::format("{}.name: \"{}\" is there twice", where, name));
  }
  return {};
}

std::string FolderOf(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "" : file.substr(0, slash);
}

}  // namespace

Result<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& file) {
  auto parsed = data::ParseYaml(text);
  if (!parsed) return std::unexpected(std::move(parsed).error().During(file));
  Kubeconfig config;
  if (parsed->is_null()) return config;
  if (!parsed->is_object())
    return Fail(Code::kInvalid, fmt::format("{}: expected an object, got {}", file, data::KindName(*parsed)));
  const std::string folder = FolderOf(file);
  Members top(parsed->get_object(), file + ": ", folder);
  const std::string kind = std::string(data::StringOr(*parsed, "kind"));
  const std::string version = std::string(data::StringOr(*parsed, "apiVersion"));
  if ((!kind.empty() && kind != "Config") || (!version.empty() && version != "v1"))
    return Fail(Code::kInvalid, fmt::format("{}: is a {} {}, not a v1 Config", file, version, kind));
  TRY(ReadNamed(top, file, folder, "clusters", "cluster", config.clusters));
  TRY(ReadNamed(top, file, folder, "users", "user", config.users));
  TRY(ReadNamed(top, file, folder, "contexts", "context", config.contexts));
  config.current_context = top.String("current-context");
  config.current_context_file = file;
  TRY(top.status());
  return config;
}

Result<Kubeconfig> ReadKubeconfigs(const os::Fs& fs, const std::vector<std::string>& files, std::size_t& found) {
  Kubeconfig all;
  found = 0;
  for (const std::string& file : files) {
    auto text = fs.Read(file);
    if (!text && text.error().code == Code::kNotFound) continue;
    if (!text) return std::unexpected(std::move(text).error());
    ++found;
    ASSIGN(Kubeconfig one, ParseKubeconfig(*text, file));
    // merge keeps what is there: the first file counts.
    all.clusters.merge(one.clusters);
    all.users.merge(one.users);
    all.contexts.merge(one.contexts);
    if (all.current_context.empty() && !one.current_context.empty()) {
      all.current_context = std::move(one.current_context);
      all.current_context_file = file;
    }
  }
  return all;
}

}  // namespace gpuop::kube
