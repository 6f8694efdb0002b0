#include "container/engine/plan.h"

#include "container/engine/texts.h"
#include "data/toml.h"

namespace gpuop::container {
namespace {

constexpr const char* kConfig = "/etc/containerd/config.toml";
constexpr const char* kDropIn = "/etc/containerd/conf.d/99-nvidia.toml";
const EngineFiles kFiles{.config = kConfig, .drop_in = kDropIn};

EngineWish Wish() {
  return {.runtimes = {{"nvidia", "/usr/bin/nvidia-container-runtime"},
                       {"nvidia-cdi", "/usr/bin/nvidia-container-runtime.cdi"},
                       {"nvidia-legacy", "/usr/bin/nvidia-container-runtime.legacy"}}};
}

/// The planned text of a path, or the one it has.
std::string After(const EnginePlan& plan, const EngineTexts& texts, const std::string& path) {
  if (const auto it = plan.texts.find(path); it != plan.texts.end()) return it->second.value_or("removed");
  const auto it = texts.find(path);
  return it == texts.end() ? "absent" : it->second;
}

data::Json Entry(const EnginePlan& plan, std::string_view name) {
  const EngineRuntime* runtime = plan.after.Find(name);
  return runtime == nullptr ? data::Json() : data::Json(runtime->entry);
}

TEST(ContainerdPlanTest, AnEmptyHostGetsAnImportAndADropIn) {
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, {}, kFiles, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(After(*plan, {}, kConfig), "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  EXPECT_EQ(plan->after.runtimes.size(), 3U);
  EXPECT_EQ(
      data::ToJson(Entry(*plan, "nvidia-cdi")),
      R"({"options":{"BinaryName":"/usr/bin/nvidia-container-runtime.cdi"},"privileged_without_host_devices":false,)"
      R"("runtime_engine":"","runtime_root":"","runtime_type":"io.containerd.runc.v2"})");
  EXPECT_EQ(plan->after.default_runtime, "");
  EXPECT_TRUE(plan->meaning_changes);
}

TEST(ContainerdPlanTest, TheEngineMaySeeTheDropInElsewhere) {
  EngineFiles files = kFiles;
  files.drop_in_for_engine = "/etc/other/99-nvidia.toml";
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, {}, files, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(After(*plan, {}, kConfig), "version = 2\nimports = [\"/etc/other/*.toml\"]\n");
  EXPECT_TRUE(plan->texts.contains(kDropIn));
}

constexpr const char* kVersion2 = R"(# kept
version   =  2
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "runc"   # theirs
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "/usr/bin/runc"
      SystemdCgroup = true
)";

TEST(ContainerdPlanTest, TheTopFileGainsAnImportAndKeepsEveryOtherByte) {
  const EngineTexts texts{{kConfig, kVersion2}};
  EngineWish wish = Wish();
  wish.cdi = true;
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, wish);
  ASSERT_TRUE(plan) << plan.error().text;
  std::string want = kVersion2;
  want.insert(want.find("[plugins"), "imports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  EXPECT_EQ(After(*plan, texts, kConfig), want);
  EXPECT_TRUE(plan->after.cdi);
  EXPECT_EQ(plan->after.default_runtime, "runc");
  EXPECT_EQ(data::ToJson(Entry(*plan, "nvidia")),
            R"({"options":{"BinaryName":"/usr/bin/nvidia-container-runtime","SystemdCgroup":true},)"
            R"("runtime_type":"io.containerd.runc.v2"})");
}

TEST(ContainerdPlanTest, WhatIsAsWishedIsNotTouched) {
  EngineTexts texts{{kConfig, kVersion2}};
  for (const auto& [path, text] : PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish())->texts)
    texts[path] = *text;
  const auto again = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->texts.empty());
  EXPECT_FALSE(again->meaning_changes);
}

TEST(ContainerdPlanTest, AMergingEngineGetsOurEntriesOnly) {
  const EngineTexts texts{{kConfig, kVersion2}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish(), ImportRule::kMerge);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(After(*plan, texts, kDropIn).find("runtimes.runc"), std::string::npos);
  EXPECT_NE(plan->after.Find("runc"), nullptr);
}

