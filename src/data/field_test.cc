#include "data/field.h"

#include <boost/json.hpp>

#include "data/reader.h"
#include "data/schema_of.h"
#include "data/schema_validate.h"
#include "data/writer.h"

namespace gpuop::data {
namespace {

enum class Effect : std::uint8_t { kNoSchedule, kNoExecute };
std::span<const EnumName<Effect>> NamesOf(Effect) {
  static constexpr EnumName<Effect> kNames[] = {{"NoSchedule", Effect::kNoSchedule}, {"NoExecute", Effect::kNoExecute}};
  return kNames;
}

struct Container {
  std::string name, image;
  std::vector<std::string> args;
  std::map<std::string, Quantity> limits;
  bool operator==(const Container&) const = default;
  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Names the container.", .required = true, .max_length = 63});
    v("image", image);
    v("args", args);
    v("limits", limits);
  }
};

struct Spec {
  std::int32_t replicas = 1;
  std::optional<bool> paused;
  std::optional<std::int64_t> priority;
  double weight = 0;
  Effect effect = Effect::kNoSchedule;
  IntOrString surge;
  Duration timeout{};
  Json extra;
  std::vector<Container> containers;
  std::string mode;
  template <class V>
  void Visit(V& v) {
    v("replicas", replicas, {.defaulted = true, .minimum = 0, .maximum = 10});
    v("paused", paused);
    v("priority", priority);
    v("weight", weight);
    v("effect", effect);
    v("surge", surge);
    v("timeout", timeout);
    v("extra", extra);
    v("containers", containers, {.list_type = ListType::kMap, .list_keys = {"name"}});
    v("mode", mode, {.enumeration = {"fast", "safe"}, .pattern = "^[a-z]+$"});
  }
};

struct Object {
  Spec spec;
  template <class V>
  void Visit(V& v) {
    v("spec", spec);
  }
};

constexpr const char* kFull = R"({"spec":{"replicas":3,"paused":false,"priority":0,"weight":0.5,"effect":"NoExecute",
"surge":"25%","timeout":"1h30m0s","extra":{"any":[1]},"containers":[{"name":"a","image":"i","args":["x"],"limits":{"cpu":"1500m"}}],
"mode":"fast"}})";

TEST(FieldTest, WhatIsReadIsWrittenBack) {
  const Json in = *ParseJson(kFull);
  const auto object = ReadAs<Object>(in);
  ASSERT_TRUE(object) << object.error().text;
  EXPECT_EQ(object->spec.replicas, 3);
  EXPECT_EQ(object->spec.paused, false);
  EXPECT_EQ(object->spec.effect, Effect::kNoExecute);
  EXPECT_EQ(object->spec.timeout, std::chrono::minutes(90));
  EXPECT_EQ(object->spec.containers[0].limits.at("cpu").MilliValue(), 1500);
  EXPECT_EQ(ToJson(WriteValue(*object)), ToJson(in));
}

