#include "kube/config/config.h"

#include "base/text.h"
#include "os/fake_fs.h"

namespace gpuop::kube {
namespace {

using Env = std::map<std::string, std::string>;

net::GetEnv From(Env env) {
  return [env = std::move(env)](const std::string& name) {
    auto it = env.find(name);
    return it == env.end() ? std::string() : it->second;
  };
}

// One file's worth of the usual: a cluster, a user, a context.
std::string File(const std::string& cluster, const std::string& user, const std::string& more = "") {
  return "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {" + cluster + "}}]\nusers: [{name: u, user: {" +
         user + "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n" + more;
}

class FindConfigTest : public testing::Test {
 protected:
  Result<ApiConfig> Find(const std::string& text) {
    fs_.Put("/home/x/config", text);
    return FindConfig(fs_, {.kubeconfig = "/home/x/config", .env = From(env_)});
  }
  std::string ErrorOf(const std::string& text) {
    auto found = Find(text);
    return found ? "no error" : found.error().text;
  }

  os::FakeFs fs_;
  Env env_;
};

TEST_F(FindConfigTest, ReadsAllFieldsAndResolvesPathsAgainstTheFilesFolder) {
  auto c = Find(File(
      "server: 'https://api.example:6443/k8s/c1/', certificate-authority: pki/ca.crt, tls-server-name: kubernetes, "
      "proxy-url: 'http://proxy:3128'",
      "client-certificate: /abs/a.crt, client-key: ../a.key, token: t, tokenFile: tok, as: jane, as-uid: '7', "
      "as-groups: [g1, g2], as-user-extra: {scopes: [a, b]}"));
  ASSERT_TRUE(c) << c.error().text;
  EXPECT_EQ(c->server.Origin(), "https://api.example:6443");
  EXPECT_EQ(c->server.path, "/k8s/c1");
  EXPECT_EQ(c->tls.ca.file, "/home/x/pki/ca.crt");
  EXPECT_EQ(c->tls.server_name, "kubernetes");
  EXPECT_EQ(c->proxy, "http://proxy:3128");
  EXPECT_EQ(c->tls.certificate.file, "/abs/a.crt");
  EXPECT_EQ(c->tls.key.file, "/home/x/../a.key");
  EXPECT_EQ(c->token, "t");
  EXPECT_EQ(c->token_file, "/home/x/tok");
  EXPECT_EQ(c->impersonation.user, "jane");
  EXPECT_EQ(c->impersonation.uid, "7");
  EXPECT_EQ(c->impersonation.groups, (std::vector<std::string>{"g1", "g2"}));
  EXPECT_EQ(c->impersonation.extra[0].second, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(c->namespace_name, "default");
  EXPECT_EQ(c->context, "x");
  EXPECT_EQ(c->source, "/home/x/config");
}

TEST_F(FindConfigTest, DataCountsBeforeAFile) {
  auto c =
      Find(File("server: 'https://a', certificate-authority: ca.crt, certificate-authority-data: " + Base64Encode("CA"),
                "client-certificate-data: " + Base64Encode("CERT") + ", client-key-data: " + Base64Encode("KEY") +
                    ", client-key: x"));
  ASSERT_TRUE(c) << c.error().text;
  EXPECT_EQ(c->tls.ca.text, "CA");
  EXPECT_EQ(c->tls.ca.file, "");
  EXPECT_EQ(c->tls.certificate.text, "CERT");
  EXPECT_EQ(c->tls.key.text, "KEY");
}

TEST_F(FindConfigTest, ReadsAnExecPlugin) {
  auto c = Find(
      File("server: 'https://a', extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: me}}]",
           "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [a, b], "
           "env: [{name: A, value: b}], installHint: get it, provideClusterInfo: true, interactiveMode: IfAvailable}"));
  ASSERT_TRUE(c) << c.error().text;
  ASSERT_TRUE(c->exec);
  EXPECT_EQ(c->exec->command, "/home/x/./bin/login");
  EXPECT_EQ(c->exec->args, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(c->exec->env, (std::vector<std::pair<std::string, std::string>>{{"A", "b"}}));
  EXPECT_EQ(c->exec->install_hint, "get it");
  EXPECT_TRUE(c->exec->provide_cluster_info);
  EXPECT_EQ(data::StringOr(*c->exec_config, "audience"), "me");
}

TEST_F(FindConfigTest, ErrorsNameFileAndField) {
  const std::string at = "/home/x/config: ";
  const std::string good = "server: 'https://a'";
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never";
  const std::pair<std::string, std::string> cases[] = {
      {"", at + "holds no configuration"},
      {"- a", at + "expected an object, got an array"},
      {"a: [", at + "yaml: line 1: "},
      {"kind: Pod\napiVersion: v1", at + "is a v1 Pod, not a v1 Config"},
      {"clusters: {}\ncurrent-context: x", at + "clusters: expected an array, got an object"},
      {"clusters: [7]\ncurrent-context: x", at + "clusters[0]: expected an object, got a number"},
      {"clusters: [{name: a, cluster: 7}]", at + "clusters[0].cluster: expected an object, got a number"},
      {"clusters: [{name: a}, {name: a}]", at + "clusters[1].name: \"a\" is there twice"},
      {"current-context: gone", at + "current-context: no context named \"gone\""},
      {"contexts: [{name: x, context: {}}]", ": current-context: must be set"},
      {"contexts: [{name: x, context: {cluster: b}}]\ncurrent-context: x",
       at + "contexts[0].context.cluster: no cluster named \"b\""},
      {"contexts: [{name: x, context: {user: b}}]\ncurrent-context: x",
       at + "contexts[0].context.cluster: must be set"},
      {"clusters: [{name: c, cluster: {server: a}}]\ncontexts: [{name: x, context: {cluster: c, user: "
       "b}}]\ncurrent-context: x",
       at + "contexts[0].context.user: no user named \"b\""},
      {File("", ""), at + "clusters[0].cluster.server: must be set"},
      {File("server: 7", ""), at + "clusters[0].cluster.server: expected a string, got a number"},
      {File("server: 'ftp://a'", ""),
       at + "clusters[0].cluster.server: URL \"ftp://a\": scheme \"ftp\" is neither http nor https"},
      {File(good + ", insecure-skip-tls-verify: 'yes'", ""),
       at + "clusters[0].cluster.insecure-skip-tls-verify: expected true or false, got a string"},
      {File(good + ", insecure-skip-tls-verify: true, certificate-authority: a", ""),
       at + "clusters[0].cluster.insecure-skip-tls-verify: cannot be used together with a certificate authority"},
      {File(good + ", certificate-authority-data: '%'", ""),
       at + "clusters[0].cluster.certificate-authority-data: not base64"},
      {File(good + ", proxy-url: 'http://:1'", ""), at + "clusters[0].cluster.proxy-url: URL \"http://:1\": no host"},
      {File(good, "client-key: a"), at + "users[0].user.client-certificate: must be set, because client-key is"},
      {File(good, "client-certificate: a"),
       at + "users[0].user.client-key: must be set, because client-certificate is"},
      {File(good, "username: a, token: b"), at + "users[0].user.username: cannot be used together with a token"},
      {File(good, "as-groups: [a]"), at + "users[0].user.as: must be set, because other impersonation fields are"},
      {File(good, "as: a, as-groups: [1]"), at + "users[0].user.as-groups[0]: expected a string, got a number"},
      {File(good, "as: a, as-user-extra: {k: v}"),
       at + "users[0].user.as-user-extra.k: expected an array, got a string"},
      {File(good, "auth-provider: {name: gcp}"), at + "users[0].user.auth-provider: \"gcp\": auth providers were "
                                                      "removed from Kubernetes in 1.26; use an exec plugin"},
      {File(good, "exec: {apiVersion: client.authentication.k8s.io/v1}"),
       at + "users[0].user.exec.command: must be set"},
      {File(good, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
       at + "users[0].user.exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not supported, only "
            "client.authentication.k8s.io/v1 and v1beta1 are"},
      {File(good, "exec: {apiVersion: client.authentication.k8s.io/v1, command: x}"),
       at + "users[0].user.exec.interactiveMode: must be set with client.authentication.k8s.io/v1"},
      {File(good, "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}"),
       at + "users[0].user.exec.interactiveMode: x wants to ask a person (Always), and there is no terminal here"},
      {File(good, exec + ", env: [a]}"), at + "users[0].user.exec.env[0]: expected an object"},
      {File(good, exec + ", args: [{}]}"), at + "users[0].user.exec.args[0]: expected a string, got an object"},
  };
  for (const auto& [text, want] : cases) {
    const std::string got = ErrorOf(text);
    EXPECT_TRUE(got.starts_with(want)) << "for: " << text << "\n got: " << got << "\nwant: " << want;
  }
}

TEST_F(FindConfigTest, HostileFilesAreErrorsToo) {
  const std::string deep = "a: " + std::string(100'000, '[');
  EXPECT_TRUE(ErrorOf(deep).starts_with("/home/x/config: yaml: ")) << ErrorOf(deep).substr(0, 200);
  EXPECT_LT(ErrorOf(deep).size(), 300U);
  EXPECT_TRUE(ErrorOf(std::string(5 << 20, ' ')).starts_with("/home/x/config: "));
  EXPECT_TRUE(ErrorOf(std::string("\0\xff\xfe", 3)).starts_with("/home/x/config: "));
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int n = 1; n < 10; ++n) bomb += "," + before;
    bomb += "]\n";
  }
  EXPECT_TRUE(ErrorOf(bomb).starts_with("/home/x/config: yaml: ")) << ErrorOf(bomb).substr(0, 200);
}

TEST_F(FindConfigTest, TheFirstFileCountsForEveryName) {
  fs_.Put("/a/config", "clusters: [{name: c, cluster: {server: 'https://first', certificate-authority: ca}}]\n");
  fs_.Put("/b/config",
          "clusters: [{name: c, cluster: {server: 'https://second'}}, {name: d, cluster: {server: 'https://d', "
          "certificate-authority: ca}}]\ncontexts: [{name: x, context: {cluster: c, namespace: prod}}, {name: why, "
          "context: "
          "{cluster: d}}]\ncurrent-context: x\n");
  env_["KUBECONFIG"] = "/nowhere::/a/config:b/config";
  const ConfigSources sources{.env = From(env_)};
  auto c = FindConfig(fs_, sources);
  ASSERT_TRUE(c) << c.error().text;
  EXPECT_EQ(c->server.host, "first");
  EXPECT_EQ(c->tls.ca.file, "/a/ca");
  EXPECT_EQ(c->namespace_name, "prod");
  auto d = FindConfig(fs_, {.context = "why", .env = From(env_)});
  ASSERT_TRUE(d) << d.error().text;
  EXPECT_EQ(d->tls.ca.file, "/b/ca");
  EXPECT_EQ(FindConfig(fs_, {.context = "z", .env = From(env_)}).error().text, "context: no context named \"z\"");
}

TEST_F(FindConfigTest, LooksInTheHomeFolderAndThenInThePod) {
  env_["HOME"] = "/home/x";
  const ConfigSources nothing{.env = From(env_)};
  EXPECT_EQ(
      FindConfig(fs_, nothing).error(),
      (Error{Code::kNotFound,
             "no Kubernetes configuration: /home/x/.kube/config not there, and not in a Pod: KUBERNETES_SERVICE_HOST "
             "and KUBERNETES_SERVICE_PORT are not set"}));
  env_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  env_["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_TRUE(FindConfig(fs_, {.env = From(env_)}).error().text.starts_with("in-cluster configuration: "));
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
  fs_.Put(folder + "token", "t\n");
  fs_.Put(folder + "namespace", "gpu-operator\n");
  auto pod = FindConfig(fs_, {.env = From(env_)});
  ASSERT_TRUE(pod) << pod.error().text;
  EXPECT_EQ(pod->server.Origin(), "https://[fd00::1]");
  EXPECT_EQ(pod->token_file, folder + "token");
  EXPECT_EQ(pod->tls.ca.file, folder + "ca.crt");
  EXPECT_EQ(pod->namespace_name, "gpu-operator");
  EXPECT_EQ(pod->source, "in-cluster");
  fs_.Put("/home/x/.kube/config", File("server: 'https://home'", ""));
  EXPECT_EQ(FindConfig(fs_, {.env = From(env_)})->server.host, "home");
}

TEST_F(FindConfigTest, AFileGivenByNameMustExist) {
  EXPECT_EQ(FindConfig(fs_, {.kubeconfig = "x", .env = From({}), .working_folder = "/w"}).error().text,
            "/w/x: no such file");
}

TEST_F(FindConfigTest, TheEnvironmentsProxyIsForThoseWithoutOne) {
  env_["HTTPS_PROXY"] = "http://p:1";
  env_["NO_PROXY"] = ".example";
  EXPECT_EQ(Find(File("server: 'https://a'", ""))->proxy, "http://p:1");
  EXPECT_EQ(Find(File("server: 'https://a.example'", ""))->proxy, "");
  EXPECT_EQ(Find(File("server: 'https://a', proxy-url: 'http://q:1'", ""))->proxy, "http://q:1");
}

TEST(WriteKubeconfigTest, IsReadBackTheSame) {
  Kubeconfig out;
  out.clusters["sim"] = {.server = "https://127.0.0.1:6443", .certificate_authority_data = "CA\n"};
  out.users["admin"] = {.client_certificate_data = "C",
                        .client_key_data = "K",
                        .as = "a",
                        .as_groups = {"g"},
                        .as_user_extra = {{"k", {"v", "w"}}}};
  out.users["exec"] = {.exec = ExecPlugin{.command = "/bin/x",
                                          .args = {"1"},
                                          .env = {{"A", "b"}},
                                          .api_version = "v",
                                          .install_hint = "h",
                                          .interactive_mode = InteractiveMode::kNever,
                                          .provide_cluster_info = true}};
  out.contexts["sim"] = {.cluster = "sim", .user = "admin", .namespace_name = "n"};
  out.current_context = "sim";
  const std::string text = WriteKubeconfig(out);
  auto in = ParseKubeconfig(text, "/f");
  ASSERT_TRUE(in) << in.error().text << text;
  EXPECT_EQ(WriteKubeconfig(*in), text);
  EXPECT_EQ(in->clusters["sim"].certificate_authority_data, "CA\n");
  EXPECT_EQ(in->users["admin"].as_user_extra, out.users["admin"].as_user_extra);
  EXPECT_EQ(in->users["exec"].exec->env, out.users["exec"].exec->env);
  EXPECT_EQ(in->contexts["sim"].namespace_name, "n");
  EXPECT_EQ(in->current_context, "sim");
}

}  // namespace
}  // namespace gpuop::kube
