// Our default policy beside what NVIDIA's operator v26.7.0 made of its own on a real API server, object by object and
// container by container. What differs on purpose stands in testdata/manifests/differences.txt with its reason; that
// list is docs/operands.md's too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "base/testing/source_dir.h"
#include "data/glob.h"
#include "operands/testing/oracle_shape.h"
#include "operands/testing/policies.h"

namespace gpuop::operands::testing {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(SourceDir() + ("/" + path));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "kind/name path": one line for each place where the two differ.
std::vector<std::string> Differences(const Flat& theirs, const Flat& ours) {
  std::vector<std::string> out;
  for (const auto& [path, value] : theirs) {
    const auto it = ours.find(path);
    if (it == ours.end()) {
      out.push_back("- " + path + " = " + value);
    } else if (it->second != value) {
      out.push_back("~ " + path + " = " + value + " -> " + it->second);
    }
  }
  for (const auto& [path, value] : ours)
    if (!theirs.contains(path)) out.push_back("+ " + path + " = " + value);
  return out;
}

struct Intended {
  std::string pattern, reason;
};

/// Lines "pattern | reason"; '#' begins a comment.
std::vector<Intended> ReadIntended() {
  std::vector<Intended> out;
  std::istringstream in(ReadFile("testdata/manifests/differences.txt"));
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.find(" | ");
    if (line.empty() || line.front() == '#') continue;
    if (bar == std::string::npos) {
      ADD_FAILURE() << "no reason: " << line;
      continue;
    }
    out.push_back({line.substr(0, bar), line.substr(bar + 3)});
  }
  return out;
}

TEST(OracleTest, TheDefaultPolicyGivesNvidiasObjectsButForTheListedDifferences) {
  auto oracle = data::ParseJson(ReadFile("testdata/manifests/oracle_default.json"));
  ASSERT_TRUE(oracle) << oracle.error().text;
  const Flat theirs = FlattenOracle(oracle->as_object());
  const Flat ours = FlattenObjects(RenderAll(PolicyWith(), UbuntuFacts()));
  ASSERT_GT(theirs.size(), 800U);

  const std::vector<Intended> intended = ReadIntended();
  std::vector<bool> used(intended.size());
  std::vector<std::string> unexpected;
  for (const std::string& difference : Differences(theirs, ours)) {
    bool known = false;
    for (std::size_t i = 0; i < intended.size(); ++i)
      if (data::MatchWildcard(intended[i].pattern, difference)) known = used[i] = true;
    if (!known) unexpected.push_back(difference);
  }
  EXPECT_THAT(unexpected, ::testing::IsEmpty()) << [&] {
    std::string all;
    for (const std::string& line : unexpected) all += line + "\n";
    return all;
  }();
  for (std::size_t i = 0; i < intended.size(); ++i)
    EXPECT_TRUE(used[i]) << "nothing differs so any more: " << intended[i].pattern;
}

TEST(OracleTest, AnImageOfAnotherRegistryGetsTheSameProgramFlagsAndVariables) {
  const Flat theirs = FlattenObjects(RenderAll(PolicyWith(), UbuntuFacts()));
  const Flat mirrored = FlattenObjects(RenderAll(PolicyWith(R"({
    devicePlugin: {repository: registry.example/mirror/nvidia, image: k8s-device-plugin, version: v0.20.0},
    gfd: {repository: "", version: "", image: "registry.example/team/k8s-device-plugin@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}})"),
                                                 UbuntuFacts()));
  std::set<std::string> images;
  for (const std::string& difference : Differences(theirs, mirrored)) {
    EXPECT_TRUE(data::MatchWildcard("~ DaemonSet/* *ontainers[*].image = *", difference) ||
                difference.contains("updates-on-change"))
        << difference;
    if (difference.contains("registry.example/")) images.insert(difference.substr(0, difference.find(" = ")));
  }
  EXPECT_GE(images.size(), 3U) << "plugin, MPS daemon and GFD";
}

TEST(OracleTest, EveryDifferenceStandsInTheDocumentation) {
  const std::string page = ReadFile("docs/operands.md");
  for (const Intended& intended : ReadIntended())
    if (!intended.reason.starts_with("as above"))
      EXPECT_TRUE(page.contains("| " + intended.reason + " |")) << intended.reason;
}

TEST(OracleTest, NoManifestHoldsAShell) {
  Facts facts = UbuntuFacts();
  for (const char* patch :
       {"",
        "{dcgm: {enabled: true}, nodeStatusExporter: {enabled: true}, gds: {enabled: true}, "
        "gdrcopy: {enabled: true}, driver: {rdma: {enabled: true}}}",
        "{sandboxWorkloads: {enabled: true}, vgpuManager: {enabled: true, repository: r, version: '1'}}",
        "{sandboxWorkloads: {enabled: true, mode: kata}}"})
    for (const Object& object : RenderAll(PolicyWith(patch), facts)) {
      const std::string text = data::ToJson(object.body);
      for (const char* shell : {"\"sh\"", "/bin/sh", "bash", ".sh\"", "sleep"})
        EXPECT_FALSE(text.contains(shell)) << object.Title() << " holds " << shell;
    }
}

}  // namespace
}  // namespace gpuop::operands::testing
