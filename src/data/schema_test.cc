#include "data/schema_check.h"
#include "data/schema_validate.h"
#include "data/testing/cases.h"
#include "data/testing/schema_from_json.h"

namespace gpuop::data {
namespace {

/// Each case is `{name, schema, value, old?, errors, pruned, unknown, defaulted}`: what the API server's own code makes
/// of the value.
class SchemaTest : public testing::TestWithParam<Json> {
 protected:
  const Json& c = GetParam();
  const SchemaPtr schema = TestSchema(c.at("schema"));

  std::vector<std::string> Texts(std::string_view name) const {
    std::vector<std::string> out;
    for (const Json& text : *GetArray(c, name)) out.emplace_back(StringOr(text, ""));
    return out;
  }
};

TEST_P(SchemaTest, FindsWhatTheServerFinds) {
  std::vector<std::string> got;
  for (const FieldError& error : SchemaValidator(schema).Validate(c.at("value"), Find(c, "old")))
    got.push_back(std::string(error.Reason()) + " " + error.ToString());
  EXPECT_THAT(got, testing::UnorderedElementsAreArray(Texts("errors")));
}

TEST_P(SchemaTest, PrunesWhatTheServerPrunes) {
  Json value = c.at("value");
  const auto pruned = Prune(value, *schema);
  EXPECT_TRUE(JsonEqual(value, c.at("pruned"))) << ToJson(value);
  EXPECT_THAT(pruned, testing::UnorderedElementsAreArray(Texts("unknown")));
}

TEST_P(SchemaTest, DefaultsWhatTheServerDefaults) {
  Json value = c.at("value");
  ApplyDefaults(value, *schema);
  EXPECT_TRUE(JsonEqual(value, c.at("defaulted"))) << ToJson(value) << "\nwanted " << ToJson(c.at("defaulted"));
}

INSTANTIATE_TEST_SUITE_P(All, SchemaTest, testing::ValuesIn(TestCases("schema.json")), CaseName);

TEST(RatchetingTest, WhatHasNotChangedIsNotHeldAgainstAnObject) {
  const Json text = *ParseJson(R"({"type":"object","required":["must"],"properties":{
    "must":{"type":"string"},
    "size":{"type":"integer","maximum":5},
    "spec":{"type":"object","properties":{"mode":{"type":"string","enum":["a","b"]},"n":{"type":"integer"}},
            "x-kubernetes-validations":[{"rule":"self.n > 0","message":"n"}]},
    "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
             "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer","minimum":3}}}},
    "loose":{"type":"array","items":{"type":"integer","minimum":3}}}})");
  const SchemaValidator validator(TestSchema(text));
  const auto errors = [&](const char* now, const char* old) {
    std::string out;
    const Json before = *ParseJson(old);
    for (const FieldError& e : validator.Validate(*ParseJson(now), &before)) out += e.path + " ";
    return out;
  };
  EXPECT_EQ(errors(R"({"must":"x","size":9,"extra":1})", R"({"must":"x","size":9})"), "");
  EXPECT_EQ(errors(R"({"must":"x","size":8})", R"({"must":"x","size":9})"), "size ");
  EXPECT_EQ(errors(R"({"size":8})", R"({"size":9})"), "size must ") << "what is missing is missing in what has changed";
  EXPECT_EQ(errors(R"({"must":"y","spec":{"mode":"z","n":0}})", R"({"must":"x","spec":{"mode":"z","n":0}})"), "");
  EXPECT_EQ(errors(R"({"must":"x","spec":{"mode":"z","n":-1}})", R"({"must":"x","spec":{"mode":"z","n":0}})"), "spec ");
  EXPECT_EQ(errors(R"({"must":"x","keyed":[{"k":"b","v":1},{"k":"a","v":1}]})",
                   R"({"must":"x","keyed":[{"k":"a","v":1},{"k":"b","v":2}]})"),
            "keyed[0].v ");
  EXPECT_EQ(errors(R"({"must":"x","keyed":[{"k":"a"},{"k":"a"}]})", R"({"must":"y","keyed":[{"k":"a"},{"k":"a"}]})"),
            "");
  EXPECT_EQ(errors(R"({"must":"x","loose":[1,4]})", R"({"must":"x","loose":[1]})"), "loose[0] ");
}

TEST(StrictTest, NamesUnknownAndDuplicateFieldsInOrder) {
  const auto in = ParseJsonFindingDuplicates(
      R"({"apiVersion":"v1","metadata":{"x":1},"spec":{"foo":1,"l":[{"bar":1,"name":"x","name":"y"}],"baz":2}})");
  const SchemaPtr schema = TestSchema(*ParseJson(
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}}}}}})"));
  EXPECT_THAT(StrictErrors(in->value, *schema, in->duplicates),
              testing::ElementsAre(R"(unknown field "spec.foo")", R"(unknown field "spec.l[0].bar")",
                                   R"(duplicate field "spec.l[0].name")", R"(unknown field "spec.baz")"));
}

