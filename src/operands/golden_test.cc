// What reviewers see of manifests: testdata/manifests/golden/default.yaml holds all objects of the default policy, and
// each case of testdata/manifests/cases the objects that it changes or adds, with a comment for each that goes. After a
// change that is meant, GPUOP_RENEW=1 operands_test --gtest_filter='*Golden*' writes them anew.

#include "operands/testing/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/testing/source_dir.h"
#include "operands/testing/policies.h"

namespace gpuop::operands::testing {
namespace {

/// Only what differs from `base`.
std::string Changes(const Objects& base, const Objects& objects) {
  std::string gone;
  for (const Object& object : base)
    if (FindObject(objects, object.resource.kind, object.name()) == nullptr) gone += "# gone: " + object.Title() + "\n";
  Objects changed;
  for (const Object& object : objects) {
    const Object* before = FindObject(base, object.resource.kind, object.name());
    if (before == nullptr || !data::JsonEqual(before->body, object.body)) changed.push_back(object);
  }
  return gone + ToYaml(changed);
}

TEST(GoldenTest, TheDefaultPolicysObjectsAreAsReviewed) {
  CompareWithGolden("default", ToYaml(RenderAll(PolicyWith(), UbuntuFacts())));
}

class GoldenCaseTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenCaseTest, IsAsReviewed) {
  const RenderCase render_case = ReadCase(GetParam());
  const Objects base = RenderAll(PolicyWith(), UbuntuFacts());
  CompareWithGolden(GetParam(), Changes(base, RenderAll(render_case.policy, render_case.facts)));
}

INSTANTIATE_TEST_SUITE_P(All, GoldenCaseTest, ::testing::ValuesIn(CaseNames()), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

}  // namespace

void CompareWithGolden(const std::string& name, const std::string& text) {
  const std::string path = SourceDir() + ("/testdata/manifests/golden/" + name + ".yaml");
  if (std::getenv("GPUOP_RENEW") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream in(path);
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, golden) << "GPUOP_RENEW=1 renews " << path;
}

}  // namespace gpuop::operands::testing
