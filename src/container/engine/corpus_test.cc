// Configurations as people and distributions have them (testdata/engines), there and back: what is ours comes and goes,
// every byte of theirs stays, and what cannot be edited safely is refused before anything is written.
#include "base/testing/source_dir.h"
#include "container/engine/transaction.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::container {
namespace {

struct Nobody final : EngineControl {
  Result<> Reload() override { return {}; }
  Result<> Verify(const EngineConfig&) override { return {}; }
};

EngineFiles FilesOf(EngineKind kind) {
  switch (kind) {
    case EngineKind::kContainerd:
      return {.config = "/etc/containerd/config.toml", .drop_in = "/etc/containerd/conf.d/99-nvidia.toml"};
    case EngineKind::kCrio: return {.config = "/etc/crio/crio.conf", .drop_in = "/etc/crio/crio.conf.d/99-nvidia.toml"};
    case EngineKind::kDocker: break;
  }
  return {.config = "/etc/docker/daemon.json"};
}

data::Json Corpus() {
  const auto fs = os::RealFs::Open(SourceDir()).value();
  return data::ParseJson(fs->Read("/testdata/engines/configurations.json").value()).value();
}

/// One configuration on a host of its own.
class Case {
 public:
  explicit Case(const data::Json& entry)
      : name(data::StringOr(entry, "name")),
        expect(data::StringOr(entry, "expect")),
        kind(EngineNamed(data::StringOr(entry, "engine")).value()) {
    fs.Put(FilesOf(kind).config, std::string(data::StringOr(entry, "text")));
    if (const data::JsonObject* others = data::GetObject(entry, "others"))
      for (const auto& other : *others) fs.Put(other.key(), std::string(data::AsView(other.value().get_string())));
  }
  Result<EngineChange> PlanSetUp(bool set_as_default) {
    EngineWish wish{.runtimes = {{"nvidia", "/usr/local/nvidia/toolkit/nvidia-container-runtime"},
                                 {"nvidia-cdi", "/usr/local/nvidia/toolkit/nvidia-container-runtime.cdi"}},
                    .cdi = true};
    wish.set_as_default = set_as_default;
    return Make().PlanSetUp(wish);
  }
  Result<> CleanUp() {
    ASSIGN(const EngineChange change, Make().PlanCleanUp({"nvidia", "nvidia-cdi"}, "/usr/local/nvidia/toolkit"));
    return Make().Apply(change);
  }
  EngineTransaction Make() {
    return {fs, journal, nobody, {.kind = kind, .files = FilesOf(kind), .record = "/var/record"}};
  }
  /// Files alone: folders that were made stay.
  std::map<std::string, std::string> Files() const {
    auto all = fs.Snapshot();
    std::erase_if(all, [](const auto& entry) {
      return entry.first.starts_with("/var/journal") || entry.second.starts_with("folder");
    });
    return all;
  }

  const std::string name, expect;
  const EngineKind kind;
  os::FakeFs fs;
  os::Journal journal{fs, "/var/journal"};
  Nobody nobody;
};

/// Every runtime that was there means what it meant, and the default too unless ours was wished.
void ExpectKept(const EngineConfig& before, const EngineConfig& after, bool set_as_default) {
  for (const EngineRuntime& runtime : before.runtimes) {
    if (runtime.name.starts_with("nvidia")) continue;
    const EngineRuntime* now = after.Find(runtime.name);
    ASSERT_NE(now, nullptr) << runtime.name;
    EXPECT_EQ(data::ToJson(data::Json(now->entry)), data::ToJson(data::Json(runtime.entry))) << runtime.name;
  }
  for (const char* name : {"nvidia", "nvidia-cdi"}) {
    const EngineRuntime* ours = after.Find(name);
    ASSERT_NE(ours, nullptr) << name;
    EXPECT_TRUE(ours->binary.starts_with("/usr/local/nvidia/toolkit/")) << ours->binary;
  }
  if (set_as_default) EXPECT_EQ(after.default_runtime, "nvidia");
}

void ThereAndBack(const data::Json& entry, bool set_as_default) {
  Case c(entry);
  SCOPED_TRACE(c.name + (set_as_default ? ", as default" : ""));
  const auto before = c.Files();
  const auto change = c.PlanSetUp(set_as_default);
  if (c.expect.starts_with("refused")) {
    ASSERT_FALSE(change);
    EXPECT_TRUE(change.error().text.contains(c.expect.substr(9))) << change.error().text;
    EXPECT_EQ(c.Files(), before);
    return;
  }
  ASSERT_TRUE(change) << change.error().text;
  ExpectKept(change->before, change->after, set_as_default);
  ASSERT_TRUE(c.Make().Apply(*change));
  const auto again = c.PlanSetUp(set_as_default);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(again->empty()) << again->files.Diff();
  const auto back = c.CleanUp();
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(c.Files(), before);
}

TEST(EngineCorpusTest, EveryConfigurationGoesThereAndBack) {
  const data::Json corpus = Corpus();
  ASSERT_GE(corpus.get_array().size(), 80U);
  for (const data::Json& entry : corpus.get_array())
    for (const bool set_as_default : {false, true}) ThereAndBack(entry, set_as_default);
}

}  // namespace
}  // namespace gpuop::container
