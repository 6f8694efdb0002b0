// The definitions are held to the tables of NVIDIA's and NFD's own: testdata/crds/fields.

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "api/crd.h"
#include "base/testing/source_dir.h"
#include "data/json.h"

namespace gpuop::api {
namespace {

/// One field as a line of the table says it: type, required, default, enumeration, pattern and the rest.
struct Row {
  std::string type, required, initial, enumeration, pattern;
  boost::json::object extra;

  std::string ToString() const {
    return type + "|" + required + "|" + initial + "|" + enumeration + "|" + pattern + "|" +
           boost::json::serialize(extra);
  }
};
using Rows = std::map<std::string, Row>;

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) out.push_back(cell);
  out.resize(7);
  return out;
}

boost::json::object Sorted(const boost::json::object& in) {
  std::map<std::string, boost::json::value> sorted;
  for (const auto& [key, value] : in) sorted[key] = value;
  boost::json::object out;
  for (const auto& [key, value] : sorted) out[key] = value;
  return out;
}

/// The tables of one file by kind.
std::map<std::string, Rows> ReadTables(const std::string& file) {
  std::map<std::string, Rows> out;
  std::ifstream in(std::string(SourceDir()) + "/testdata/crds/fields/" + file);
  Rows* rows = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ") && line.contains("plural=")) rows = &out[line.substr(2, line.find(' ', 2) - 2)];
    if (line.starts_with("#") || line.starts_with("path\t") || rows == nullptr) continue;
    const auto cell = Split(line);
    Row row{cell[1], cell[2], cell[3], cell[4], cell[5], {}};
    if (!cell[6].empty()) row.extra = data::ParseJson(cell[6])->as_object();
    // Lists are atomic unless something else is said; integers are of 64 bits.
    if (row.extra.contains("x-kubernetes-list-type") && row.extra["x-kubernetes-list-type"] == "atomic")
      row.extra.erase("x-kubernetes-list-type");
    if (row.type == "integer" && !row.extra.contains("format")) row.extra["format"] = "int64";
    row.extra = Sorted(row.extra);
    (*rows)[cell[0]] = row;
  }
  return out;
}

void Walk(const std::string& path, const boost::json::object& schema, bool required, Rows& out) {
  Row row;
  const auto text = [&](std::string_view key) {
    const boost::json::value* v = schema.if_contains(key);
    return v == nullptr ? std::string() : v->is_string() ? std::string(v->as_string()) : boost::json::serialize(*v);
  };
  row.type = schema.contains("x-kubernetes-int-or-string") ? "int-or-string" : text("type");
  row.required = required ? "required" : "";
  if (const auto* v = schema.if_contains("default")) row.initial = boost::json::serialize(*v);
  row.enumeration = text("enum");
  row.pattern = text("pattern");
  for (const char* key : {"minimum", "maximum", "minLength", "maxLength", "format", "x-kubernetes-list-type",
                          "x-kubernetes-list-map-keys", "x-kubernetes-map-type"})
    if (const auto* v = schema.if_contains(key)) row.extra[key] = *v;
  if (const auto* rules = schema.if_contains("x-kubernetes-validations")) {
    boost::json::array texts;
    for (const auto& rule : rules->as_array()) texts.push_back(rule.at("rule"));
    row.extra["cel"] = std::move(texts);
  }
  row.extra = Sorted(row.extra);
  out[path.empty() ? "." : path] = row;
  std::set<std::string> needed;
  if (const auto* names = schema.if_contains("required"))
    for (const auto& name : names->as_array()) needed.insert(std::string(name.as_string()));
  if (const auto* members = schema.if_contains("properties"))
    for (const auto& [name, member] : members->as_object())
      Walk(path + "." + std::string(name), member.as_object(), needed.contains(std::string(name)), out);
  if (const auto* v = schema.if_contains("additionalProperties")) Walk(path + "{}", v->as_object(), false, out);
  if (const auto* v = schema.if_contains("items")) Walk(path + "[]", v->as_object(), false, out);
}

Rows Ours(const std::string& kind) {
  Rows out;
  for (const Definition& d : Definitions())
    if (d.resource.kind == kind) Walk("", OpenApiOf(*d.schema()), false, out);
  return out;
}

class FieldsTest : public testing::TestWithParam<const char*> {};

TEST_P(FieldsTest, AreThoseOfTheTableWithTypesDefaultsAndLimits) {
  const auto tables = ReadTables(GetParam());
  ASSERT_FALSE(tables.empty());
  for (const auto& [kind, wanted] : tables) {
    ASSERT_GT(wanted.size(), 10U) << kind;
    const Rows ours = Ours(kind);
    for (const auto& [path, row] : wanted) {
      const auto it = ours.find(path);
      if (it == ours.end()) {
        ADD_FAILURE() << kind << " lacks " << path;
      } else {
        EXPECT_EQ(it->second.ToString(), row.ToString()) << kind << path;
      }
    }
    for (const auto& [path, row] : ours) EXPECT_TRUE(wanted.contains(path)) << kind << " has also " << path;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FieldsTest,
                         testing::Values("clusterpolicies.tsv", "nvidiadrivers.tsv", "gpuclusters.tsv", "nfd-crds.tsv"),
                         [](const auto& c) {
                           std::string name = c.param;
                           std::ranges::replace_if(name, [](char x) { return x == '.' || x == '-'; }, '_');
                           return name;
                         });

/// `kubectl explain` has something to say about every field.
void ExpectDescribed(const std::string& path, const boost::json::object& schema) {
  EXPECT_TRUE(schema.contains("description") || path.ends_with("{}") || path.ends_with("[]") ||
              path.ends_with(".metadata"))
      << path;
  if (const auto* members = schema.if_contains("properties"))
    for (const auto& [name, member] : members->as_object())
      ExpectDescribed(path + "." + std::string(name), member.as_object());
  if (const auto* v = schema.if_contains("additionalProperties")) ExpectDescribed(path + "{}", v->as_object());
  if (const auto* v = schema.if_contains("items")) ExpectDescribed(path + "[]", v->as_object());
}

TEST(DefinitionsTest, DescribeEveryField) {
  for (const Definition& d : Definitions()) {
    const boost::json::object crd = CustomResourceDefinitionOf(d);
    const auto& schema = crd.at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema");
    ExpectDescribed(d.resource.kind, schema.as_object());
  }
}

}  // namespace
}  // namespace gpuop::api
