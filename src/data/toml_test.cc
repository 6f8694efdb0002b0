#include "data/toml.h"

#include "data/toml_editor.h"

namespace gpuop::data {
namespace {

TEST(ParseTomlTest, ReadsEveryKindOfValue) {
  const auto value = ParseToml(R"(# comment
title = "a\tb"
raw = 'C:\x'
n = 0x1f
f = 1.5
yes = true
day = 2026-01-02
list = [1, [2, 3], # inner
  "x",]
inline = {a = 1, "b c".d = 2}
multi = """
one
two"""
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"
[[items]]
a = 1
[[items]]
a = 2
)");
  ASSERT_TRUE(value) << value.error().text;
  EXPECT_TRUE(JsonEqual(*value, ParseJson(R"({"title":"a\tb","raw":"C:\\x","n":31,"f":1.5,"yes":true,"day":"2026-01-02",
    "list":[1,[2,3],"x"],"inline":{"a":1,"b c":{"d":2}},"multi":"one\ntwo",
    "plugins":{"io.containerd.grpc.v1.cri":{"containerd":{"default_runtime_name":"runc"}}},
    "items":[{"a":1},{"a":2}]})")
                                    .value()))
      << ToJson(*value);
}

TEST(ParseTomlTest, NamesTheLineOfWhatIsWrong) {
  for (const auto& [text, line] : std::vector<std::pair<std::string, std::string>>{{"version = [\n", "line 2"},
                                                                                   {"a = 1\nb 2\n", "line 2"},
                                                                                   {"a = 1\na = 2\n", "line 2"},
                                                                                   {"[a\n", "line 1"},
                                                                                   {"a = \"x\n", "line 1"},
                                                                                   {"a = 1 2\n", "line 1"},
                                                                                   {"a = \n", "line 1"},
                                                                                   {"a = 1\nb = \u00ea\n", "line 2"},
                                                                                   {"a = [\u0499]\n", "line 1"}}) {
    const auto value = ParseToml(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, Code::kInvalid);
    EXPECT_NE(value.error().text.find(line), std::string::npos) << value.error().text;
  }
}

TEST(ParseTomlTest, LettersBeyondAsciiStandInQuotesAndComments) {
  for (const char* letter : {"\u00a1", "\u00ea", "\u0499", "\u2010", "\ufefe", "\U0001f600"}) {
    const std::string x = letter;
    const auto value =
        ParseToml("a = \"" + x + "\" # " + x + "\nb = \"\"\"\\\n  " + x + "\"\"\"\n'" + x + "' = '" + x + "'\n");
    ASSERT_TRUE(value) << x << ": " << value.error().text;
    EXPECT_EQ(ToJson(*value), R"({"a":")" + x + R"(","b":")" + x + "\",\"" + x + R"(":")" + x + "\"}") << x;
    EXPECT_EQ(ParseToml("a = " + x + "\n").error().code, Code::kInvalid) << x;
  }
}

TEST(ParseTomlTest, BoundsDepth) {
  std::string key = "a";
  for (int i = 0; i < 100000; ++i) key += ".a";
  EXPECT_EQ(ParseToml(key + " = 1\n").error().code, Code::kTooLarge);
  EXPECT_EQ(ParseToml("a = " + std::string(100000, '[') + "\n").error().code, Code::kTooLarge);
}

TEST(ToTomlTest, WritesWhatReadsBack) {
  const Json value =
      ParseJson(R"({"version":3,"imports":["a","b"],"plugins":{"io.x.y":{"enable":true,"t":{"o":{"B":"/x"}},
    "empty":{}},"f":1.0,"items":[{"a":1}]}})")
          .value();
  const std::string text = ToToml(value.get_object());
  EXPECT_EQ(text, R"(version = 3
imports = ["a", "b"]

[plugins]
  f = 1.0
  items = [{a = 1}]

  [plugins."io.x.y"]
    enable = true

      [plugins."io.x.y".t.o]
        B = "/x"

    [plugins."io.x.y".empty]
)");
  EXPECT_TRUE(JsonEqual(ParseToml(text).value(), value));
}

struct Edit {
  const char* name;
  const char* before;
  TomlPath path;
  /// JSON; null removes.
  const char* value;
  /// The text afterwards, or how the error ends.
  const char* want;
};

class TomlEditorTest : public testing::TestWithParam<Edit> {};