struct ReadCase {
  const char* name;
  const char* in;
  const char* error;
};
class ReadErrorTest : public testing::TestWithParam<ReadCase> {};
TEST_P(ReadErrorTest, NamesTheFieldByItsPath) {
  const auto object = ReadAs<Object>(*ParseJson(GetParam().in));
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error(), (Error{Code::kInvalid, GetParam().error}));
}
INSTANTIATE_TEST_SUITE_P(
    All, ReadErrorTest,
    testing::Values(
        ReadCase{"Kind", R"({"spec":{"containers":[{"name":"a"},{"name":"b","image":5}]}})",
                 "spec.containers[1].image: expected a string, got a number"},
        ReadCase{"Object", R"({"spec":[]})", "spec: expected an object, got an array"},
        ReadCase{"Root", R"("x")", "expected an object, got a string"},
        ReadCase{"Required", R"({"spec":{"containers":[{"image":"x"}]}})", "spec.containers[0].name: required"},
        ReadCase{"MapEntry", R"({"spec":{"containers":[{"name":"a","limits":{"cpu":"x"}}]}})",
                 "spec.containers[0].limits[cpu]: quantities must match the regular expression "
                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        ReadCase{"Range", R"({"spec":{"replicas":11}})", "spec.replicas: 11 is more than 10"},
        ReadCase{"Overflow", R"({"spec":{"replicas":5,"surge":1.5}})",
                 "spec.surge: expected an integer or a string, got a number"},
        ReadCase{"Enum", R"({"spec":{"effect":"x"}})",
                 "spec.effect: expected one of \"NoSchedule\", \"NoExecute\", got \"x\""},
        ReadCase{"Words", R"({"spec":{"mode":"slow"}})", "spec.mode: expected one of \"fast\", \"safe\", got \"slow\""},
        ReadCase{"Duration", R"({"spec":{"timeout":"5"}})", "spec.timeout: time: missing unit in duration \"5\""},
        ReadCase{"Boolean", R"({"spec":{"paused":"yes"}})", "spec.paused: expected a boolean, got a string"},
        ReadCase{"Fraction", R"({"spec":{"priority":1.5}})", "spec.priority: expected an integer, got a number"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(FieldTest, IntegersMustFit) {
  struct Small {
    std::int32_t n = 0;
    void Visit(Reader& v) { v("n", n); }
  };
  EXPECT_EQ(ReadAs<Small>(*ParseJson(R"({"n":2147483647})"))->n, 2147483647);
  EXPECT_EQ(ReadAs<Small>(*ParseJson(R"({"n":2147483648})")).error().text, "n: 2147483648 does not fit");
}

TEST(FieldTest, UnknownFieldsAreGatheredByPath) {
  std::vector<std::string> unknown;
  const auto object = ReadAs<Object>(
      *ParseJson(R"({"a":1,"spec":{"b":2,"extra":{"c":3},"containers":[{"name":"x","d":4}]}})"), &unknown);
  ASSERT_TRUE(object);
  EXPECT_THAT(unknown, testing::UnorderedElementsAre("a", "spec.b", "spec.containers[0].d"));
}

TEST(FieldTest, AbsentAndNullFieldsKeepTheirValues) {
  const auto object = ReadAs<Object>(*ParseJson(R"({"spec":{"replicas":null}})"));
  ASSERT_TRUE(object);
  EXPECT_EQ(object->spec.replicas, 1);
  Object empty;
  empty.spec.replicas = 0;
  EXPECT_EQ(ToJson(WriteValue(empty)), R"({"spec":{"effect":"NoSchedule","timeout":"0s"}})");
}

TEST(FieldTest, TheSchemaSaysWhatTheReaderChecks) {
  const SchemaPtr schema = SchemaOf<Object>();
  const Property* spec = schema->Find("spec");
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(ToJson(*spec->schema->Find("replicas")->schema->default_value), "1");
  EXPECT_EQ(spec->schema->Find("replicas")->schema->format, "int32");
  EXPECT_EQ(spec->schema->Find("containers")->schema->list_keys, std::vector<std::string>{"name"});
  const Schema& container = *spec->schema->Find("containers")->schema->items;
  EXPECT_TRUE(container.Find("name")->required);
  EXPECT_EQ(container.Find("name")->schema->description, "Names the container.");
  const SchemaValidator validator(schema);
  EXPECT_THAT(validator.Validate(*ParseJson(kFull)), testing::IsEmpty());
  const auto errors =
      validator.Validate(*ParseJson(R"({"spec":{"replicas":11,"effect":"x","containers":[{"limits":{"cpu":"x"}}]}})"));
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  EXPECT_THAT(texts,
              testing::UnorderedElementsAre(
                  "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10",
                  "spec.effect: Unsupported value: \"x\": supported values: \"NoSchedule\", \"NoExecute\"",
                  "spec.containers[0].name: Required value",
                  testing::StartsWith(
                      "spec.containers[0].limits.cpu: Invalid value: \"x\": spec.containers[0].limits.cpu in body "
                      "should match")));
}

}  // namespace
}  // namespace gpuop::data
