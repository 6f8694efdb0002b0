#include <fmt/core.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/testing/source_dir.h"
#include "cli/gpu/situations_test.h"
#include "cli/gpu/wait.h"
#include "data/json.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Situation TwoNodes() {
  return {.nodes = {{.allocatable = 7},
                    {.name = "spark", .arch = "arm64", .capacity = 1, .allocatable = 1},
                    {.name = "cpu", .capacity = 0, .labelled = true}},
          .operands = {{}, {.node = "spark"}},
          .pods = {{.name = "holder", .gpus = 3, .node = "dgx"}},
          .spec = "{driver: {enabled: false}}"};
}

TEST(Status, TellsEachNodeInOneLine) {
  Desk desk(TwoNodes());
  const auto report = desk.Ask({"status"});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_THAT(report->text, HasSubstr("ClusterPolicy cluster-policy: ready\n"));
  EXPECT_THAT(report->text, HasSubstr("1 of 3 GPU nodes fit; 9 GPUs advertised, 8 allocatable, 3 used\n"));
  EXPECT_THAT(report->text,
              HasSubstr("dgx    amd64  8 x NVIDIA-A100-SXM4-40GB  580.95.05  host   cdi      nvidia.com/gpu  8/7/3"));
  EXPECT_THAT(report->text, HasSubstr("broken   DeviceUnhealthy: the device plugin reports a GPU as unhealthy"));
  EXPECT_EQ(report->exit_code, 1);
}

TEST(Status, IsZeroWhereAllIsFitAndFourWhereNothingIsProved) {
  Desk fit({});
  EXPECT_EQ(fit.Ask({"status"})->exit_code, 0);
  Desk unproved({.nodes = {{.proof = ""}}});
  const auto report = unproved.Ask({"status"});
  EXPECT_EQ(report->exit_code, 4);
  EXPECT_THAT(report->text, HasSubstr("not proved"));
}

TEST(Status, PutsTheWorstOnTopAndCountsNodesWithoutGpus) {
  Desk desk({.nodes = {{.name = "a"}, {.name = "b", .allocatable = 7}}});
  desk.door().Put(kube::Node::kResource, {{"metadata", {{"name", "plain"}}}});
  const std::string text = desk.Ask({"status"})->text;
  EXPECT_LT(text.find("\nb  "), text.find("\na  ")) << text;
  EXPECT_THAT(text, HasSubstr("and 1 node without GPUs\n"));
  EXPECT_THAT(text, Not(HasSubstr("plain")));
}

TEST(Status, SaysThatThereIsNoPolicy) {
  Desk desk({.policy = false});
  EXPECT_THAT(desk.Ask({"status"})->text, HasSubstr("no ClusterPolicy: nothing looks after GPU nodes here"));
}

TEST(Status, OtherResourcesOfANodeHaveLinesOfTheirOwn) {
  Desk desk({.nodes = {{.more_resources = "{nvidia.com/mig-1g.5gb: '14'}"}}});
  const std::string text = desk.Ask({"status"})->text;
  EXPECT_THAT(text, HasSubstr("nvidia.com/mig-1g.5gb  14/14/0"));
}

TEST(Status, AsJsonHasTheSameForPrograms) {
  Desk desk(TwoNodes());
  const auto json = desk.Ask({"status", "-o", "json"})->json;
  EXPECT_EQ(data::StringOr(json, "nodes[1].driverOwner"), "host");
  EXPECT_EQ(data::StringOr(json, "nodes[1].first.reason"), "DeviceUnhealthy");
  EXPECT_EQ(json.at("nodes").at(1).at("resources").at("nvidia.com/gpu").at("used"), 3);
  EXPECT_EQ(json.at("fitNodes"), 1);
}

TEST(Node, TellsOperandsResourcesAndHolders) {
  Desk desk({.operands = {{}, {.app = "gpu-feature-discovery", .state = "{waiting: {reason: ErrImagePull}}"}},
             .pods = {{.name = "holder", .gpus = 3, .node = "dgx"}}});
  const auto report = desk.Ask({"node", "dgx"});
  ASSERT_TRUE(report);
  EXPECT_THAT(report->text, HasSubstr("device-plugin          nvidia-device-plugin-daemonset-x  ready"));
  EXPECT_THAT(report->text, HasSubstr("main: ErrImagePull"));
  EXPECT_THAT(report->text, HasSubstr("default/holder  3 nvidia.com/gpu"));
  EXPECT_THAT(report->text, HasSubstr("reason       DiscoveryNotReady"));
  EXPECT_EQ(desk.Ask({"node", "none"}).error().code, Code::kNotFound);
}

