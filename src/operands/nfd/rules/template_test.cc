#include "operands/nfd/rules/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuop::operands::nfd {
namespace {

using testing::HasSubstr;

data::Json Data() {
  return *data::ParseJson(R"({
    "pci":{"device":[{"class":"0302","vendor":"10de"},{"class":"0200","vendor":"15b3"}]},
    "kernel":{"version":[{"Name":"full","Value":"6.8.0-45-generic"},{"Name":"major","Value":"6"}]}})");
}

std::string Printed(const std::string& text) {
  const auto parsed = Template::Parse(text);
  if (!parsed) return "error: " + parsed.error().text;
  const auto out = parsed->Execute(Data());
  return out ? *out : "error: " + out.error().text;
}

TEST(TemplateTest, PrintsAsGoDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "plain"},
      {"{{ range .pci.device }}{{ .class }}-{{ .vendor }};{{ end }}", "0302-10de;0200-15b3;"},
      {"{{ range $i, $d := .pci.device }}{{ $i }}={{ $d.class }} {{ end }}", "0=0302 1=0200 "},
      {"{{ range $d := .pci.device }}{{ if eq $d.vendor \"10de\" }}gpu{{ else }}nic{{ end }},{{ end }}", "gpu,nic,"},
      {"{{ range .pci.device }}{{ if eq .class \"9\" }}a{{ else if eq .class \"0200\" }}b{{ else }}c{{ end }}{{ end }}",
       "cb"},
      {"a {{- \" b \" -}} c", "a b c"},
      {"a {{/* nothing */}}b", "a b"},
      {"x{{- /* nothing */ -}}  y", "xy"},
      {"{{ with index .kernel.version 0 }}{{ .Value | upper | replace \".\" \"_\" }}{{ end }}", "6_8_0-45-GENERIC"},
      {"{{ with \"\" }}a{{ else }}b{{ end }}", "b"},
      {"{{ $n := 0 }}{{ range .pci.device }}{{ $n = add $n 1 }}{{ end }}{{ $n }}", "2"},
      {"{{ len .pci.device }}", "2"},
      {"{{ printf \"%s:%d:%q:%%\" \"a\" 3 \"b\" }}", "a:3:\"b\":%"},
      {"{{ (index .pci.device 1).vendor }}", "15b3"},
      {"{{ if and true (gt 3 2) (not false) }}yes{{ end }}", "yes"},
      {"{{ or \"\" \"b\" }}", "b"},
      {"{{ \"a,b,c\" | splitList \",\" | join \"-\" }}", "a-b-c"},
      {"{{ \"A100-SXM4\" | lower | trunc 4 }}", "a100"},
      {"{{ \"xxabcxx\" | trimAll \"x\" }}{{ \"v1\" | trimPrefix \"v\" }}{{ \"a.ko\" | trimSuffix \".ko\" }}", "abc1a"},
      {"{{ default \"none\" \"\" }} {{ ternary \"a\" \"b\" true }}", "none a"},
      {"{{ regexFind \"[0-9]+\" \"ab12c\" }} {{ regexMatch \"^a\" \"ba\" }}", "12 false"},
      {"{{ regexReplaceAllLiteral \"[^a-z]\" \"a1b2\" \"_\" }}", "a_b_"},
      {"{{ add 1 2 3 }} {{ sub 5 2 }} {{ mul 2 3 }} {{ div 7 2 }} {{ mod 7 2 }} {{ max 1 4 2 }}", "6 3 6 3 1 4"},
      {"{{ atoi \"6\" | add 1 }}", "7"},
      {"{{ list \"b\" \"a\" \"b\" | uniq | sortAlpha | join \",\" }}", "a,b"},
      {"{{ range $x := list 1 2 }}{{ $.kernel.version | len }}{{ end }}", "22"},
      {"{{ `raw \"text\" }}` }}", "raw \"text\" }}"},
      {"{{ range .pci.device }}{{ else }}none{{ end }}", ""},
      {"{{ true }} {{ nil | empty }} {{ -3 }}", "true true -3"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Printed(text), want) << text;
}

TEST(TemplateTest, WhatIsNotKnownIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"{{ env \"HOME\" }}", "\"env\" is not known"},
      {"a\n\n{{ getHostByName \"x\" }}", "line 3"},
      {"{{ range .x }}", "{{end}} is missing"},
      {"{{ end }}", "{{end}} without a beginning"},
      {"{{ if true }}{{ else }}{{ else }}{{ end }}", "{{end}} is missing"},
      {"{{ .x", "does not end"},
      {"{{ \"x }}", "does not end"},
      {"{{ }}", "empty"},
      {"{{ .kernel.none }}", "no field .none"},
      {"{{ .kernel.version.x }}", "field .x of an array"},
      {"{{ $x }}", "$x was not declared"},
      {"{{ $x = 1 }}", "$x was not declared"},
      {"{{ 1 2 }}", "only a function takes arguments"},
      {"{{ 1 | 2 }}", "must be a function"},
      {"{{ upper }}", "number of arguments"},
      {"{{ index .pci.device 9 }}", "nothing at 9"},
      {"{{ div 1 0 }}", "division by zero"},
      {"{{ mul 9223372036854775807 2 }}", "too large"},
      {"{{ range 7000 }}0123456789{{ end }}", "64 KiB"},
      {"{{ range 90000 }}{{ range 90000 }}{{ end }}{{ end }}", "steps"},
      {"{{ gt 1 \"a\" }}", "incompatible types"},
      {"{{ 1.5 }}", "no whole number"},
      {"{{ template \"x\" }}", "\"template\" is not known"},
      {"{{ $a, $b := list 1 }}", "only range"},
      {"{{ printf \"%x\" 1 }}", "printf"},
      {"{{ regexMatch \"(\" \"x\" }}", "missing"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_THAT(Printed(text), HasSubstr("error: ")) << text;
    EXPECT_THAT(Printed(text), HasSubstr(says)) << text;
  }
  EXPECT_THAT(Printed(std::string(70000, 'x')), HasSubstr("64 KiB"));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "{{ if true }}";
  EXPECT_THAT(Printed(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(Printed("{{ " + std::string(200, '(')), HasSubstr("error: "));
}

}  // namespace
}  // namespace gpuop::operands::nfd
