#include "cli/gpu/command.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "base/thread_executor.h"
#include "cli/gpu/read.h"
#include "cli/gpu/wait.h"
#include "data/json.h"
#include "kube/api_door.h"
#include "kube/config/config.h"
#include "os/real_fs.h"
#include "os/signals.h"

namespace gpuop::cli {
namespace kubectl_gpu {
namespace {

constexpr int kWrongUsage = 2, kNoAnswer = 3;

bool WantsColour() {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no == nullptr || *no == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

std::string WorkingFolder() {
  char buffer[4096];
  return getcwd(buffer, sizeof(buffer)) == nullptr ? "/" : buffer;
}

/// Lines as they come; in the end the standing as exit code.
Result<Report> Wait(const kube::Client& client, const Options& options) {
  ASSIGN(const auto signals, os::StopSignals::Catch());
  ThreadExecutor workers(2);
  const WaitOrder order{.names = options.names, .limit = options.timeout, .operator_ns = options.operator_ns};
  const auto tell = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  ASSIGN(const Waited waited, WaitUntilFit(workers, client.With(signals->token()), order, tell, signals->token()));
  if (!waited.missing.empty())
    std::fprintf(stderr, "kubectl gpu: not fit after %.0f s: %s\n", std::chrono::duration<double>(waited.took).count(),
                 Join(waited.missing, "; ").c_str());
  return Report{.text = {}, .json = {}, .exit_code = ExitCodeOf(waited.worst)};
}

Result<Report> Ask(const Options& options, const Paint& paint) {
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  kube::ConfigSources sources{.kubeconfig = options.kubeconfig, .context = options.context};
  sources.working_folder = WorkingFolder();
  ASSIGN(kube::ApiConfig config, kube::FindConfig(*fs, sources));
  const std::string ns = options.ns.empty() ? config.namespace_name : options.ns;
  ASSIGN(const auto api, kube::ApiDoor::Open(*fs, std::move(config)));
  const kube::Client client(api->door());
  return options.command == Options::Command::kWait ? Wait(client, options) : Answer(client, options, ns, paint);
}

/// Verdicts about nodes need to see them.
Result<> NeedNodes(const ClusterFacts& facts) {
  if (facts.sees_nodes) return {};
  return Fail(Code::kForbidden, "nodes may not be listed by this user; kubectl gpu why POD answers without");
}

/// A Pod first, then a node, unless the name says which is meant.
Result<Report> AnswerWhy(const kube::Client& client, const Options& options, const std::string& ns,
                         const Paint& paint) {
  std::string name = options.names.front();
  bool pod = true, node = true;
  if (const auto slash = name.find('/'); slash != std::string::npos) {
    const std::string kind = name.substr(0, slash);
    name.erase(0, slash + 1);
    pod = kind == "pod" || kind == "pods" || kind == "po";
    node = kind == "node" || kind == "nodes" || kind == "no";
    if (!pod && !node) return Fail(Code::kInvalid, kind + ": neither pod nor node");
  }
  if (pod) {
    auto facts = ReadPod(client, ns, name);
    if (!facts && (facts.error().code != Code::kNotFound || !node)) return std::unexpected(facts.error());
    if (facts) {
      ASSIGN(const ClusterFacts cluster, ReadCluster(client, options.operator_ns));
      return ReportWhyPod(*facts, cluster, paint);
    }
  }
  ASSIGN(const ClusterFacts cluster, ReadCluster(client, options.operator_ns));
  const std::string no_pod = "there is no Pod " + name + " in namespace " + ns;
  if (!cluster.sees_nodes && pod) return Fail(Code::kNotFound, no_pod + WhereIs(client, ns, name));
  TRY(NeedNodes(cluster));
  auto report = ReportWhyNode(cluster, name, paint);
  if (!report && pod) return Fail(Code::kNotFound, no_pod + ", and no node of that name" + WhereIs(client, ns, name));
  return report;
}

}  // namespace

Result<Report> Answer(const kube::Client& client, const Options& options, const std::string& ns, const Paint& paint) {
  if (options.command == Options::Command::kWhy) return AnswerWhy(client, options, ns, paint);
  ASSIGN(const ClusterFacts facts, ReadCluster(client, options.operator_ns));
  TRY(NeedNodes(facts));
  if (options.command == Options::Command::kStatus) return ReportStatus(facts, paint);
  const std::string& name = options.names.front();
  return ReportNode(facts, name.starts_with("node/") ? name.substr(5) : name, paint);
}

}  // namespace kubectl_gpu

int RunKubectlGpu(std::span<char* const> args) {
  using namespace kubectl_gpu;
  const auto options = ParseOptions(args);
  if (!options) {
    std::fprintf(stderr, "kubectl gpu: %s\nkubectl gpu --help tells commands and options\n",
                 options.error().text.c_str());
    return kWrongUsage;
  }
  if (options->command == Options::Command::kHelp) {
    std::fputs(HelpText().c_str(), args.empty() ? stderr : stdout);
    return args.empty() ? kWrongUsage : 0;
  }
  const auto report = Ask(*options, Paint(!options->json && WantsColour()));
  if (!report) {
    std::fprintf(stderr, "kubectl gpu: %s\n", report.error().text.c_str());
    return kNoAnswer;
  }
  if (options->command == Options::Command::kWait) return report->exit_code;
  const std::string text = options->json ? data::ToPrettyJson(report->json) + "\n" : report->text;
  return std::fputs(text.c_str(), stdout) < 0 ? kNoAnswer : report->exit_code;
}

}  // namespace gpuop::cli