TEST(DriverOwner, IsReadFromLabelsPodsAndThePolicy) {
  const auto owner = [](const Situation& s) {
    Desk desk(s);
    return std::string(data::StringOr(desk.Ask({"status"})->json, "nodes[0].driverOwner"));
  };
  EXPECT_EQ(owner({.spec = "{driver: {enabled: false}}"}), "host");
  EXPECT_EQ(owner({.nodes = {{.more_labels = "{nvidia.com/gpu.deploy.driver: pre-installed}"}}}), "host");
  EXPECT_EQ(owner({.operands = {{.app = "nvidia-driver-daemonset"}}}), "operator");
  EXPECT_EQ(owner({.nodes = {{.more_labels = "{nvidia.com/gpu-operator.driver.owner: a100}"}}}), "NVIDIADriver a100");
  EXPECT_EQ(owner({.policy = false}), "");
}

TEST(Paint, ColoursOnlyWhereItIsAskedTo) {
  EXPECT_EQ(Paint(false)(Standing::kBroken, "broken"), "broken");
  EXPECT_EQ(Paint(true)(Standing::kBroken, "broken"), "\x1b[31mbroken\x1b[0m");
  EXPECT_EQ(TableText({{"A", "B"}, {Paint(true)(Standing::kFit, "x"), "y"}}), "A  B\n\x1b[32mx\x1b[0m  y\n");
}

TEST(Options, AreThoseOfKubectlPlugins) {
  const auto parse = [](std::vector<std::string> words) {
    std::vector<char*> args;
    for (std::string& w : words) args.push_back(w.data());
    return ParseOptions(args);
  };
  const auto all = parse({"why", "-n", "ml", "trainer", "--context=prod", "--kubeconfig", "/k", "-o=json"});
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_THAT(all->names, ::testing::ElementsAre("trainer"));
  EXPECT_EQ(all->ns, "ml");
  EXPECT_EQ(all->context, "prod");
  EXPECT_EQ(all->kubeconfig, "/k");
  EXPECT_TRUE(all->json);
  EXPECT_EQ(parse({"wait", "a", "b", "--timeout", "1m30s"})->timeout, std::chrono::seconds(90));
  EXPECT_EQ(parse({"wait", "--timeout", "soon"}).error().text, "--timeout: \"soon\" is no duration");
  EXPECT_EQ(parse({"why"}).error().text, "why: a name is expected");
  EXPECT_EQ(parse({"status", "x"}).error().text, "unexpected argument \"x\"");
  EXPECT_EQ(parse({"statsu"}).error().text, "there is no command \"statsu\"; there are status, node, why and wait");
  EXPECT_EQ(parse({"status", "--colour"}).error().text, "there is no option --colour");
  EXPECT_EQ(parse({"status", "-n"}).error().text, "-n: a value is expected");
  EXPECT_EQ(parse({"status", "-o", "xml"}).error().text, "--output: \"xml\" is neither text nor json");
}

TEST(Waiting, TellsEachStepOnceAndEndsWhenAllAreFit) {
  const auto look = [](Progress& progress, const Situation& s) {
    Desk desk(s);
    return progress.Look(*desk.Read());
  };
  Progress progress({"dgx", "spark"});
  EXPECT_THAT(look(progress, {.nodes = {{.proof = ""}}}),
              ::testing::ElementsAre(HasSubstr("dgx           not proved")));
  EXPECT_THAT(look(progress, {.nodes = {{.proof = ""}}}), ::testing::IsEmpty());
  EXPECT_EQ(progress.worst(), Standing::kWaiting) << "spark is not there";
  const auto lines = look(progress, {.nodes = {{}, {.name = "spark", .capacity = 0, .proof = ""}}});
  EXPECT_THAT(lines,
              ::testing::ElementsAre(HasSubstr("dgx           fit         8 x NVIDIA-A100-SXM4-40GB: 8 nvidia.com/gpu"),
                                     HasSubstr("spark         waiting     no operand runs on the node yet")));
  EXPECT_FALSE(progress.Done());
  look(progress, {.nodes = {{}, {.name = "spark"}}});
  EXPECT_TRUE(progress.Done());
}

