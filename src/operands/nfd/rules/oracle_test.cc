// What nfd-master v0.19.0 made of rules on a real API server, beside what ours makes of them.

#include <gtest/gtest.h>

#include "base/testing/source_dir.h"
#include "data/json.h"
#include "operands/nfd/master/node_plan.h"
#include "os/real_fs.h"

namespace gpuop::operands::nfd {
namespace {

data::Json Records() {
  const auto fs = os::RealFs::Open(std::string(SourceDir()) + "/testdata/nfd");
  return *data::ParseJson(*(*fs)->Read("/oracle.json"));
}

NodeState Baseline(const data::Json& records) {
  NodeState out;
  out.name = "vm-node";
  const data::Json& base = *data::Find(records, "rules_baseline");
  for (const char* part : {"labels", "annotations", "capacity"})
    for (const auto& member : base.at(part).get_object())
      (part[0] == 'l'   ? out.labels
       : part[0] == 'a' ? out.annotations
                        : out.capacity)[std::string(member.key())] = data::AsView(member.value().get_string());
  return out;
}

/// The node after a patch, as the API server merges it.
void Merge(TextMap& map, const data::Json* patch) {
  if (patch == nullptr || !patch->is_object()) return;
  for (const auto& member : patch->get_object()) {
    if (member.value().is_null())
      map.erase(std::string(member.key()));
    else
      map[std::string(member.key())] = data::AsView(member.value().get_string());
  }
}

void Apply(NodeState& node, const NodePatch& patch) {
  if (patch.node) {
    Merge(node.labels, data::Find(*patch.node, "metadata.labels"));
    Merge(node.annotations, data::Find(*patch.node, "metadata.annotations"));
    if (const auto* taints = data::GetArray(*patch.node, "spec.taints")) {
      node.taints.clear();
      for (const data::Json& taint : *taints)
        node.taints.push_back({std::string(data::StringOr(taint, "key")), std::string(data::StringOr(taint, "value")),
                               std::string(data::StringOr(taint, "effect")), ""});
    }
  }
  if (patch.status) Merge(node.capacity, data::Find(*patch.status, "status.capacity"));
}

/// The records give what differs from the baseline.
TextMap Difference(const TextMap& now, const TextMap& before) {
  TextMap out;
  for (const auto& [key, value] : now)
    if (const auto it = before.find(key); it == before.end() || it->second != value) out[key] = value;
  return out;
}

TextMap Texts(const data::Json& object) {
  TextMap out;
  for (const auto& member : object.get_object())
    out[std::string(member.key())] = data::AsView(member.value().get_string());
  return out;
}

NodeSettings Settings() {
  NodeSettings out;
  out.names.extra_label_ns = {"nvidia.com"};
  out.enable_taints = true;
  return out;
}

TEST(NfdOracleTest, EveryRecordedRuleGivesTheNodeTheSame) {
  const data::Json records = Records();
  const auto features = ReadFeatures(*data::Find(records, "rules_input.features"));
  ASSERT_TRUE(features) << features.error().text;
  const TextMap labels = Texts(*data::Find(records, "rules_input.labels"));
  const NodeState before = Baseline(records);
  const auto& cases = *data::GetArray(records, "rules");
  EXPECT_EQ(cases.size(), 20U);
  for (const data::Json& record : cases) {
    SCOPED_TRACE(std::string(data::StringOr(record, "name")));
    const RuleList rules = ReadRules("record", *data::Find(record, "rules"));
    Features known = *features;
    const NodeWish wish = WishFor(known, labels, {&rules}, Settings());
    NodeState node = before;
    Apply(node, PlanNode(node, wish, Settings()));
    EXPECT_EQ(Difference(node.labels, before.labels), Texts(record.at("labels")));
    EXPECT_EQ(Difference(node.annotations, before.annotations), Texts(record.at("annotations")));
    EXPECT_EQ(node.capacity, Texts(record.at("extended_resources")));
    EXPECT_EQ(node.taints.size(), data::GetArray(record, "taints")->size());
    EXPECT_EQ(wish.problems.empty(), data::GetArray(record, "master_complaints_in_our_words")->empty());
    EXPECT_TRUE(PlanNode(node, wish, Settings()).empty()) << "a second turn writes nothing";

    Features again = *features;
    Apply(node, PlanNode(node, WishFor(again, labels, {}, Settings()), Settings()));
    EXPECT_EQ(node.labels, before.labels);
    EXPECT_EQ(node.annotations, before.annotations);
    EXPECT_EQ(node.capacity, before.capacity);
    EXPECT_TRUE(node.taints.empty());
  }
}

}  // namespace
}  // namespace gpuop::operands::nfd