TEST_P(TomlEditorTest, TouchesOnlyWhatItMust) {
  auto editor = TomlEditor::Open(GetParam().before);
  ASSERT_TRUE(editor) << editor.error().text;
  const Json value = ParseJson(GetParam().value).value();
  const auto done = value.is_null() ? editor->Remove(GetParam().path) : editor->Set(GetParam().path, value);
  if (std::string_view(GetParam().want).starts_with("error: ")) {
    ASSERT_FALSE(done) << editor->text();
    EXPECT_EQ("error: " + done.error().text, GetParam().want);
    EXPECT_EQ(done.error().code, Code::kUnsupported);
    EXPECT_EQ(editor->text(), GetParam().before);
    return;
  }
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(editor->text(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Values, TomlEditorTest,
    testing::Values(
        Edit{"InAnEmptyFile", "", {"version"}, "2", "version = 2\n"},
        Edit{"Replaces", "a  =  1   # why\nb = 2\n", {"a"}, "5", "a  =  5   # why\nb = 2\n"},
        Edit{"SameMeaningStays", "a = 0x10\n", {"a"}, "16", "a = 0x10\n"},
        Edit{"ReplacesAnArrayOverLines", "a = [ # list\n  1,\n]\nb = 1\n", {"a"}, "[1,2]", "a = [1, 2]\nb = 1\n"},
        Edit{"AppendsToTheRoot",
             "# head\nversion = 2\n\n[x]\na = 1\n",
             {"imports"},
             "[\"/d/*.toml\"]",
             "# head\nversion = 2\nimports = [\"/d/*.toml\"]\n\n[x]\na = 1\n"},
        Edit{"RootWithoutValues", "[x]\na = 1\n", {"version"}, "1", "version = 1\n[x]\na = 1\n"},
        Edit{"NoLastLineBreak", "a = 1", {"b"}, "2", "a = 1\nb = 2\n"},
        Edit{"IndentsAsItsSiblings",
             "[x]\n    a = 1\n\n# other\n[y]\n",
             {"x", "b"},
             "\"t\"",
             "[x]\n    a = 1\n    b = \"t\"\n\n# other\n[y]\n"},
        Edit{"InAnEmptySection", "[x]\n[y]\n", {"x", "b"}, "true", "[x]\n  b = true\n[y]\n"},
        Edit{"CarriageReturns", "a = 1\r\n[x]\r\n", {"b"}, "2", "a = 1\r\nb = 2\r\n[x]\r\n"},
        Edit{"InlineTable", "x = {a = 1}  # c\n", {"x", "b"}, "2", "x = {a = 1, b = 2}  # c\n"},
        Edit{"DottedKeys", "[p]\nc.a = 1\nd = 2\n", {"p", "c", "b"}, "2", "[p]\nc.a = 1\nd = 2\nc.b = 2\n"},
        Edit{"ImplicitTable", "[a.b.c]\nx = 1\n", {"a", "b", "y"}, "2", "[a.b.c]\nx = 1\n\n[a.b]\n  y = 2\n"},
        Edit{"QuotedKeys", "[plugins.'io.x']\na = 1\n", {"plugins", "io.x", "a"}, "2", "[plugins.'io.x']\na = 2\n"},
        Edit{"RemovesALine", "a = 1\n# about b\nb = 2 # x\nc = 3\n", {"b"}, "null", "a = 1\n# about b\nc = 3\n"},
        Edit{"RemovesNothing", "a = 1\n", {"b", "c"}, "null", "a = 1\n"},
        Edit{"RemovesFromInline", "x = {a = 1, b = 2}\n", {"x", "a"}, "null", "x = {b = 2}\n"},
        Edit{"ArrayOfTables", "[[x]]\na = 1\n", {"x", "a"}, "2", "error: x.a is inside an array of tables"},
        Edit{"ParentIsNoTable", "a = 1\n", {"a", "b"}, "2", "error: a.b has a parent that is no table"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Tables, TomlEditorTest,
    testing::Values(
        Edit{"BehindItsSiblings",
             "[r]\n  [r.runc]\n    t = 1\n    [r.runc.options]\n      B = 1\n\n# next\n[z]\na = 1\n",
             {"r", "nvidia"},
             R"({"t":1,"options":{"B":"/x"}})",
             "[r]\n  [r.runc]\n    t = 1\n    [r.runc.options]\n      B = 1\n\n  [r.nvidia]\n    t = 1\n\n    "
             "[r.nvidia.options]\n      B = \"/x\"\n\n# next\n[z]\na = 1\n"},
        Edit{"AtTheEnd", "a = 1\n", {"x", "y"}, R"({"b":1})", "a = 1\n\n[x.y]\n  b = 1\n"},
        Edit{"ReplacesATable",
             "[r.n]\na = 1\n[r.n.o]\nb = 1\n[z]\nc = 1\n",
             {"r", "n"},
             R"({"d":2})",
             "[z]\nc = 1\n\n[r.n]\n  d = 2\n"},
        Edit{"RemovesATableAndThoseInIt",
             "[a]\nx = 1\n\n[r.n]\na = 1\n# inside\n[r.n.o]\nb = 1\n\n# next\n[z]\nc = 1\n",
             {"r", "n"},
             "null",
             "[a]\nx = 1\n\n# next\n[z]\nc = 1\n"}),
    [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace gpuop::data
