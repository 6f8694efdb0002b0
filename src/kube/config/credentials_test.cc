#include "kube/config/credentials.h"

#include "base/text.h"
#include "os/fake_fs.h"

namespace gpuop::kube {
namespace {

using std::chrono::minutes;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

class CredentialsTest : public testing::Test {
 protected:
  Credentials& Make() { return credentials_.emplace(config_, fs_, processes_, clock_); }
  std::string Shown() {
    auto shown = credentials_->Get({});
    return shown ? shown->authorization : shown.error().text;
  }
  void UsePlugin(std::function<std::string()> answer) {
    config_.exec = ExecPlugin{.command = "login", .api_version = kV1, .interactive_mode = InteractiveMode::kNever};
    processes_.Install("login", [answer = std::move(answer)](const os::Command&) -> Result<os::Exit> {
      return os::Exit{.out = answer()};
    });
  }
  static std::string Answer(const std::string& status) {
    return std::string(R"({"kind":"ExecCredential","apiVersion":")") + kV1 + R"(","status":)" + status + "}";
  }

  ApiConfig config_;
  os::FakeFs fs_;
  os::FakeProcesses processes_;
  FakeClock clock_;
  std::optional<Credentials> credentials_;
};

TEST_F(CredentialsTest, NobodyIsNobody) {
  Make();
  EXPECT_EQ(Shown(), "");
  EXPECT_FALSE(credentials_->Refused(0));
}

TEST_F(CredentialsTest, ShowsATokenOrAPassword) {
  config_.token = "abc\n";
  Make();
  EXPECT_EQ(Shown(), "Bearer abc");
  config_ = {.username = "me", .password = "pw"};
  Make();
  EXPECT_EQ(Shown(), "Basic " + Base64Encode("me:pw"));
  config_ = {.token = "a\nb", .source = "/f"};
  Make();
  EXPECT_EQ(Shown(), "/f: token: the token has a character that no token has");
}

TEST_F(CredentialsTest, ReadsATokenFileAgainAsItRotates) {
  config_.token_file = "/token";
  fs_.Put("/token", "one");
  Make();
  EXPECT_EQ(Shown(), "Bearer one");
  fs_.Put("/token", "two");
  EXPECT_EQ(Shown(), "Bearer one");
  clock_.Advance(minutes(1));
  EXPECT_EQ(Shown(), "Bearer two");
  fs_.fail["/token"] = {Code::kIo, "/token: input/output error"};
  clock_.Advance(minutes(1));
  EXPECT_EQ(Shown(), "Bearer two");  // it may well be good still
}

TEST_F(CredentialsTest, ARefusedTokenIsReadAgainAtOnce) {
  config_.token_file = "/token";
  fs_.Put("/token", "one");
  Make();
  const auto serial = credentials_->Get({})->serial;
  EXPECT_FALSE(credentials_->Refused(serial));  // the file still says the same
  fs_.Put("/token", "two");
  EXPECT_TRUE(credentials_->Refused(serial));
  EXPECT_EQ(Shown(), "Bearer two");
  EXPECT_TRUE(credentials_->Refused(serial));  // somebody else's old one
}

TEST_F(CredentialsTest, SaysWhatIsWrongWithATokenFile) {
  config_.token_file = "/token";
  Make();
  EXPECT_EQ(Shown(), "token file: /token: no such file or directory");
  fs_.Put("/token", " \n");
  EXPECT_EQ(Shown(), "token file: /token: the token is empty");
  config_.token = "fixed";
  EXPECT_EQ(Shown(), "Bearer fixed");
}

TEST_F(CredentialsTest, KeepsAPluginsAnswerUntilItExpiresOrIsRefused) {
  int runs = 0;
  UsePlugin([&] {
    return Answer(R"({"token":"t)" + std::to_string(++runs) + R"(","expirationTimestamp":"2026-01-01T01:00:00Z"})");
  });
  Make();
  EXPECT_FALSE(*credentials_->Ready());
  EXPECT_EQ(Shown(), "Bearer t1");
  EXPECT_TRUE(*credentials_->Ready());
  EXPECT_EQ(Shown(), "Bearer t1");
  clock_.Advance(minutes(61));
  EXPECT_EQ(Shown(), "Bearer t2");
  EXPECT_TRUE(credentials_->Refused(credentials_->Get({})->serial));  // t3 by now: expired from the start
  EXPECT_GE(runs, 3);
}

TEST_F(CredentialsTest, APluginMayGiveACertificate) {
  UsePlugin([] { return Answer(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})"); });
  Make();
  auto shown = credentials_->Get({});
  ASSERT_TRUE(shown) << shown.error().text;
  EXPECT_EQ(shown->certificate.text, "CERT");
  EXPECT_EQ(shown->key.text, "KEY");
  EXPECT_EQ(shown->authorization, "");
}

TEST_F(CredentialsTest, TellsAPluginWhatItMayKnow) {
  UsePlugin([] { return Answer(R"({"token":"t"})"); });
  config_.exec->args = {"a"};
  config_.exec->env = {{"X", "y"}};
  config_.exec->provide_cluster_info = true;
  config_.server = *net::ParseUrl("https://api.example/base");
  config_.tls.ca.file = "/ca.crt";
  config_.exec_config = data::Json{{"audience", "me"}};
  fs_.Put("/ca.crt", "CA");
  Make();
  EXPECT_EQ(Shown(), "Bearer t");
  const os::Command run = processes_.Runs().at(0);
  EXPECT_EQ(run.argv, (std::vector<std::string>{"login", "a"}));
  EXPECT_EQ(run.env->at("X"), "y");
  EXPECT_TRUE(run.env->contains("PATH"));
  EXPECT_EQ(
      run.env->at("KUBERNETES_EXEC_INFO"),
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,)"
      R"("cluster":{"server":"https://api.example/base","certificate-authority-data":"Q0E=","config":{"audience":"me"}}}})");
}

TEST_F(CredentialsTest, SaysWhatIsWrongWithAPlugin) {
  std::string answer;
  UsePlugin([&] { return answer; });
  Make();
  const std::string at = "exec plugin login: ";
  const std::pair<std::string, std::string> cases[] = {
      {"oops", at + "its answer: "},
      {"{}", at + "its answer is no ExecCredential of client.authentication.k8s.io/v1"},
      {Answer("{}"), at + "its answer has neither a token nor a certificate"},
      {Answer(R"({"clientKeyData":"KEY"})"),
       at + "its answer has a certificate without a key, or a key without a certificate"},
      {Answer(R"({"token":"t","expirationTimestamp":"soon"})"),
       at + "status.expirationTimestamp: not an RFC 3339 time"},
  };
  for (const auto& [text, want] : cases) {
    answer = text;
    EXPECT_TRUE(Shown().starts_with(want)) << Shown();
  }
  processes_.Install(
      "login", [](const os::Command&) -> Result<os::Exit> { return os::Exit{.status = 3, .err = "not today\n"}; });
  EXPECT_EQ(Shown(), at + "exit status 3: not today");
  config_.exec->command = "gone";
  config_.exec->install_hint = "Get it at the shop.";
  EXPECT_EQ(Shown(), "exec plugin gone: no such program\nGet it at the shop.");
}

}  // namespace
}  // namespace gpuop::kube
