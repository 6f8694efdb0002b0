#include "operands/nfd/sources/feature_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "operands/nfd/rules/name_rules.h"
#include "operands/nfd/sources/source.h"
#include "operands/nfd/worker/discovery.h"
#include "os/fake_fs.h"

namespace gpuop::operands::nfd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

LocalFeatures Read(std::initializer_list<const char*> files) {
  LocalFeatures out;
  for (const char* text : files) AddFeatureFile(text, FakeClock::kStart, out);
  return out;
}

TEST(FeatureFileTest, LinesAreNamesWithValuesOrWithout) {
  const LocalFeatures got = Read({"a=1\nb\n# comment\n\n  # another\nc=\nd=x=y\r\nlast=no newline"});
  EXPECT_THAT(got.labels, UnorderedElementsAre(Pair("a", "1"), Pair("b", "true"), Pair("c", ""), Pair("d", "x=y"),
                                               Pair("last", "no newline")));
  EXPECT_EQ(got.features, got.labels);
}

TEST(FeatureFileTest, BlanksStayWhereTheyAre) {
  EXPECT_THAT(Read({"spaces = x y\n"}).features, ElementsAre(Pair("spaces ", " x y")));
}

TEST(FeatureFileTest, DirectivesConcernTheNextEntryAlone) {
  const LocalFeatures got = Read({"a=1\nb=1\nc=1\n", "# +no-feature\na=2\n# +no-label\nb=2\nc=2\n"});
  EXPECT_THAT(got.labels, UnorderedElementsAre(Pair("a", "2"), Pair("c", "2")));
  EXPECT_THAT(got.features, UnorderedElementsAre(Pair("b", "2"), Pair("c", "2")));
}

TEST(FeatureFileTest, WhatHasExpiredDoesNotCount) {
  const LocalFeatures got =
      Read({"always=1\n# +expiry-time=2025-12-31T23:59:59Z\nover=1\n"
            "# +expiry-time=2026-01-01T01:00:00Z\nstill=1\n# +expiry-time=never\nkept=1\n"});
  EXPECT_THAT(got.labels, UnorderedElementsAre(Pair("always", "1"), Pair("still", "1"), Pair("kept", "1")));
  EXPECT_EQ(got.until, FakeClock::kStart + std::chrono::hours(1));
  LocalFeatures out;
  EXPECT_THAT(AddFeatureFile("# +expiry-time=never\n# +bogus\nx=1\n", {}, out), testing::SizeIs(2));
}

TEST(FeatureFileTest, AnExpiryOfOneFileIsNotTheNextOnes) {
  EXPECT_THAT(Read({"# +expiry-time=2025-01-01T00:00:00Z\na=1\n", "b=1\n"}).labels, ElementsAre(Pair("b", "1")));
}

/// The labels of a folder of feature files.
TextMap LabelsOf(const std::map<std::string, std::string>& files) {
  os::FakeFs fs;
  for (const auto& [name, text] : files) fs.Put(std::string(kFeaturesFolder) + "/" + name, text);
  FakeClock clock;
  FakeLog log;
  const Host host(fs);
  WorkerSettings settings;
  settings.feature_sources = settings.label_sources = {"local"};
  return NodeDiscovery(host, "n1", clock, log).Look(settings, true).labels;
}

TEST(FeatureFileTest, HostileFilesAreHarmless) {
  const std::string long_name(300, 'n'), long_value(64, 'v');
  const std::pair<std::string, std::string> files[] = {
      {".hidden", "a=1\n"},
      {"big", "a=1\n" + std::string(kMaxFeatureFile, '#')},
      {"long", long_name + "=1\n" + "a=" + long_value + "\n"},
      {"blank", "a b=1\n c=1\nd = 1\n"},
      {"slashes", "a/b/c=1\n/x=1\nx/=1\n"},
      {"control", std::string("a\0b=1\nc=\x01\n\x7f=1\n", 15)},
      {"not-utf8", "\xff\xfe=1\na=\xc0\xaf\n"},
      {"nothing", ""},
      {"equals", "=\n=1\n==\n"},
      {"escape", "$(rm -rf /)=1\n`id`=1\n../../x=1\n"},
      {"uppercase", "Ex_Ample.COM/x=1\n"},
      {"json", "{\"a\": 1}\n"},
      {"emoji", "\xf0\x9f\x98\x80=1\n"},
      {"directives", "# +\n# +expiry-time=\n# +no-label x\n#+no-label\n# + no-label\n"},
      {"crlf", "\r\n\r\n"},
  };
  for (const auto& [name, text] : files) EXPECT_THAT(LabelsOf({{name, text}}), IsEmpty()) << name;
  EXPECT_THAT(LabelsOf({{"10-first", "a=1\nb=1\n"}, {"20-second", "a=2\n"}}),
              UnorderedElementsAre(Pair("a", "2"), Pair("b", "1")));
  EXPECT_THAT(LabelsOf({{"a", "kubernetes.io/x=1\n"}}), ElementsAre(Pair("kubernetes.io/x", "1")))
      << "the master is the one that refuses namespaces";
}

