#include "container/cdi/cache.h"

#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

std::string Spec(const std::string& kind, const std::vector<std::string>& devices, const std::string& value = "1") {
  std::string text = "cdiVersion: 0.5.0\nkind: " + kind + "\ndevices:\n";
  for (const std::string& name : devices)
    text += "- name: \"" + name + "\"\n  containerEdits: {env: [V=" + value + "]}\n";
  return text;
}

std::string ValueOf(const CdiCache& cache, std::string_view name) {
  const auto device = cache.Find(name);
  return device ? device->device->edits.env.at(0) : device.error().text;
}

TEST(CdiCacheTest, FindsTheDevicesOfAllFolders) {
  os::FakeFs fs;
  fs.Put("/etc/cdi/a.yaml", Spec("v.com/c", {"0", "1"}));
  fs.Put("/var/run/cdi/b.json", R"({"cdiVersion":"0.5.0","kind":"w.com/c","devices":[{"name":"x",
    "containerEdits":{"env":["V=json"]}}]})");
  fs.Put("/etc/cdi/ignored.yml", Spec("v.com/c", {"2"}));
  fs.Put("/etc/cdi/sub/ignored.yaml", Spec("v.com/c", {"3"}));
  CdiCache cache(fs);
  EXPECT_TRUE(cache.Refresh());
  EXPECT_EQ(cache.Devices(), (std::vector<std::string>{"v.com/c=0", "v.com/c=1", "w.com/c=x"}));
  EXPECT_EQ(ValueOf(cache, "w.com/c=x"), "V=json");
  EXPECT_TRUE(cache.errors().empty());
}

TEST(CdiCacheTest, ALaterFolderHidesAnEarlierOne) {
  os::FakeFs fs;
  fs.Put("/etc/cdi/a.yaml", Spec("v.com/c", {"0", "1"}, "etc"));
  fs.Put("/var/run/cdi/a.yaml", Spec("v.com/c", {"0"}, "run"));
  CdiCache cache(fs);
  cache.Refresh();
  EXPECT_EQ(ValueOf(cache, "v.com/c=0"), "V=run");
  EXPECT_EQ(ValueOf(cache, "v.com/c=1"), "V=etc");
  EXPECT_TRUE(cache.errors().empty());
}

TEST(CdiCacheTest, ADeviceThatTwoFilesOfAFolderDefineDoesNotResolve) {
  os::FakeFs fs;
  fs.Put("/etc/cdi/a.yaml", Spec("v.com/c", {"0", "1"}));
  fs.Put("/etc/cdi/b.yaml", Spec("v.com/c", {"0", "2"}));
  CdiCache cache(fs);
  cache.Refresh();
  EXPECT_EQ(cache.Devices(), (std::vector<std::string>{"v.com/c=1", "v.com/c=2"}));
  EXPECT_EQ(cache.Find("v.com/c=0").error(),
            (Error{Code::kConflict, "v.com/c=0 (defined in /etc/cdi/a.yaml and in /etc/cdi/b.yaml)"}));
  ASSERT_EQ(cache.errors().size(), 2U);
  EXPECT_EQ(cache.errors().at("/etc/cdi/b.yaml").at(0).text,
            "device \"v.com/c=0\" is defined in /etc/cdi/a.yaml and in /etc/cdi/b.yaml");
}

TEST(CdiCacheTest, AConflictBelowIsHiddenByAHigherFolder) {
  os::FakeFs fs;
  fs.Put("/etc/cdi/a.yaml", Spec("v.com/c", {"0"}));
  fs.Put("/etc/cdi/b.yaml", Spec("v.com/c", {"0"}));
  fs.Put("/var/run/cdi/a.yaml", Spec("v.com/c", {"0"}, "run"));
  CdiCache cache(fs);
  cache.Refresh();
  EXPECT_EQ(ValueOf(cache, "v.com/c=0"), "V=run");
}

TEST(CdiCacheTest, AFileThatCannotBeReadBlindsNoOther) {
  os::FakeFs fs;
  fs.Put("/etc/cdi/bad.yaml", Spec("v.com/c", {"0"}) + "foo: 1\n");
  fs.Put("/etc/cdi/good.yaml", Spec("v.com/c", {"1"}));
  fs.Put("/etc/cdi/sick.yaml", Spec("v.com/c", {"2"}));
  fs.fail["/etc/cdi/sick.yaml"] = {Code::kIo, "input/output error"};
  CdiCache cache(fs);
  cache.Refresh();
  EXPECT_EQ(cache.Devices(), std::vector<std::string>{"v.com/c=1"});
  EXPECT_EQ(cache.errors().at("/etc/cdi/bad.yaml").at(0).text, "/etc/cdi/bad.yaml: foo: unknown field");
  EXPECT_EQ(cache.errors().at("/etc/cdi/sick.yaml").at(0).code, Code::kIo);
  EXPECT_FALSE(cache.Refresh());
}

TEST(CdiCacheTest, SeesWhatComesGoesAndChanges) {
  os::FakeFs fs;
  CdiCache cache(fs);
  EXPECT_FALSE(cache.Refresh());
  fs.Put("/var/run/cdi/a.yaml", Spec("v.com/c", {"0"}, "old"));
  EXPECT_TRUE(cache.Refresh());
  EXPECT_FALSE(cache.Refresh());
  const CdiResolved held = cache.Find("v.com/c=0").value();
  ASSERT_TRUE(fs.WriteAtomic("/var/run/cdi/a.yaml", Spec("v.com/c", {"0"}, "new")));
  EXPECT_TRUE(cache.Refresh());
  EXPECT_EQ(ValueOf(cache, "v.com/c=0"), "V=new");
  EXPECT_EQ(held.device->edits.env.at(0), "V=old");
  ASSERT_TRUE(fs.Remove("/var/run/cdi/a.yaml"));
  EXPECT_TRUE(cache.Refresh());
  EXPECT_EQ(cache.Find("v.com/c=0").error().code, Code::kNotFound);
}

TEST(CdiCacheTest, FollowsLinksToSpecsAndPassesOverDanglingOnes) {
  os::FakeFs fs;
  fs.Put("/opt/x.yaml", Spec("v.com/c", {"0"}));
  ASSERT_TRUE(os::MakeFolders(fs, "/etc/cdi"));
  ASSERT_TRUE(fs.Symlink("/opt/x.yaml", "/etc/cdi/x.yaml"));
  ASSERT_TRUE(fs.Symlink("/opt/gone.yaml", "/etc/cdi/y.yaml"));
  CdiCache cache(fs);
  cache.Refresh();
  EXPECT_EQ(cache.Devices(), std::vector<std::string>{"v.com/c=0"});
  EXPECT_TRUE(cache.errors().empty());
}

}  // namespace
}  // namespace gpuop::container
