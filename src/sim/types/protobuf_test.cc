#include "sim/types/protobuf.h"

#include "base/text.h"
#include "kube/builtin/table.h"
#include "sim/types/conform.h"
#include "sim/types/decode.h"
#include "sim/types/defaults/defaults.h"
#include "sim/types/fixture_files_test.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

class ProtobufTest : public testing::TestWithParam<FixtureFile> {};

TEST_P(ProtobufTest, SaysTheSameAsTheJsonForm) {
  const json::value fixture = ReadFixture(GetParam().path);
  const auto body = Base64Decode(data::StringOr(fixture, "protobuf"));
  ASSERT_TRUE(body);
  const json::value& wanted = fixture.at("json");
  const std::string version(data::StringOr(wanted, "apiVersion")), kind(data::StringOr(wanted, "kind"));
  std::vector<std::string> problems;
  auto decoded = DecodeBody({"", "v1", kind}, "application/vnd.kubernetes.protobuf", *body, problems);
  ASSERT_TRUE(decoded) << decoded.error().message;
  const auto slash = version.find('/');
  const auto schema = kube::builtin::FindKind(slash == std::string::npos ? "" : version.substr(0, slash),
                                              version.substr(slash == std::string::npos ? 0 : slash + 1), kind);
  ASSERT_TRUE(Conform(*schema, *decoded, problems));
  if (kind == "StatefulSet") SetDefaults("apps", kind, *decoded);  // its claims' kind is not in the message
  EXPECT_EQ(Printed(*decoded), Printed(wanted));
  EXPECT_TRUE(problems.empty());
}

INSTANTIATE_TEST_SUITE_P(Recorded, ProtobufTest, testing::ValuesIn(FixtureFiles("protobuf")),
                         [](const auto& p) { return TestName(p.param.name); });

TEST(ProtobufTest, RefusesWhatIsNoEnvelope) {
  EXPECT_FALSE(OpenEnvelope("{}"));
  EXPECT_FALSE(OpenEnvelope(std::string_view("k8s\0\x0a\x7f", 6)));
  EXPECT_TRUE(OpenEnvelope(std::string_view("k8s\0", 4)));
}

TEST(ProtobufTest, RefusesMessagesNestedWithoutEnd) {
  std::string message;
  for (int i = 0; i < 200; ++i) {  // properties: {"": {properties: …
    std::string entry = "\x12";
    const auto length = [](std::size_t n) {
      std::string out;
      for (; n > 127; n >>= 7U) out += static_cast<char>(n | 0x80U);
      return out + static_cast<char>(n);
    };
    entry += length(message.size()) + message;
    message = "\xea\x01" + length(entry.size()) + entry;
  }
  const auto schema =
      kube::builtin::FindType("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  ASSERT_EQ(schema->Find("properties")->proto, 29);
  const auto decoded = DecodeMessage(*schema, message);
  ASSERT_FALSE(decoded);
  EXPECT_TRUE(decoded.error().text.contains("nested too deep"));
}

TEST(ProtobufTest, PassesOverFieldsItDoesNotKnow) {
  const auto schema = kube::builtin::FindKind("", "v1", "ConfigMap");
  // Field 200 (a varint), then immutable (4) = true.
  const auto decoded = DecodeMessage(*schema, std::string_view("\xc0\x0c\x05\x20\x01", 5));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->at("immutable"), json::value(true));
}

}  // namespace
}  // namespace gpuop::sim::types
