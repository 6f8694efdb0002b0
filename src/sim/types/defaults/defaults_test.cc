#include "sim/types/defaults/defaults.h"

#include "base/text.h"
#include "kube/builtin/table.h"
#include "sim/types/conform.h"
#include "sim/types/defaults/fill.h"
#include "sim/types/fixture_files_test.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

/// What a create adds that no default knows: identity, admission, allocation.
void DropWhatTheServerAssigns(Object& object, const std::string& kind) {
  Object& metadata = ObjectMade(object, "metadata");
  for (const char* field : {"uid", "creationTimestamp", "generation", "resourceVersion", "namespace"})
    metadata.erase(field);
  if (kind.starts_with("PersistentVolume")) metadata.erase("finalizers");
  if (kind == "Job") metadata.erase("labels");
  if (kind != "Endpoints" && kind != "LimitRange") object.erase("status");
  if (Object* spec = ObjectAt(object, "spec")) {
    if (kind == "Pod")
      for (const char* field :
           {"volumes", "tolerations", "serviceAccountName", "serviceAccount", "priority", "preemptionPolicy"})
        spec->erase(field);
    if (kind == "Pod")
      for (const char* list : {"containers", "initContainers"})
        EachAt(*spec, list, [](Object& container) { container.erase("volumeMounts"); });
    if (kind == "Service")
      for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"})
        spec->erase(field);
    if (kind == "Namespace") spec->erase("finalizers");
    if (kind == "Job") {
      spec->erase("selector");
      ObjectMade(ObjectMade(*spec, "template"), "metadata").erase("labels");
    }
    if (kind == "Node") spec->erase("taints");
  }
  if (kind == "LimitRange" || kind == "RuntimeClass") object.erase("status");
}

class DefaultsTest : public testing::TestWithParam<FixtureFile> {};

TEST_P(DefaultsTest, FillsInWhatTheRealServerDoes) {
  const json::value fixture = ReadFixture(GetParam().path);
  Object object = fixture.at("input").as_object(), expected = fixture.at("expected").as_object();
  const std::string version(TextAt(object, "apiVersion")), kind(TextAt(object, "kind"));
  const auto slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const auto schema = kube::builtin::FindKind(group, version.substr(slash == std::string::npos ? 0 : slash + 1), kind);
  ASSERT_NE(schema, nullptr);
  std::vector<std::string> problems;
  const auto done = Conform(*schema, object, problems);
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_TRUE(problems.empty()) << problems[0];
  SetDefaults(group, kind, object);
  DropWhatTheServerAssigns(object, kind);
  DropWhatTheServerAssigns(expected, kind);
  EXPECT_EQ(Printed(object), Printed(expected));
}

INSTANTIATE_TEST_SUITE_P(Recorded, DefaultsTest, testing::ValuesIn(FixtureFiles("defaults")),
                         [](const auto& p) { return TestName(p.param.name); });

/// Volumes are compared apart: admission adds one of its own to every Pod.
class VolumeDefaultsTest : public testing::TestWithParam<FixtureFile> {};

TEST_P(VolumeDefaultsTest, FillsInSourcesAsTheRealServerDoes) {
  const json::value fixture = ReadFixture(GetParam().path);
  Object object = fixture.at("input").as_object();
  std::vector<std::string> problems;
  ASSERT_TRUE(Conform(*kube::builtin::FindKind("", "v1", "Pod"), object, problems));
  SetDefaults("", "Pod", object);
  const json::array& have = object.at("spec").at("volumes").as_array();
  const json::array& want = fixture.at("expected").at("spec").at("volumes").as_array();
  ASSERT_GE(want.size(), have.size());
  for (std::size_t i = 0; i < have.size(); ++i) EXPECT_EQ(Printed(have[i]), Printed(want[i]));
}

std::vector<FixtureFile> WithVolumes() {
  auto files = FixtureFiles("defaults");
  std::erase_if(files, [](const FixtureFile& f) { return !f.name.ends_with("volumes"); });
  return files;
}

INSTANTIATE_TEST_SUITE_P(Recorded, VolumeDefaultsTest, testing::ValuesIn(WithVolumes()),
                         [](const auto& p) { return TestName(p.param.name); });

}  // namespace
}  // namespace gpuop::sim::types