TEST(Waiting, WithoutNamesAtLeastOneNodeWithGpusIsWaitedFor) {
  Progress progress({});
  Desk none({.nodes = {{.capacity = 0,
                        .labelled = false,
                        .more_labels = "{feature.node.kubernetes.io/pci-10de.present: 'false'}"}}});
  progress.Look(*none.Read());
  EXPECT_FALSE(progress.Done());
  Desk fit({});
  progress.Look(*fit.Read());
  EXPECT_TRUE(progress.Done());
}

TEST(Waiting, ACordonIsToldAndWhatIsMissingIsNamed) {
  Progress progress({"dgx", "spark", "plain"});
  Desk desk({.nodes = {{.cordoned = true},
                       {.name = "plain",
                        .capacity = 0,
                        .labelled = false,
                        .more_labels = "{feature.node.kubernetes.io/pci-10de.present: 'false'}",
                        .proof = ""}}});
  EXPECT_THAT(progress.Look(*desk.Read()),
              ::testing::Contains(HasSubstr("fit         8 x NVIDIA-A100-SXM4-40GB: 8 nvidia.com/gpu (cordoned)")));
  EXPECT_THAT(progress.missing(), ::testing::ElementsAre("plain: no GPU is known of", "there is no node spark"));
  Desk broken({.nodes = {{.name = "spark", .proof = "False", .reason = "DriverHung", .message = "no answer"}}});
  Progress one({});
  one.Look(*broken.Read());
  EXPECT_THAT(one.missing(), ::testing::ElementsAre("spark is broken: DriverHung: no answer"));
  Desk none({.nodes = {}});
  one.Look(*none.Read());
  EXPECT_THAT(one.missing(), ::testing::ElementsAre("no node with GPUs is known"));
}

TEST(Node, TellsWhatIsBrokenBeforeWhatIsOnItsWay) {
  Desk desk(
      {.nodes = {{.capacity = 0, .proof = "Unknown", .reason = "Validating", .message = "the driver"}},
       .operands = {{.app = "nvidia-container-toolkit-daemonset", .state = "{waiting: {reason: ErrImagePull}}"}}});
  const std::string text = desk.Ask({"node", "dgx"})->text;
  EXPECT_LT(text.find("reason       ToolkitNotReady"), text.find("reason       Validating")) << text;
}

TEST(Docs, ListEveryReasonWithItsWordsAndFirstCheck) {
  std::ifstream in(std::string(SourceDir()) + "/docs/troubleshooting.md");
  const std::string page(std::istreambuf_iterator<char>(in), {});
  for (const api::Reason& r : api::Reasons()) {
    if (r.severity == api::Severity::kFine) continue;
    std::string check;
    for (const char c : r.first_check) check.append(c == '|' ? "\\|" : std::string(1, c));
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` | {}{} | `{}`{} |", r.name, r.words,
                                            r.severity == api::Severity::kWarning ? " (a warning)" : "", check,
                                            r.on_node ? " on the node" : "")));
  }
}

TEST(Reading, ParsesOnlyPodsThatMatter) {
  Desk desk({.operands = {{}}, .pods = {{.name = "holder", .node = "dgx"}}});
  // What is no Pod at all is passed over where it holds no GPU.
  desk.door().Put(kube::Pod::kResource,
                  {{"metadata", {{"name", "odd"}, {"namespace", "default"}}}, {"spec", "not an object"}});
  EXPECT_TRUE(desk.Ask({"status"}));
  desk.door().Put(kube::Pod::kResource,
                  {{"metadata", {{"name", "odd"}, {"namespace", "gpu-operator"}}}, {"spec", "x"}});
  EXPECT_FALSE(desk.Ask({"status"}));
}

TEST(Reading, SaysWhatCouldNotBeListed) {
  Desk desk({});
  desk.door().Intercept([](const kube::ApiRequest& r) -> std::optional<Result<kube::ApiResponse>> {
    if (r.path != "/api/v1/nodes") return std::nullopt;
    return Fail(Code::kUnavailable, "connection refused");
  });
  const auto report = desk.Ask({"status"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().text, "list nodes: connection refused");
}

}  // namespace
}  // namespace gpuop::cli::kubectl_gpu
