#include "sim/types/validate/validate.h"

#include "base/text.h"
#include "kube/builtin/table.h"
#include "sim/types/conform.h"
#include "sim/types/defaults/defaults.h"
#include "sim/types/fixture_files_test.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

struct Case {
  std::string name, kind;
  json::value recorded;
};

std::vector<Case> AllCases() {
  std::vector<Case> out;
  for (const FixtureFile& file : FixtureFiles("invalid")) {
    const json::value recorded = ReadFixture(file.path);
    const std::string kind(recorded.at("kind").as_string());
    for (const json::value& one : recorded.at("cases").as_array())
      out.push_back({TestName(kind + "_" + std::string(one.at("what").as_string())), kind, one});
  }
  return out;
}

/// Go prints a whole Pod specification in its own names there; ours is in JSON's.
std::string WithoutPodSpec(const std::string& text) {
  constexpr std::string_view kHead = "spec.template.spec: Invalid value: {";
  return text.starts_with(kHead) ? std::string(kHead) : text;
}

/// What the server said field by field, but for metadata, which is checked elsewhere. A difference that it prints
/// behind its words is left out.
std::vector<std::string> Wanted(const json::value& status) {
  std::vector<std::string> out;
  if (status.is_null()) return out;
  for (const json::value& cause : status.at("details").at("causes").as_array()) {
    const std::string field(data::StringOr(cause, "field")), message(data::StringOr(cause, "message"));
    if (field == "metadata.name" && !message.contains("system")) continue;
    if (field == "metadata.labels" || field == "metadata.annotations") continue;
    out.push_back(WithoutPodSpec(field + ": " + message.substr(0, message.find("\n@@"))));
  }
  return out;
}

class ValidateTest : public testing::TestWithParam<Case> {};

TEST_P(ValidateTest, FindsWhatTheRealServerFinds) {
  const json::value& recorded = GetParam().recorded;
  if (const json::value& status = recorded.at("status"); status.is_object() && !data::Find(status, "details.causes"))
    GTEST_SKIP() << "refused by admission, not by validation";
  json::object object = recorded.at("body").as_object();
  const std::string version(data::StringOr(recorded.at("body"), "apiVersion"));
  const auto slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const auto schema =
      kube::builtin::FindKind(group, version.substr(slash == std::string::npos ? 0 : slash + 1), GetParam().kind);
  ASSERT_NE(schema, nullptr);
  if (GetParam().kind == "Event") object["metadata"].as_object()["namespace"] = "fixtures-invalid";  // from the path
  std::vector<std::string> problems;
  const auto done = Conform(*schema, object, problems);
  ASSERT_TRUE(done) << done.error().text;
  SetDefaults(group, GetParam().kind, object);
  const json::object* old = recorded.at("before").if_object();
  if (old != nullptr)
    for (const char* field : {"uid", "creationTimestamp"})
      object["metadata"].as_object()[field] = old->at("metadata").at(field);
  std::vector<std::string> found;
  for (const FieldError& error : ValidateObject({group, GetParam().kind, ""}, object, old))
    found.push_back(WithoutPodSpec(error.field + ": " + error.Body()));
  EXPECT_EQ(Join(found, "\n"), Join(Wanted(recorded.at("status")), "\n"));
}

INSTANTIATE_TEST_SUITE_P(Recorded, ValidateTest, testing::ValuesIn(AllCases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace gpuop::sim::types
