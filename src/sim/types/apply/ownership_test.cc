#include "sim/types/apply/ownership.h"

#include "data/patch.h"
#include "kube/builtin/table.h"
#include "sim/types/apply/typed_value.h"
#include "sim/types/conform.h"
#include "sim/types/defaults/defaults.h"
#include "sim/types/fixture_files_test.h"
#include "sim/types/reset_fields.h"

namespace gpuop::sim::types {
namespace {

namespace json = boost::json;

/// The type of the recorded custom resource, as its CustomResourceDefinition describes it.
data::SchemaPtr ThingSchema() {
  const auto make = [](data::Type type) {
    auto schema = std::make_shared<data::Schema>();
    schema->type = type;
    return schema;
  };
  const auto list = [&](data::ListType type, const data::SchemaPtr& items) {
    auto schema = make(data::Type::kArray);
    schema->list_type = type;
    schema->items = items;
    return schema;
  };
  const auto text = make(data::Type::kString);
  auto tcp = make(data::Type::kString);
  tcp->default_value = "TCP";
  auto rule = make(data::Type::kObject);
  rule->properties = {{"key", text}, {"proto", tcp}, {"value", text}};
  auto rules = list(data::ListType::kMap, rule);
  rules->list_keys = {"key", "proto"};
  auto one = make(data::Type::kObject);
  one->atomic_map = true;
  one->properties = {{"x", text}, {"y", text}};
  auto labels = make(data::Type::kObject);
  labels->values = text;
  auto size = make(data::Type::kAny);
  size->int_or_string = true;
  auto free = make(data::Type::kObject);
  free->preserve_unknown = true;
  auto spec = make(data::Type::kObject);
  spec->properties = {{"free", free},
                      {"labels", labels},
                      {"names", list(data::ListType::kSet, text)},
                      {"one", one},
                      {"plain", list(data::ListType::kAtomic, text)},
                      {"replicas", make(data::Type::kInteger)},
                      {"rules", rules},
                      {"size", size}};
  auto status = make(data::Type::kObject);
  status->properties = {{"phase", text}};
  auto thing = make(data::Type::kObject);
  thing->properties = {{"spec", spec}, {"status", status}};
  return WithObjectMeta(*thing);
}

struct Story {
  ResourceInfo info;
  data::SchemaPtr schema;

