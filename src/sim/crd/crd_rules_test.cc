#include "sim/crd/crd_rules.h"

#include <boost/json/parse.hpp>
#include <fstream>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "sim/crd/crd_names.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

json::array Fixture(const char* name) {
  std::ifstream in(std::string(SourceDir()) + "/testdata/crds/" + name);
  return json::parse(std::string(std::istreambuf_iterator<char>(in), {})).as_array();
}

std::string Verdict(const json::object& given) {
  json::object crd = given;
  DefaultCrd(crd);
  KeepStoredVersions(crd);
  const auto errors = ValidateCrd(crd, nullptr);
  if (errors.empty()) return "accepted";
  return Invalid("apiextensions.k8s.io", "CustomResourceDefinition", PeekString(crd, {"metadata", "name"}), errors)
      .message;
}

/// What the compiler of rules says differs from one compiler to the next; that it refuses, and where, does not.
std::string WithoutCompilerText(std::string message) {
  for (const char* from : {"compilation failed: ", "isn't: error parsing regexp: "})
    if (const auto at = message.find(from); at != std::string::npos) message.resize(at);
  return message;
}

TEST(CrdRulesTest, RefusesWhatTheRealServerRefusesInItsWords) {
  // Rules are compiled without types here, so that what only a type checker sees is not refused.
  const std::set<std::string> untyped = {"xval root", "xval bad", "xval notbool", "xval msgexpr"};
  for (const json::value& c : Fixture("refused.json")) {
    const std::string name(PeekString(c, {"name"}));
    if (untyped.contains(name)) continue;
    EXPECT_EQ(WithoutCompilerText(Verdict(PeekObject(c, {"crd"}))),
              WithoutCompilerText(std::string(PeekString(c, {"message"}))))
        << name;
  }
}

TEST(CrdRulesTest, AcceptsWhatTheRealServerAccepts) {
  for (const json::value& c : Fixture("accepted.json"))
    EXPECT_EQ(Verdict(PeekObject(c, {"crd"})), "accepted") << PeekString(c, {"name"});
}

TEST(CrdRulesTest, KeepsWhatIsImmutableAndVersionsThatHoldObjects) {
  json::object crd = PeekObject(Fixture("accepted.json")[0], {"crd"});
  DefaultCrd(crd);
  KeepStoredVersions(crd);
  AcceptNames(crd, {}, FakeClock::kStart);
  ASSERT_TRUE(HasCondition(crd, "Established"));
  const auto after = [&](auto change) {
    json::object changed = crd;
    change(changed["spec"].as_object());
    KeepStoredVersions(changed);
    const auto errors = ValidateCrd(changed, &crd);
    return errors.empty() ? "" : errors[0].field + ": " + errors[0].detail;
  };
  EXPECT_EQ(after([](json::object& s) { s["scope"] = "Cluster"; }), "spec.scope: field is immutable");
  EXPECT_EQ(after([](json::object& s) { s["names"].as_object()["plural"] = "bars"; }),
            "spec.names.plural: field is immutable");
  EXPECT_EQ(after([](json::object& s) { s["names"].as_object()["singular"] = "bar"; }), "");
  EXPECT_EQ(after([](json::object& s) { s["versions"].as_array()[0].as_object()["name"] = "v2"; }).substr(0, 66),
            "status.storedVersions[0]: missing from spec.versions; v1 was previ");
}

TEST(CrdNamesTest, AConflictNamesTheNameAndKeepsTheDefinitionUnserved) {
  json::object first = PeekObject(Fixture("accepted.json")[0], {"crd"}), second = first;
  DefaultCrd(first);
  AcceptNames(first, {}, FakeClock::kStart);
  second["metadata"].as_object()["name"] = "others.x.example";
  second["spec"].as_object()["names"] = {
      {"plural", "others"}, {"singular", "foo"}, {"kind", "Foo"}, {"listKind", "FooList"}};
  DefaultCrd(second);
  AcceptNames(second, {&first}, FakeClock::kStart);
  EXPECT_FALSE(HasCondition(second, "NamesAccepted"));
  EXPECT_FALSE(HasCondition(second, "Established"));
  EXPECT_EQ(PeekString(PeekArray(second, {"status", "conditions"})[0], {"reason"}), "ListKindConflict");
  EXPECT_EQ(PeekString(PeekArray(second, {"status", "conditions"})[0], {"message"}), "\"FooList\" is already in use");
  EXPECT_EQ(PeekString(second, {"status", "acceptedNames", "plural"}), "others");
}

}  // namespace
}  // namespace gpuop::sim
