#include "kube/config/credentials.h"

#include <fmt/core.h>
#include <unistd.h>

#include "base/text.h"
#include "net/http.h"

namespace gpuop::kube {
namespace {

constexpr Duration kReadTokenAgain = std::chrono::seconds(10);
constexpr Duration kPluginLimit = std::chrono::seconds(60);

Result<std::string> Bearer(std::string_view token, const std::string& from) {
  token = Trim(token);
  if (token.empty()) return Fail(Code::kInvalid, from + ": the token is empty");
  if (!net::IsHeaderValue(token)) return Fail(Code::kInvalid, from + ": the token has a character that no token has");
  return "Bearer " + std::string(token);
}

}  // namespace

Credentials::Credentials(const ApiConfig& config, const os::Fs& fs, os::Processes& processes, const Clock& clock)
    : config_(config), fs_(fs), processes_(processes), clock_(clock) {}

// A file that cannot be read just now leaves the last token in use: it may well be good still.
Result<> Credentials::ReadTokenFile() {
  const TimePoint now = clock_.Now();
  if (file_read_ && now - *file_read_ < kReadTokenAgain) return {};
  auto text = fs_.Read(config_.token_file);
  auto header =
      text ? Bearer(*text, config_.token_file) : Result<std::string>(std::unexpected(std::move(text).error()));
  if (!header && !have_ && !config_.token.empty()) header = Bearer(config_.token, "token");
  if (!header && have_) return {};
  if (!header) return std::unexpected(std::move(header).error().During("token file"));
  file_read_ = now;
  if (shown_.authorization != *header) ++shown_.serial;
  shown_.authorization = *std::move(header);
  have_ = true;
  return {};
}

Result<std::optional<ShownCredentials>> Credentials::Ready() {
  Lock l(mu_);
  if (!config_.token_file.empty()) {
    TRY(ReadTokenFile());
  } else if (!config_.token.empty()) {
    ASSIGN(shown_.authorization, Bearer(config_.token, config_.source + ": token"));
  } else if (!config_.username.empty()) {
    shown_.authorization = "Basic " + Base64Encode(config_.username + ":" + config_.password);
  } else if (config_.exec && (!have_ || (expires_ && *expires_ <= clock_.Wall()))) {
    return std::nullopt;
  }
  return shown_;
}

Result<ShownCredentials> Credentials::Get(std::stop_token stop) {
  ASSIGN(std::optional<ShownCredentials> ready, Ready());
  if (ready) return *std::move(ready);
  Lock one_at_a_time(plugin_);
  ASSIGN(ready, Ready());  // somebody else may have run it meanwhile
  if (ready) return *std::move(ready);
  std::optional<WallTime> expires;
  ASSIGN(ShownCredentials made, RunPlugin(stop, expires));
  Lock l(mu_);
  made.serial = shown_.serial + 1;
  shown_ = std::move(made);
  expires_ = expires;
  have_ = true;
  return shown_;
}

bool Credentials::Refused(std::uint64_t serial) {
  Lock l(mu_);
  if (shown_.serial != serial) return true;  // there is something newer already
  if (!config_.token_file.empty()) {
    file_read_.reset();
    return ReadTokenFile() && shown_.serial != serial;
  }
  if (!config_.token.empty() || !config_.username.empty() || !config_.exec) return false;
  have_ = false;
  return true;
}

Result<std::string> Credentials::ExecInfo() const {
  data::JsonObject spec{{"interactive", false}};
  if (config_.exec->provide_cluster_info) {
    data::JsonObject& cluster = spec["cluster"].emplace_object();
    cluster["server"] = config_.server.Origin() + config_.server.path;
    if (!config_.tls.server_name.empty()) cluster["tls-server-name"] = config_.tls.server_name;
    if (config_.tls.insecure_skip_verify) cluster["insecure-skip-tls-verify"] = true;
    std::string ca = config_.tls.ca.text;
    if (!config_.tls.ca.file.empty()) {
      ASSIGN(ca, fs_.Read(config_.tls.ca.file));
    }
    if (!ca.empty()) cluster["certificate-authority-data"] = Base64Encode(ca);
    if (!config_.proxy.empty()) cluster["proxy-url"] = config_.proxy;
    if (config_.exec_config) cluster["config"] = *config_.exec_config;
  }
  return data::ToJson(data::JsonObject{
      {"kind", "ExecCredential"}, {"apiVersion", config_.exec->api_version}, {"spec", std::move(spec)}});
}

// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
Result<ShownCredentials> Credentials::RunPlugin(const std::stop_token& stop, std::optional<WallTime>& expires) const {
  const ExecPlugin& plugin = *config_.exec;
  const std::string name = "exec plugin " + plugin.command;
  os::Command command{.argv = {plugin.command}, .env = os::OwnEnvironment(), .limit = kPluginLimit};
  command.argv.insert(command.argv.end(), plugin.args.begin(), plugin.args.end());
  for (const auto& [key, value] : plugin.env) (*command.env)[key] = value;
  ASSIGN((*command.env)["KUBERNETES_EXEC_INFO"], ExecInfo());
  auto exit = processes_.Run(command, stop);
  if (!exit && exit.error().code == Code::kNotFound)
    return Fail(Code::kNotFound, fmt::format("{}: no such program{}{}", name, plugin.install_hint.empty() ? "" : "\n",
                                             plugin.install_hint));
  if (!exit) return std::unexpected(std::move(exit).error().During(name));
  if (!exit->ok()) return Fail(Code::kUnavailable, name + ": " + exit->Describe());
  auto answer = data::ParseJson(exit->out);
  if (!answer) return Fail(Code::kInvalid, name + ": its answer: " + answer.error().text);
  if (data::StringOr(*answer, "kind") != "ExecCredential" ||
      data::StringOr(*answer, "apiVersion") != plugin.api_version)
    return Fail(Code::kInvalid, fmt::format("{}: its answer is no ExecCredential of {}", name, plugin.api_version));
  ShownCredentials made;
  if (const auto token = data::StringOr(*answer, "status.token"); !token.empty()) {
    ASSIGN(made.authorization, Bearer(token, name));
  }
  made.certificate.text = data::StringOr(*answer, "status.clientCertificateData");
  made.key.text = data::StringOr(*answer, "status.clientKeyData");
  if (made.certificate.empty() != made.key.empty())
    return Fail(Code::kInvalid, name + ": its answer has a certificate without a key, or a key without a certificate");
  if (made.authorization.empty() && made.certificate.empty())
    return Fail(Code::kInvalid, name + ": its answer has neither a token nor a certificate");
  const std::string until(data::StringOr(*answer, "status.expirationTimestamp"));
  expires = ParseTime(until);
  if (!until.empty() && !expires)
    return Fail(Code::kInvalid, name + ": status.expirationTimestamp: not an RFC 3339 time");
  return made;
}

}  // namespace gpuop::kube
