#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "data/yaml.h"
#include "operands/nfd/master/node_plan.h"
#include "operands/nfd/worker/usage.h"
#include "os/real_fs.h"

namespace gpuop::operands::nfd {
namespace {

data::Json Corpus() {
  const auto fs = os::RealFs::Open(std::string(SourceDir()) + "/testdata/nfd");
  return *data::ParseYaml(*(*fs)->Read("/corpus.yaml"));
}

TextMap FullNamesOf(const data::Json& labels) {
  TextMap out;
  for (const auto& member : labels.get_object()) {
    const std::string name(member.key());
    out[name.find('/') == name.npos ? std::string(kFeatureNs) + "/" + name : name] =
        data::AsView(member.value().get_string());
  }
  return out;
}

/// The rules of a case, with names as the definition asks for.
RuleList RulesOf(const data::Json& one) {
  data::Json rules = one.at("rules");
  for (data::Json& rule : rules.get_array()) rule.get_object()["name"] = "r";
  return ReadRules("corpus", rules);
}

/// What `rules` give a node with `features`.
NodeWish Wish(Features features, const RuleList& rules) { return WishFor(features, {}, {&rules}, {}); }

TEST(RulesCorpusTest, EveryRuleGivesWhatItShall) {
  const data::Json corpus = Corpus();
  const auto features = ReadFeatures(corpus.at("features"));
  ASSERT_TRUE(features) << features.error().text;
  std::size_t rules_seen = 0;
  for (const data::Json& one : *data::GetArray(corpus, "cases")) {
    SCOPED_TRACE(data::ToJson(one));
    const RuleList rules = RulesOf(one);
    rules_seen += rules.rules.size();
    const NodeWish wish = Wish(*features, rules);
    EXPECT_EQ(wish.labels, FullNamesOf(one.at("labels")));
    const auto* const problems = data::GetArray(one, "problems");
    EXPECT_EQ(wish.problems.size(), problems == nullptr ? 0 : problems->size()) << Join(wish.problems, "\n");
    if (problems == nullptr) continue;
    for (const data::Json& part : *problems)
      EXPECT_THAT(wish.problems, testing::Contains(testing::HasSubstr(std::string(data::AsView(part.get_string())))));
  }
  EXPECT_GE(rules_seen, 60U);
}

TEST(RulesCorpusTest, WhatIsPublishedOfANodeGivesTheSameLabels) {
  const data::Json corpus = Corpus();
  const auto features = ReadFeatures(corpus.at("features"));
  ASSERT_TRUE(features);
  for (const data::Json& one : *data::GetArray(corpus, "cases")) {
    SCOPED_TRACE(data::ToJson(one));
    const RuleList rules = RulesOf(one);
    const Features used = UsedFeatures(*features, {&rules});
    EXPECT_EQ(Wish(used, rules).labels, Wish(*features, rules).labels);
    EXPECT_LE(data::ToJson(ToObject(used)).size(), data::ToJson(ToObject(*features)).size());
  }
}

}  // namespace
}  // namespace gpuop::operands::nfd
