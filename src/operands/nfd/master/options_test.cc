#include "operands/nfd/master/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/fake_fs.h"

namespace gpuop::operands::nfd {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

Result<MasterProgramOptions> Options(const std::string& file, const std::vector<std::string>& args = {}) {
  const auto flags =
      container::ParseFlags(FlagsOf(MasterFlags()), args, [](const char*) -> const char* { return nullptr; });
  if (!flags) return std::unexpected(flags.error());
  os::FakeFs fs;
  if (!file.empty()) fs.Put(flags->Text("config"), file);
  return MakeMasterOptions(*flags, fs, [](const char* name) {
    return std::string(name == std::string_view("KUBERNETES_NAMESPACE") ? "gpu-operator" : "");
  });
}

TEST(NfdMasterOptionsTest, FlagsOutweighTheFile) {
  const auto plain = Options("");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->master.ns, "gpu-operator");
  EXPECT_EQ(plain->master.resync, std::chrono::hours(1));
  EXPECT_EQ(plain->master.parallelism, 10U);
  EXPECT_FALSE(plain->node.enable_taints);
  EXPECT_TRUE(plain->master.publish && plain->node.names.auto_prefix);
  const auto both = Options(
      "extraLabelNs: [nvidia.com]\ndenyLabelNs: [a.b]\nenableTaints: true\nresyncPeriod: 2h\nnfdApiParallelism: 3\n"
      "labelWhiteList: ^x\nrestrictions: {disableAnnotations: true, allowOverwrite: false, denyNodeFeatureLabels: "
      "true,\n"
      "  nodeFeatureNamespaceSelector: {matchLabels: {trusted: \"yes\"}}}\nunknown: 1\n",
      {"-enable-taints=false", "-extra-label-ns=c.d,e.f", "-resync-period=5m", "-instance=two", "-no-publish",
       "--feature-gates=NodeFeatureGroupAPI=true,DisableAutoPrefix=true,Other=false"});
  ASSERT_TRUE(both) << both.error().text;
  EXPECT_THAT(both->node.names.extra_label_ns, ElementsAre("c.d", "e.f"));
  EXPECT_THAT(both->node.names.deny_label_ns, ElementsAre("a.b"));
  EXPECT_FALSE(both->node.enable_taints || both->node.annotations || both->node.allow_overwrite);
  EXPECT_FALSE(both->node.node_feature_labels || both->master.publish || both->node.names.auto_prefix);
  EXPECT_TRUE(both->master.groups && both->master.namespaces && both->node.names.label_whitelist);
  EXPECT_EQ(both->master.resync, minutes(5));
  EXPECT_EQ(both->master.parallelism, 3U);
  EXPECT_EQ(both->node.instance_prefix, "two.");
  EXPECT_EQ(Options("resyncPeriod: 2h", {"-options={\"resyncPeriod\": \"3h\"}"})->master.resync, std::chrono::hours(3));
}

TEST(NfdMasterOptionsTest, OptionsLieOverTheFileMemberByMember) {
  const auto options = Options("restrictions: {disableAnnotations: true, disableLabels: true}\n",
                               {"-options={\"restrictions\": {\"disableLabels\": false}}"});
  ASSERT_TRUE(options) << options.error().text;
  EXPECT_FALSE(options->node.annotations);
  EXPECT_TRUE(options->node.labels);
}

TEST(NfdMasterOptionsTest, TheUsualFileNeedNotBeThereAndOneThatWasAskedForMust) {
  EXPECT_TRUE(Options(""));
  const auto missing = Options("", {"-config=/etc/else.conf"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, HasSubstr("/etc/else.conf"));
}

TEST(NfdMasterOptionsTest, BrokenOptionsAreNamed) {
  const std::pair<const char*, const char*> files[] = {
      {"[", "yaml"},
      {"a", "expected an object"},
      {"extraLabelNs: {a: b}", "extraLabelNs"},
      {"denyLabelNs: [1]", "denyLabelNs"},
      {"enableTaints: maybe", "enableTaints"},
      {"resyncPeriod: often", "resyncPeriod"},
      {"resyncPeriod: 0s", "resyncPeriod"},
      {"labelWhiteList: \"(\"", "labelWhiteList"},
      {"nfdApiParallelism: 0", "nfdApiParallelism"},
      {"nfdApiParallelism: many", "nfdApiParallelism"},
      {"informerPageSize: -1", "informerPageSize"},
      {"restrictions: {disableLabels: 1}", "restrictions.disableLabels"},
      {"restrictions: {nodeFeatureNamespaceSelector: {matchExpressions: [{key: a, operator: Like}]}}",
       "nodeFeatureNamespaceSelector"},
      {"leaderElection: {leaseDuration: 5s}", "leaderElection"},
      {"leaderElection: {retryPeriod: x}", "leaderElection.retryPeriod"},
  };
  for (const auto& [file, says] : files) {
    const auto options = Options(file);
    ASSERT_FALSE(options) << file;
    EXPECT_THAT(options.error().text, HasSubstr(says)) << file;
  }
  for (const char* flag : {"-bogus", "-port=x", "-port=70000", "-feature-gates=x", "-resync-period=1",
                           "-removal-grace=0s", "-label-whitelist=(", "-options=[", "word"})
    EXPECT_FALSE(Options("", {flag})) << flag;
}

}  // namespace
}  // namespace gpuop::operands::nfd