  explicit Story(const json::value& type) {
    const std::string version(data::StringOr(type, "apiVersion"));
    const auto slash = version.find('/');
    info.group = slash == std::string::npos ? "" : version.substr(0, slash);
    info.version = version.substr(slash == std::string::npos ? 0 : slash + 1);
    info.kind = data::StringOr(type, "kind");
    info.custom = info.kind == "Thing";
    info.status_isolated = info.kind == "Thing" || info.kind == "Deployment" || info.kind == "Service";
    schema = info.custom ? ThingSchema() : kube::builtin::FindKind(info.group, info.version, info.kind);
  }
  json::object Typed(json::object object) const {
    std::vector<std::string> problems;
    if (!info.custom) EXPECT_TRUE(Conform(*schema, object, problems));
    if (!info.custom) SetDefaults(info.group, info.kind, object);
    json::value whole = std::move(object);
    if (json::value* rules = data::Find(whole, "spec.rules"); info.custom && rules != nullptr)
      for (json::value& rule : rules->as_array())
        if (!rule.as_object().contains("proto")) rule.as_object()["proto"] = "TCP";
    return std::move(whole.get_object());
  }
  json::object Empty() const {
    json::object out{{"kind", info.kind}, {"apiVersion", info.ApiVersion()}};
    std::vector<std::string> problems;
    if (!info.custom) EXPECT_TRUE(Conform(*schema, out, problems));
    return out;
  }
};

/// Entries in one order, without times.
json::value Entries(const json::object& object) {
  const json::value whole = object;
  json::array out;
  if (const auto* list = data::GetArray(whole, "metadata.managedFields"))
    for (json::value entry : *list) {
      entry.as_object().erase("time");
      out.push_back(std::move(entry));
    }
  std::ranges::sort(out, {}, [](const json::value& entry) {
    std::string key;
    for (const char* field : {"operation", "manager", "apiVersion", "subresource"})
      key.append(data::StringOr(entry, field)).append(" ");
    return key;
  });
  return out;
}

/// The object's own content: what a merge decides.
json::value Content(const json::object& object) {
  json::object out = object;
  for (const char* field : {"status", "kind", "apiVersion"}) out.erase(field);
  json::object metadata;
  if (const json::value* given = object.if_contains("metadata"); given != nullptr && given->is_object())
    for (const char* field : {"labels", "annotations", "finalizers"})
      if (const json::value* value = given->get_object().if_contains(field)) metadata[field] = *value;
  out["metadata"] = std::move(metadata);
  if (json::value* spec = out.if_contains("spec"); spec != nullptr && spec->is_object())  // allocated, of a Service
    for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
      spec->get_object().erase(field);
  return out;
}

struct Step {
  json::value type, step;
  std::string name;
};

std::vector<Step> AllSteps() {
  std::vector<Step> out;
  for (const FixtureFile& file : FixtureFiles("ssa")) {
    const json::value story = ReadFixture(file.path);
    int i = 0;
    for (const json::value& step : story.at("steps").as_array())
      out.push_back({story.at("type"), step,
                     TestName(file.name + "_" + std::to_string(i++) + "_" + std::string(step.at("what").as_string()))});
  }
  return out;
}

class OwnershipTest : public testing::TestWithParam<Step> {
 protected:
  OwnershipTest() : story_(GetParam().type) {
    const json::value& request = Recorded().at("request");
    manager_ = data::StringOr(request, "manager");
    if (manager_.empty()) {
      const std::string_view agent = data::StringOr(request, "agent");
      manager_ = agent.substr(0, agent.find('/'));
    }
    subresource_ = data::StringOr(request, "subresource");
    version_ = story_.info.ApiVersion();
    writing_.schema = story_.schema.get();
    writing_.manager = manager_;
    writing_.api_version = version_;
    writing_.subresource = subresource_;
    writing_.time = "2099-01-01T00:00:00Z";
    writing_.reset = ResetFields(story_.info, subresource_);
  }
  const json::value& Recorded() const { return GetParam().step; }
  const json::value& Body() const { return Recorded().at("request").at("body"); }
  bool IsApply() const {
    return data::StringOr(Recorded().at("request"), "content_type") == "application/apply-patch+yaml";
  }
  bool Refused() const { return Recorded().at("status").as_int64() >= 300; }
  json::object Live() const {
    return Recorded().at("before").is_null() ? story_.Empty() : Recorded().at("before").as_object();
  }

  void CheckApply() {
    const std::string message(data::StringOr(Recorded().at("after"), "message"));
    const auto wrong = CheckTyped(Shape(story_.schema.get()), Body(), false);
    if (!wrong.empty()) {
      EXPECT_TRUE(Refused());
      if (!message.contains("map[")) EXPECT_TRUE(message.ends_with(wrong[0])) << wrong[0] << "\nnot\n" << message;
      return;
    }
    const auto applied = ApplyConfig(writing_, story_.Empty(), Live(), Body().as_object(),
                                     Recorded().at("request").at("force").as_bool());
    if (!applied) {
      EXPECT_EQ(applied.error().message, message);
      return;
    }
    if (Refused()) {  // for other reasons than ownership
      EXPECT_FALSE(message.contains("conflict") || message.contains("typed")) << message;
      return;
    }
    EXPECT_EQ(Printed(Entries(*applied)), Printed(Entries(Recorded().at("after").as_object())));
    if (subresource_.empty())
      EXPECT_EQ(Printed(Content(story_.Typed(*applied))), Printed(Content(Recorded().at("after").as_object())));
  }

  void CheckUpdate() {
    if (Refused()) return;
    json::value now = Body();
    const json::value before = Live();
    const std::string_view content = data::StringOr(Recorded().at("request"), "content_type");
    if (content.contains("merge-patch")) {
      auto patched = content.contains("strategic") ? data::ApplyStrategicPatch(before, Body(), story_.schema.get())
                                                   : data::ApplyMergePatch(before, Body());
      ASSERT_TRUE(patched);
      now = *std::move(patched);
    }
    json::object typed = story_.Typed(now.as_object());
    TrackUpdate(writing_, before.as_object(), typed);
    EXPECT_EQ(Printed(Entries(typed)), Printed(Entries(Recorded().at("after").as_object())));
  }

  Story story_;
  std::string manager_, subresource_, version_;
  Writing writing_;
};

TEST_P(OwnershipTest, GoesAsOnTheRealServer) {
  if (IsApply())
    CheckApply();
  else
    CheckUpdate();
}

INSTANTIATE_TEST_SUITE_P(Recorded, OwnershipTest, testing::ValuesIn(AllSteps()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace gpuop::sim::types