SchemaPtr Named(std::string name, std::vector<Property> properties) {
  auto schema = std::make_shared<Schema>();
  schema->type = Type::kObject;
  schema->name = std::move(name);
  std::ranges::sort(properties, {}, &Property::name);
  schema->properties = std::move(properties);
  return schema;
}
SchemaPtr Scalar(Type type, std::string format = "") {
  auto schema = std::make_shared<Schema>();
  schema->type = type;
  schema->format = std::move(format);
  return schema;
}
SchemaPtr ListOf(SchemaPtr items) {
  auto schema = std::make_shared<Schema>();
  schema->type = Type::kArray;
  schema->items = std::move(items);
  return schema;
}
SchemaPtr MapOf(SchemaPtr values) {
  auto schema = std::make_shared<Schema>();
  schema->type = Type::kObject;
  schema->values = std::move(values);
  return schema;
}

/// As much of Deployment as the words below need.
SchemaPtr Deployment() {
  const std::string core = "io.k8s.api.core.v1.";
  auto surge = std::make_shared<Schema>();
  surge->int_or_string = true;
  const SchemaPtr container =
      Named(core + "Container", {{"name", Scalar(Type::kString)}, {"args", ListOf(Scalar(Type::kString))}});
  const SchemaPtr pod = Named(core + "PodSpec", {{"containers", ListOf(container)}});
  const SchemaPtr spec =
      Named("io.k8s.api.apps.v1.DeploymentSpec", {{"replicas", Scalar(Type::kInteger, "int32")},
                                                  {"paused", Scalar(Type::kBoolean)},
                                                  {"template", Named(core + "PodTemplateSpec", {{"spec", pod}})},
                                                  {"surge", surge}});
  const SchemaPtr meta = Named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                               {{"name", Scalar(Type::kString)}, {"labels", MapOf(Scalar(Type::kString))}});
  return Named("io.k8s.api.apps.v1.Deployment", {{"metadata", meta}, {"spec", spec}});
}

struct DecodeCase {
  const char* in;
  const char* want;
};
class DecodeTest : public testing::TestWithParam<DecodeCase> {};
TEST_P(DecodeTest, RefusesInTheServersWords) {
  const auto got = DecodeError(*ParseJson(GetParam().in), *Deployment());
  EXPECT_EQ(got.value_or("fine"), GetParam().want);
}
// Taken from a kube-apiserver.
INSTANTIATE_TEST_SUITE_P(
    All, DecodeTest,
    testing::Values(
        DecodeCase{R"({"spec":{"replicas":"3"}})",
                   "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"},
        DecodeCase{R"({"spec":{"replicas":3.5}})",
                   "json: cannot unmarshal number 3.5 into Go struct field DeploymentSpec.spec.replicas of type int32"},
        DecodeCase{R"({"spec":{"replicas":99999999999}})",
                   "json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of "
                   "type int32"},
        DecodeCase{R"({"metadata":{"name":5}})",
                   "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
        DecodeCase{R"({"metadata":"x"})",
                   "json: cannot unmarshal string into Go struct field Deployment.metadata of type v1.ObjectMeta"},
        DecodeCase{R"({"metadata":{"labels":{"a":1}}})",
                   "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"},
        DecodeCase{
            R"({"metadata":{"labels":["a"]}})",
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string"},
        DecodeCase{R"({"spec":{"template":{"spec":{"containers":{}}}}})",
                   "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type "
                   "[]v1.Container"},
        DecodeCase{R"({"spec":{"template":{"spec":{"containers":[5]}}}})",
                   "json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.containers of type "
                   "v1.Container"},
        DecodeCase{R"({"spec":{"template":{"spec":{"containers":[{"name":true}]}}}})",
                   "json: cannot unmarshal bool into Go struct field Container.spec.template.spec.containers.name of "
                   "type string"},
        DecodeCase{R"({"spec":{"template":{"spec":{"containers":[{"args":"x"}]}}}})",
                   "json: cannot unmarshal string into Go struct field Container.spec.template.spec.containers.args of "
                   "type []string"},
        DecodeCase{R"({"spec":{"paused":"x"}})",
                   "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool"},
        DecodeCase{R"({"spec":{"surge":true}})",
                   "json: cannot unmarshal bool into Go struct field DeploymentSpec.spec.surge of type int32"},
        DecodeCase{R"({"spec":[]})",
                   "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec"},
        DecodeCase{R"({"spec":{"replicas":3,"surge":"25%","paused":null,"unknown":5}})", "fine"}));

}  // namespace
}  // namespace gpuop::data
