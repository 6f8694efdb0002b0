#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <set>

#include "base/testing/source_dir.h"
#include "sim/cluster.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

/// Definitions with the shapes and constraints of the product's custom resources, and what a real kube-apiserver says
/// to one object for each of the constraints.
json::value Fixture() {
  std::ifstream in(std::string(SourceDir()) + "/testdata/crds/product.json");
  return json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

std::set<std::string> Causes(const json::value& answer) {
  std::set<std::string> out;
  for (const json::value& c : PeekArray(answer, {"details", "causes"}))
    out.insert(std::string(PeekString(c, {"field"})) + ": " + std::string(PeekString(c, {"message"})));
  return out;
}

TEST(ProductShapesTest, EveryConstraintIsHeldAsByTheRealServer) {
  const json::value fixture = Fixture();
  Cluster cluster(1);
  for (const json::value& crd : PeekArray(fixture, {"crds"}))
    ASSERT_EQ(
        cluster.Call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json::serialize(crd)).status,
        201)
        << PeekString(crd, {"metadata", "name"});
  cluster.RunFor(std::chrono::seconds(1));
  for (const json::value& c : PeekArray(fixture, {"cases"})) {
    const auto answer =
        cluster.Call("POST", std::string(PeekString(c, {"path"})) + "?dryRun=All", json::serialize(c.at("body")));
    const json::value got = json::parse(answer.body);
    SCOPED_TRACE(json::serialize(c.at("body")));
    ASSERT_EQ(answer.status, PeekInt(c, {"code"})) << answer.body;
    if (answer.status != 201) {
      std::set<std::string> wanted;
      for (const json::value& cause : PeekArray(c, {"causes"})) wanted.emplace(AsString(cause));
      EXPECT_EQ(Causes(got), wanted);
      continue;
    }
    for (const auto& [field, value] : PeekObject(c, {"object"})) {
      const json::value* has = Peek(got, {field});
      EXPECT_TRUE(has != nullptr && *has == value)
          << field << "\ngot  " << (has ? json::serialize(*has) : "nothing") << "\nwant " << json::serialize(value);
    }
  }
}

}  // namespace
}  // namespace gpuop::sim
