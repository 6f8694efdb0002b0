#include "net/url.h"

namespace gpuop::net {
namespace {

TEST(UrlTest, ReadsItsParts) {
  auto u = ParseUrl("https://me:p%40ss@api.example:6443/base/?a=b#frag");
  ASSERT_TRUE(u) << u.error().text;
  EXPECT_TRUE(u->tls());
  EXPECT_EQ(u->userinfo, "me:p@ss");
  EXPECT_EQ(u->HostAndPort(), "api.example:6443");
  EXPECT_EQ(u->path, "/base");
  EXPECT_EQ(u->query, "a=b");
  EXPECT_EQ(u->Origin(), "https://api.example:6443");
}

TEST(UrlTest, KnowsUsualPortsAddressesAndSockets) {
  EXPECT_EQ(ParseUrl("https://[::1]")->HostAndPort(), "[::1]:443");
  EXPECT_EQ(ParseUrl("https://[::1]")->HostHeader(), "[::1]");
  EXPECT_EQ(ParseUrl("localhost:8080")->Origin(), "http://localhost:8080");
  EXPECT_EQ(ParseUrl("unix:/run/x.sock")->HostAndPort(), "unix:/run/x.sock");
  EXPECT_EQ(ParseUrl("unix:///run/x.sock")->host, "/run/x.sock");
}

TEST(UrlTest, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"ftp://x", R"(URL "ftp://x": scheme "ftp" is neither http nor https)"},
      {"https://", R"(URL "https://": no host)"},
      {"http://x:0", R"(URL "http://x:0": bad port "0")"},
      {"http://x:99999", R"(URL "http://x:99999": bad port "99999")"},
      {"http://[::1", R"(URL "http://[::1": a bracket is not closed)"},
      {"http://a b", R"(URL "http://a b": bad character in the host)"},
      {"http://a/b c", R"(URL "http://a/b c": bad character in the path)"},
      {"unix:x.sock", R"(URL "unix:x.sock": a socket's path begins with /)"},
  };
  for (const auto& [text, want] : cases) {
    auto u = ParseUrl(text);
    ASSERT_FALSE(u) << text;
    EXPECT_EQ(u.error().text, want);
  }
}

TEST(UrlTest, EncodesAndDecodes) {
  EXPECT_EQ(PercentEncode("a b/ü~"), "a%20b%2F%C3%BC~");
  EXPECT_EQ(PercentEncode("a/b", "/"), "a/b");
  EXPECT_EQ(*PercentDecode("a%20b%2f+"), "a b/+");
  EXPECT_EQ(*PercentDecode("%41"), "A");
  EXPECT_FALSE(PercentDecode("%4"));
  EXPECT_FALSE(PercentDecode("%zz"));
  EXPECT_EQ(EncodeQuery({{"labelSelector", "a=b,c"}, {"watch", "1"}}), "labelSelector=a%3Db%2Cc&watch=1");
  EXPECT_EQ(*DecodeQuery("a=b%2Cc&&d&e=f+g=h"), (QueryPairs{{"a", "b,c"}, {"d", ""}, {"e", "f g=h"}}));
  EXPECT_FALSE(DecodeQuery("a=%"));
}

struct ProxyCase {
  const char* url;
  const char* no_proxy;
  bool proxied;
};

TEST(ProxyFromEnvironmentTest, FollowsNoProxy) {
  const ProxyCase cases[] = {
      {"https://api.example", "", true},
      {"https://api.example", "*", false},
      {"https://api.example", "example", false},
      {"https://api.example", ".example", false},
      {"https://example", ".example", true},
      {"https://example", "*.example", true},
      {"https://notexample", "example", true},
      {"https://API.example", "api.EXAMPLE", false},
      {"https://api.example:6443", "api.example:6443", false},
      {"https://api.example:6443", "api.example:443", true},
      {"https://10.1.2.3", "10.0.0.0/8", false},
      {"https://11.1.2.3", "10.0.0.0/8", true},
      {"https://10.1.2.3", " a, 10.1.2.3 ", false},
      {"https://[fd00::1]", "fd00::/8", false},
      {"https://[fd00::1]:6443", "[fd00::1]:6443", false},
      {"https://localhost", "", false},
      {"https://127.0.0.9", "", false},
      {"https://[::1]", "", false},
      {"unix:/x", "", false},
  };
  for (const ProxyCase& c : cases) {
    const GetEnv env = [&](const std::string& name) -> std::string {
      return name == "https_proxy" ? "http://p:3128" : name == "NO_PROXY" ? c.no_proxy : "";
    };
    EXPECT_EQ(!ProxyFromEnvironment(*ParseUrl(c.url), env).empty(), c.proxied) << c.url << " " << c.no_proxy;
  }
}

TEST(ProxyFromEnvironmentTest, GoesByScheme) {
  const GetEnv env = [](const std::string& name) -> std::string {
    return name == "HTTPS_PROXY" ? "s" : name == "HTTP_PROXY" ? "h" : "";
  };
  EXPECT_EQ(ProxyFromEnvironment(*ParseUrl("https://a"), env), "s");
  EXPECT_EQ(ProxyFromEnvironment(*ParseUrl("http://a"), env), "h");
}

}  // namespace
}  // namespace gpuop::net
