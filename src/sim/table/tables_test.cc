#include "sim/table/tables.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "sim/peek.h"
#include "sim/table/human.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

const std::filesystem::path kFixtures = std::filesystem::path(SourceDir()) / "testdata/tables";

std::vector<std::string> Fixtures() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(kFixtures))
    if (entry.path().extension() == ".json") out.push_back(entry.path().stem());
  std::ranges::sort(out);
  return out;
}

json::value ReadJson(const std::filesystem::path& path) {
  std::ifstream in(path);
  return json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

/// The resource as the server would know it; a custom one learns its columns from the CRD's own fixture.
ResourceInfo InfoFor(const json::value& fixture) {
  ResourceInfo info;
  const std::string api_version(PeekString(fixture, {"apiVersion"}));
  const auto cut = Cut(api_version, '/');
  info.group = cut ? cut->first : "";
  info.version = cut ? cut->second : api_version;
  info.kind = PeekString(fixture, {"kind"});
  info.plural = PeekString(fixture, {"plural"});
  if (info.group != "tables.example") return info;
  info.custom = true;
  const json::value crds = ReadJson(kFixtures / "customresourcedefinition.apiextensions.k8s.io.json");
  for (const json::value& row : PeekArray(crds, {"rows"})) {
    if (PeekString(row, {"object", "spec", "names", "kind"}) != info.kind) continue;
    const json::value& version = PeekArray(row, {"object", "spec", "versions"})[0];
    for (const json::value& c : PeekArray(version, {"additionalPrinterColumns"}))
      info.columns.push_back({.name = std::string(PeekString(c, {"name"})),
                              .type = std::string(PeekString(c, {"type"})),
                              .format = std::string(PeekString(c, {"format"})),
                              .description = {},
                              .json_path = std::string(PeekString(c, {"jsonPath"})),
                              .priority = static_cast<int>(PeekInt(c, {"priority"}))});
  }
  return info;
}

class TablesTest : public testing::TestWithParam<std::string> {};

TEST_P(TablesTest, ShowsWhatTheRealServerShows) {
  const json::value fixture = ReadJson(kFixtures / (GetParam() + ".json"));
  const ResourceInfo info = InfoFor(fixture);
  Tables tables;
  json::value columns = json::parse(tables.Columns(info));
  for (json::value& c : columns.as_array()) c.as_object().erase("description");
  EXPECT_EQ(columns, fixture.at("columns")) << json::serialize(columns) << "\n"
                                            << json::serialize(fixture.at("columns"));
  ASSERT_FALSE(PeekArray(fixture, {"rows"}).empty());
  for (const json::value& row : PeekArray(fixture, {"rows"})) {
    const auto now = ParseTime(PeekString(row, {"now"}));
    ASSERT_TRUE(now);
    const json::object& object = PeekObject(row, {"object"});
    const json::value got = json::parse("{" + tables.Row(info, object, *now) + "}");
    EXPECT_EQ(got.at("cells"), row.at("cells"))
        << PeekString(object, {"metadata", "name"}) << "\ngot  " << json::serialize(got.at("cells")) << "\nwant "
        << json::serialize(row.at("cells"));
    EXPECT_EQ(json::serialize(PeekArray(got, {"conditions"})).size(),
              json::serialize(PeekArray(row, {"conditions"})).size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, TablesTest, testing::ValuesIn(Fixtures()), [](const auto& p) {
  std::string name = p.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST(HumanDurationTest, GrowsCoarserAsItGrowsLonger) {
  using namespace std::chrono;
  const std::pair<seconds, const char*> cases[] = {
      {seconds(-5), "<invalid>"}, {seconds(0), "0s"},         {seconds(119), "119s"},   {minutes(2), "2m"},
      {seconds(150), "2m30s"},    {minutes(10), "10m"},       {seconds(661), "11m"},    {minutes(179), "179m"},
      {hours(3), "3h"},           {minutes(200), "3h20m"},    {minutes(500), "8h"},     {hours(47), "47h"},
      {hours(48), "2d"},          {hours(49), "2d1h"},        {hours(24 * 8), "8d"},    {hours(24 * 729), "729d"},
      {hours(24 * 730), "2y"},    {hours(24 * 800), "2y70d"}, {hours(24 * 2920), "8y"}, {hours(24 * 4000), "10y"}};
  for (const auto& [span, want] : cases) EXPECT_EQ(HumanDuration(span), want) << span.count();
}

TEST(JsonPathTest, RefusesWhatIsNoPath) {
  for (const char* bad : {".a[", ".a[x]", ".a[?(@.b==)]", ".a[?(@.b", "a", ".a b", ".a['b]"})
    EXPECT_FALSE(JsonPath::Parse(bad)) << bad;
}

}  // namespace
}  // namespace gpuop::sim
