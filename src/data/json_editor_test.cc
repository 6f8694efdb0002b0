#include "data/json_editor.h"

namespace gpuop::data {
namespace {

struct Case {
  const char* name;
  const char* before;
  std::vector<std::string> path;
  /// JSON; null removes.
  const char* value;
  const char* want;
};

class JsonEditorTest : public testing::TestWithParam<Case> {};

TEST_P(JsonEditorTest, TouchesOnlyWhatItMust) {
  const Case& c = GetParam();
  const Json value = ParseJson(c.value).value();
  const auto out = value.is_null() ? WithoutJsonMember(c.before, c.path) : WithJsonMember(c.before, c.path, value);
  EXPECT_EQ(out ? *out : "error: " + out.error().text, c.want);
}

INSTANTIATE_TEST_SUITE_P(
    , JsonEditorTest,
    testing::Values(Case{"Empty", "{}", {"a"}, "1", "{\n    \"a\": 1\n}"},
                    Case{"EmptyNested", "{ }\n", {"a", "b"}, "{}", "{\n    \"a\": {\n        \"b\": {}\n    }\n}\n"},
                    Case{"OnOneLine",
                         R"({"a" : 1 , "b": [1, {"c": "}"}] })",
                         {"d"},
                         "true",
                         R"({"a" : 1 , "b": [1, {"c": "}"}], "d": true })"},
                    Case{"OnLines",
                         "{\n  \"a\": 1\n}\n",
                         {"b"},
                         R"({"c":1})",
                         "{\n  \"a\": 1,\n  \"b\": {\n      \"c\": 1\n  }\n}\n"},
                    Case{"Nested", "{\n\t\"a\": {\"x\": 1}\n}", {"a", "y"}, "2", "{\n\t\"a\": {\"x\": 1, \"y\": 2}\n}"},
                    Case{"Replaces", R"({"a": "old", "b": 2})", {"a"}, "\"new\"", R"({"a": "new", "b": 2})"},
                    Case{"SameStays", R"({"a":  1.0 })", {"a"}, "1", R"({"a":  1.0 })"},
                    Case{"EscapedKey", R"({"\u0061": 1})", {"a"}, "2", R"({"\u0061": 2})"},
                    Case{"ParentIsNoObject", R"({"a": 1})", {"a", "b"}, "2", "error: a: expected an object"},
                    Case{"NotAnObject", "[]", {"a"}, "2", "error: expected an object, got an array"},
                    Case{"RemovesTheFirst", R"({"a": 1, "b": 2})", {"a"}, "null", R"({"b": 2})"},
                    Case{"RemovesTheLast", "{\n  \"a\": 1,\n  \"b\": 2\n}", {"b"}, "null", "{\n  \"a\": 1\n}"},
                    Case{"RemovesTheOnly", "{ \"a\": {\"b\": 1} }", {"a", "b"}, "null", "{ \"a\": {} }"},
                    Case{"RemovesNothing", R"({"a": 1})", {"b", "c"}, "null", R"({"a": 1})"}),
    [](const auto& c) { return std::string(*c.param.name ? c.param.name : "x"); });

}  // namespace
}  // namespace gpuop::data