TEST(FeatureFileTest, FilesThatTogetherAreTooLargeForAnObjectEndWhereTheyAre) {
  std::map<std::string, std::string> files = {{"00-first", "first=1\n"}, {"zz-last", "last=1\n"}};
  for (int i = 10; i < 30; ++i) {
    std::string text;
    for (int line = 0; text.size() < 60000; ++line)
      text.append("k").append(std::to_string(i * 10000 + line)).append("=").append(50, 'v').append("\n");
    files[std::to_string(i)] = text;
  }
  const TextMap labels = LabelsOf(files);
  EXPECT_TRUE(labels.contains("first"));
  EXPECT_FALSE(labels.contains("last"));
  EXPECT_LT(data::ToJson(ToObject(labels)).size(), 1U << 20U);
}

TEST(FeatureFileTest, AComplaintIsMadeOnce) {
  os::FakeFs fs;
  fs.Put(std::string(kFeaturesFolder) + "/bad", "# +bogus\nx=1\n");
  FakeClock clock;
  FakeLog log;
  const Host host(fs);
  NodeDiscovery discovery(host, "n1", clock, log);
  WorkerSettings settings;
  settings.feature_sources = settings.label_sources = {"local"};
  for (int i = 0; i < 5; ++i) discovery.Look(settings, true);
  EXPECT_EQ(log.Lines().size(), 1U);
  fs.Put(std::string(kFeaturesFolder) + "/bad", "# +other\nx=1\n");
  discovery.Look(settings, true);
  EXPECT_EQ(log.Lines().size(), 2U);
}

TEST(FeatureFileTest, WhatExpiresIsNewsAndNothingElseIs) {
  os::FakeFs fs;
  fs.Put(std::string(kFeaturesFolder) + "/a", "# +expiry-time=2026-01-01T01:00:00Z\nx=1\n");
  FakeClock clock;
  FakeLog log;
  const Host host(fs);
  NodeDiscovery discovery(host, "n1", clock, log);
  WorkerSettings settings;
  settings.feature_sources = settings.label_sources = {"local"};
  discovery.Look(settings, true);
  EXPECT_FALSE(discovery.HasNews(settings));
  EXPECT_EQ(discovery.until(), FakeClock::kStart + std::chrono::hours(1));
  clock.Advance(std::chrono::hours(2));
  EXPECT_TRUE(discovery.HasNews(settings));
  EXPECT_FALSE(discovery.HasNews(settings));
  EXPECT_EQ(discovery.until(), std::nullopt);
}

TEST(FeatureFileTest, AnyBytesAreReadWithoutHarm) {
  Rng rng(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text(rng.Below(200), '\0');
    for (char& c : text) c = "ab=#+ \n\r\0-xE"[rng.Below(13)];
    LocalFeatures out;
    AddFeatureFile(text, FakeClock::kStart, out);
    for (const auto& [key, value] : out.labels) EXPECT_FALSE(key.contains('\n') || value.contains('\n'));
  }
}

TEST(FeatureFileTest, WhatCannotBeReadJustNowStaysAsItWas) {
  os::FakeFs fs;
  fs.Put(std::string(kFeaturesFolder) + "/gfd", "nvidia.com/gpu.count=8\n");
  FakeClock clock;
  FakeLog log;
  const Host host(fs);
  NodeDiscovery discovery(host, "n1", clock, log);
  WorkerSettings settings;
  settings.feature_sources = settings.label_sources = {"local"};
  const TextMap before = discovery.Look(settings, true).labels;
  EXPECT_THAT(before, ElementsAre(Pair("nvidia.com/gpu.count", "8")));
  fs.fail[kFeaturesFolder] = Error{Code::kIo, "input/output error"};
  EXPECT_EQ(discovery.Look(settings, true).labels, before);
  fs.fail.clear();
  fs.fail[std::string(kFeaturesFolder) + "/gfd"] = Error{Code::kIo, "input/output error"};
  EXPECT_EQ(discovery.Look(settings, true).labels, before);
  fs.fail.clear();
  ASSERT_TRUE(fs.Remove(std::string(kFeaturesFolder) + "/gfd"));
  EXPECT_THAT(discovery.Look(settings, true).labels, IsEmpty());
}

}  // namespace
}  // namespace gpuop::operands::nfd