TEST(ContainerdPlanTest, TheDropInHasTheVersionOfTheFileNotOfTheEngine) {
  const EngineTexts texts{{kConfig, "version = 2\nimports = [\"conf.d/*.toml\"]\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->texts.size(), 1U) << "the import is there already, relative to the file";
  EXPECT_TRUE(After(*plan, texts, kDropIn).starts_with("version = 2\n"));
}

TEST(ContainerdPlanTest, RuntimeTypesAreNeverMissing) {
  for (const char* root : {"version = 3\n",
                           "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
                           "runtime_type = ''\n"}) {
    const EngineTexts texts{{kConfig, root}};
    const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
    ASSERT_TRUE(plan) << plan.error().text;
    for (const char* name : {"nvidia", "nvidia-cdi", "nvidia-legacy"})
      EXPECT_EQ(data::StringOr(Entry(*plan, name), "runtime_type"), "io.containerd.runc.v2") << root;
    if (const EngineRuntime* runc = plan->after.Find("runc"))
      EXPECT_EQ(data::ToJson(runc->entry), R"({"runtime_type":""})");
  }
}

TEST(ContainerdPlanTest, TheDefaultsEntryIsTheModel) {
  const EngineTexts texts{{kConfig, R"(version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "default"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes]
default = {runtime_type = "t", engine = "defaultengine"}
runc = {runtime_type = "t", engine = "engine"}
)"}};
  EngineWish wish = Wish();
  wish.annotation_prefixes = {"cdi.k8s.io/"};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, wish);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(data::StringOr(Entry(*plan, "nvidia"), "engine"), "defaultengine");
  EXPECT_EQ(data::ToJson(*data::Find(Entry(*plan, "nvidia"), "container_annotations")), R"(["cdi.k8s.io/*"])");
}

TEST(ContainerdPlanTest, Version1IsEditedInPlaceBecauseItImportsNothing) {
  const EngineTexts texts{{kConfig, R"(# v1
[plugins.cri.containerd]
  default_runtime_name = "runc"
  [plugins.cri.containerd.runtimes.runc]
    runtime_type = "io.containerd.runtime.v1.linux"
    [plugins.cri.containerd.runtimes.runc.options]
      Runtime = "/usr/bin/runc"
[other]
x = 1
)"}};
  EngineWish wish = Wish();
  wish.cdi = true;
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, wish);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->texts.size(), 1U);
  EXPECT_EQ(
      data::ToJson(Entry(*plan, "nvidia")),
      R"({"options":{"BinaryName":"/usr/bin/nvidia-container-runtime","Runtime":"/usr/bin/nvidia-container-runtime"},)"
      R"("runtime_type":"io.containerd.runtime.v1.linux"})");
  EXPECT_EQ(plan->after.default_runtime, "runc");
  EXPECT_TRUE(plan->after.cdi);
}

TEST(ContainerdPlanTest, WithoutADropInTheFileItselfIsEdited) {
  const EngineTexts texts{{kConfig, kVersion2}};
  EngineWish wish = Wish();
  wish.set_as_default = true;
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, {.config = kConfig}, wish);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->texts.size(), 1U);
  EXPECT_EQ(plan->after.default_runtime, "nvidia");
  EXPECT_EQ(plan->after.runtimes.size(), 4U);
  const std::string after = After(*plan, texts, kConfig);
  EXPECT_TRUE(after.starts_with("# kept\nversion   =  2\n")) << after;
  EXPECT_TRUE(after.contains("default_runtime_name = \"nvidia\"   # theirs\n")) << after;
  // Taken out again, all but the default is as it was.
  const auto gone = PlanEngineCleanUp(EngineKind::kContainerd, {{kConfig, after}}, {.config = kConfig},
                                      {"nvidia", "nvidia-cdi", "nvidia-legacy"}, "/usr/bin");
  ASSERT_TRUE(gone) << gone.error().text;
  EXPECT_EQ(gone->after.runtimes.size(), 1U);
  EXPECT_EQ(gone->after.default_runtime, "");
}

TEST(ContainerdPlanTest, OurDefaultIsWrittenOnlyWhenItIsAskedFor) {
  struct Case {
    const char* name;
    const char* top;
    bool set_as_default;
    const char* want;
    bool in_drop_in;
  };
  const char* bare = "version = 2\n";
  const char* old =
      "version = 2\n[plugins.'io.containerd.grpc.v1.cri'.containerd]\ndefault_runtime_name = 'nvidia'\n"
      "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes]\n"
      "nvidia = {runtime_type = 'io.containerd.runc.v2', options = {BinaryName = '/old/path'}}\n"
      "runc = {runtime_type = 'io.containerd.runc.v2', options = {BinaryName = '/usr/bin/runc'}}\n";
  for (const Case& c : {Case{"none stays none", bare, false, "", false}, Case{"set", bare, true, "nvidia", true},
                        Case{"an older toolkit's entry is ours now", old, true, "nvidia", true}}) {
    const EngineTexts texts{{kConfig, c.top}};
    EngineWish wish = Wish();
    wish.set_as_default = c.set_as_default;
    const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, wish);
    ASSERT_TRUE(plan) << c.name << ": " << plan.error().text;
    EXPECT_EQ(plan->after.default_runtime, c.want) << c.name;
    EXPECT_EQ(After(*plan, texts, kDropIn).contains("default_runtime_name"), c.in_drop_in) << c.name;
    std::string top = c.top;
    top.insert(std::string_view(bare).size(), "imports = [\"/etc/containerd/conf.d/*.toml\"]\n");
    EXPECT_EQ(After(*plan, texts, kConfig), top) << c.name;
    EXPECT_EQ(plan->after.Find("nvidia")->binary, "/usr/bin/nvidia-container-runtime") << c.name;
  }
}

TEST(ContainerdPlanTest, Version3HasAKeyOfItsOwnAndItsOptionsAreCopied) {
  const EngineTexts texts{{kConfig,
                           "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\n"
                           "runtime_type = 'io.containerd.runc.v2'\noptions = {BinaryName = '/usr/bin/runc', "
                           "SystemdCgroup = true}\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_TRUE(After(*plan, texts, kDropIn).starts_with("version = 3\n"));
  EXPECT_TRUE(After(*plan, texts, kDropIn).contains("io.containerd.cri.v1.runtime"));
  for (const WantedRuntime& runtime : Wish().runtimes)
    EXPECT_EQ(data::ToJson(Entry(*plan, runtime.name)),
              R"({"options":{"BinaryName":")" + runtime.binary +
                  R"(","SystemdCgroup":true},"runtime_type":"io.containerd.runc.v2"})");
}

TEST(ContainerdPlanTest, ImportsOfOthersStayInTheirOrderBeforeOurs) {
  const EngineTexts texts{{kConfig, "version = 2\nimports = [\"/a/*.toml\", \"/b/*.toml\"] # theirs\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(After(*plan, texts, kConfig),
            "version = 2\nimports = [\"/a/*.toml\", \"/b/*.toml\", \"/etc/containerd/conf.d/*.toml\"] # theirs\n");
}

TEST(ContainerdPlanTest, ALaterImportThatHidesOursIsAConflict) {
  const EngineTexts texts{
      {kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"},
      {"/etc/containerd/conf.d/zz.toml", "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nsandbox_image = 'x'\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::kConflict);
  EXPECT_TRUE(PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish(), ImportRule::kMerge));
}

TEST(ContainerdPlanTest, WhatOthersImportIsCarriedOver) {
  const EngineTexts texts{{kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"},
                          {"/etc/containerd/conf.d/10-site.toml",
                           "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nsandbox_image = 'x'\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, texts, kFiles, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(FindText(plan->after.whole, CriPath(2, {"sandbox_image"})), "x");
}

TEST(ContainerdPlanTest, TemplatesAndBrokenFilesAreRefused) {
  const EngineTexts broken{{kConfig, "version = [\n"}};
  EXPECT_EQ(PlanEngineSetUp(EngineKind::kContainerd, broken, kFiles, Wish()).error().code, Code::kInvalid);
  const EngineTexts base{{kConfig, "{{ template \"base\" . }}\n[plugins.x]\na = 1\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kContainerd, base, kFiles, Wish());
  EXPECT_EQ(plan.error().code, Code::kUnsupported);
  EXPECT_TRUE(plan.error().text.contains("is a template")) << plan.error().text;
}

TEST(CrioPlanTest, OnlyTheDropInIsWrittenAndTheDefaultIsTheModel) {
  const EngineFiles files{.config = "/etc/crio/crio.conf", .drop_in = "/etc/crio/crio.conf.d/99-nvidia.toml"};
  const EngineTexts texts{{files.config, R"([crio.runtime]
  default_runtime = "crun"
[crio.runtime.runtimes.crun]
  runtime_path = "/usr/bin/crun"
  runtime_root = "/run/crun"
  monitor_path = "/usr/libexec/crio/conmon"
)"}};
  const auto plan = PlanEngineSetUp(EngineKind::kCrio, texts, files, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->texts.size(), 1U);
  EXPECT_EQ(data::ToJson(Entry(*plan, "nvidia")),
            R"({"monitor_path":"/usr/libexec/crio/conmon","runtime_path":"/usr/bin/nvidia-container-runtime",)"
            R"("runtime_root":"/run/crun","runtime_type":"oci"})");
  EXPECT_EQ(plan->after.default_runtime, "crun");
  EXPECT_EQ(LowLevelRuntimes(plan->after), (std::vector<std::string>{"/usr/bin/crun", "runc", "crun"}));
}

TEST(CrioPlanTest, WithoutADropInOtherKeysStay) {
  const EngineFiles files{.config = "/etc/crio/crio.conf"};
  const EngineTexts texts{{files.config, "[crio]\nlog_dir = '/x' # theirs\n"}};
  const auto plan = PlanEngineSetUp(EngineKind::kCrio, texts, files, Wish());
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_TRUE(After(*plan, texts, files.config).starts_with("[crio]\nlog_dir = '/x' # theirs\n"));
}

TEST(CrioPlanTest, TheHookFileNamesTheHooksFolderOnce) {
  EXPECT_EQ(CrioHookText("/usr/local/nvidia/toolkit/nvidia-container-runtime-hook"), R"({
    "version": "1.0.0",
    "hook": {
        "path": "/usr/local/nvidia/toolkit/nvidia-container-runtime-hook",
        "args": [
            "nvidia-container-runtime-hook",
            "prestart"
        ],
        "env": [
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/nvidia/toolkit"
        ]
    },
    "when": {
        "always": true,
        "commands": [
            ".*"
        ]
    },
    "stages": [
        "prestart"
    ]
}
)");
  EXPECT_FALSE(CrioHookText("/usr/bin/nvidia-container-runtime-hook").contains("/bin:/usr/bin\""));
}

TEST(DockerPlanTest, OtherSettingsAndFeaturesStay) {
  const EngineFiles files{.config = "/etc/docker/daemon.json"};
  const std::string before = R"({"log-opts": {"max-size": "100m"}, "features": {"buildkit": true},
 "runtimes": {"custom": {"path": "/opt/custom"}, "nvidia": {"path": "/old"}}, "default-runtime": "custom"})";
  EngineWish wish = Wish();
  wish.cdi = true;
  const auto plan = PlanEngineSetUp(EngineKind::kDocker, {{files.config, before}}, files, wish);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(data::ToJson(plan->after.whole),
            R"({"log-opts":{"max-size":"100m"},"features":{"buildkit":true,"cdi":true},"runtimes":{"custom":{"path":)"
            R"("/opt/custom"},"nvidia":{"args":[],"path":"/usr/bin/nvidia-container-runtime"},"nvidia-cdi":{"args":[],)"
            R"("path":"/usr/bin/nvidia-container-runtime.cdi"},"nvidia-legacy":{"args":[],)"
            R"("path":"/usr/bin/nvidia-container-runtime.legacy"}},"default-runtime":"custom"})");
  EXPECT_TRUE(plan->texts.at(files.config)
                  ->starts_with(R"({"log-opts": {"max-size": "100m"}, "features": {"buildkit": true, "cdi": true},)"));
}

TEST(DockerPlanTest, TheDefaultIsOursOnlyWhenItIsAskedFor) {
  const EngineFiles files{.config = "/etc/docker/daemon.json"};
  for (const auto& [before, set_as_default, want] :
       std::vector<std::tuple<const char*, bool, const char*>>{{"{}", true, "nvidia"},
                                                               {"{}", false, ""},
                                                               {R"({"default-runtime":"SET"})", false, "SET"},
                                                               {R"({"default-runtime":"SET"})", true, "nvidia"}}) {
    EngineWish wish = Wish();
    wish.set_as_default = set_as_default;
    const auto plan = PlanEngineSetUp(EngineKind::kDocker, {{files.config, before}}, files, wish);
    ASSERT_TRUE(plan) << plan.error().text;
    EXPECT_EQ(data::StringOr(plan->after.whole, "default-runtime"), want) << before << set_as_default;
    EXPECT_EQ(data::ToJson(*data::Find(plan->after.whole, "runtimes.nvidia")),
              R"({"args":[],"path":"/usr/bin/nvidia-container-runtime"})");
  }
}

TEST(DockerPlanTest, RefusesWhatIsNoJsonAndDropIns) {
  const EngineFiles files{.config = "/etc/docker/daemon.json"};
  for (const char* text : {"", "{", "[]"})
    EXPECT_EQ(PlanEngineSetUp(EngineKind::kDocker, {{files.config, text}}, files, Wish()).error().code, Code::kInvalid);
  EXPECT_EQ(PlanEngineSetUp(EngineKind::kDocker, {}, kFiles, Wish()).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace gpuop::container
