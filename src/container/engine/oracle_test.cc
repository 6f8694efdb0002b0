// What NVIDIA's `nvidia-ctk runtime configure` and `nvidia-ctk-installer` made of the same files (testdata/toolkit),
// and where ours means something else on purpose (docs/container.md, "Differences").
#include <set>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "container/engine/plan.h"
#include "data/toml.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::container {
namespace {

data::Json Records(const std::string& name) {
  const auto fs = os::RealFs::Open(SourceDir()).value();
  return data::ParseJson(fs->Read("/testdata/toolkit/" + name).value()).value();
}

std::string Place(std::string text) {
  for (const auto& [from, to] : {std::pair{"$D", "/d"}, std::pair{"$W", "/w"}})
    for (std::size_t i = text.find(from); i != std::string::npos; i = text.find(from, i)) text.replace(i, 2, to);
  return text;
}

/// A record's command line, as far as the engine's files go.
struct Call {
  EngineKind kind = EngineKind::kContainerd;
  EngineFiles files;
  EngineWish wish;
  EngineTexts texts;
};

std::optional<std::string> Flag(const data::Json& record, const std::string& name) {
  std::optional<std::string> value;
  for (const data::Json& item : *data::GetArray(record, "argv")) {
    const std::string arg = Place(std::string(data::AsView(item.get_string())));
    if (arg == "--" + name) value = "true";
    if (arg.starts_with("--" + name + "=")) value = arg.substr(name.size() + 3);
  }
  return value;
}

Call Read(const data::Json& record, bool installer) {
  Call call;
  call.kind = EngineNamed(*Flag(record, "runtime")).value();
  call.files = {.config = *Flag(record, "config"), .drop_in = Flag(record, "drop-in-config").value_or("")};
  const std::string folder = installer ? "/w/inst/toolkit" : "/usr/bin";
  const std::string name = Flag(record, "nvidia-runtime-name").value_or("nvidia");
  call.wish.runtimes = {{name, folder + "/nvidia-container-runtime"}};
  if (installer) {
    call.wish.runtimes.push_back({"nvidia-cdi", folder + "/nvidia-container-runtime.cdi"});
    call.wish.runtimes.push_back({"nvidia-legacy", folder + "/nvidia-container-runtime.legacy"});
  }
  call.wish.set_as_default = installer || Flag(record, "set-as-default").has_value();
  call.wish.cdi = Flag(record, installer ? "enable-cdi-in-runtime" : "cdi.enabled").has_value();
  call.wish.legacy_config = Flag(record, "use-legacy-config").has_value();
  for (const auto& file : *data::GetObject(record, "input"))
    call.texts["/d/" + std::string(file.key())] = Place(std::string(data::AsView(file.value().get_string())));
  return call;
}

data::Json Meaning(const Call& call, const std::string& text) {
  return (call.kind == EngineKind::kDocker ? data::ParseJson(text) : data::ParseToml(text)).value_or(data::Json(text));
}

/// Every file of the record means what ours does.
void ExpectSameMeaning(const Call& call, const EnginePlan& plan, const data::JsonObject& files) {
  EngineTexts ours = call.texts;
  for (const auto& [path, text] : plan.texts) ours[path] = text.value_or("");
  std::set<std::string> paths;
  for (const auto& [path, text] : ours) paths.insert(path);
  for (const auto& file : files) paths.insert("/d/" + std::string(file.key()));
  for (const std::string& path : paths) {
    const data::Json* theirs = files.if_contains(path.substr(3));
    ASSERT_NE(theirs, nullptr) << path << " is ours alone:\n" << ours[path];
    ASSERT_TRUE(ours.contains(path)) << path << " is theirs alone";
    EXPECT_TRUE(data::JsonEqual(Meaning(call, ours[path]),
                                Meaning(call, Place(std::string(data::AsView(theirs->get_string()))))))
        << path << "\n"
        << ours[path] << "\nbut they wrote\n"
        << data::AsView(theirs->get_string());
  }
}

/// Records that ours answers differently, each for the reason that docs/container.md gives.
const std::set<std::string> kBetter = {
    "containerd v1",            // the drop-in would not be read: edited in place
    "containerd v1-no-dropin",  // the same, and no `version = 1` is added
    "containerd v3-no-dropin",  // theirs configures nothing
    "containerd none-legacy",   // nothing would read the drop-in; the default by name
    "crio crun-no-dropin",      // theirs loses the file's other settings
    "docker rich-cdi",          // theirs loses features.buildkit
};

std::string NameOf(const data::Json& record) {
  return std::string(data::StringOr(record, "runtime")) + " " + std::string(data::StringOr(record, "name"));
}

TEST(EngineOracleTest, RuntimeConfigureMeansTheSame) {
  const data::Json records = Records("runtime-configure.json");
  int compared = 0;
  for (const data::Json& record : *data::GetArray(records, "runs")) {
    SCOPED_TRACE(NameOf(record));
    const Call call = Read(record, false);
    const auto plan = PlanEngineSetUp(call.kind, call.texts, call.files, call.wish);
    EXPECT_EQ(plan.has_value(), data::IntOr(record, "exit_code") == 0) << (plan ? "" : plan.error().text);
    if (!plan || kBetter.contains(NameOf(record)) || Flag(record, "dry-run")) continue;
    ++compared;
    ExpectSameMeaning(call, *plan, *data::GetObject(record, "files"));
  }
  EXPECT_EQ(compared, 14);
}

TEST(EngineOracleTest, TheInstallerMeansTheSame) {
  const data::Json records = Records("ctk-installer.json");
  int compared = 0;
  for (const data::Json& record : *data::GetArray(records, "runs")) {
    SCOPED_TRACE(NameOf(record));
    const Call call = Read(record, true);
    const auto plan = PlanEngineSetUp(call.kind, call.texts, call.files, call.wish);
    ASSERT_TRUE(plan) << plan.error().text;
    for (const WantedRuntime& runtime : call.wish.runtimes) {
      ASSERT_NE(plan->after.Find(runtime.name), nullptr);
      EXPECT_EQ(plan->after.Find(runtime.name)->binary, runtime.binary);
    }
    if (kBetter.contains(NameOf(record))) continue;
    ++compared;
    ExpectSameMeaning(call, *plan, *data::GetObject(record, "after_setup"));
  }
  EXPECT_EQ(compared, 8);
}

}  // namespace
}  // namespace gpuop::container
