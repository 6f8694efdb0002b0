#include "sim/machine_fault.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "data/json.h"
#include "kube/api_door.h"
#include "os/real_fs.h"

namespace gpuop::sim {
namespace {

constexpr const char* kUsage =
    "usage: gpu-operator sim fault NODE WHAT [NAME=VALUE ...] [--kubeconfig FILE]\n"
    "  WHAT: reboot, power-loss, engine-restart, kubelet-restart, partition, mend, a fault of a machine file\n"
    "  (\"xid gpu=0 value=79\"; `gpu-operator machine faults` lists them), or clear and such a fault\n"
    "  FILE: $KUBECONFIG where it is set, else gpu-operator-sim.kubeconfig\n";

/// Without a file named: the cluster that kubectl beside it talks to, else the one that `sim` began in this folder.
kube::ConfigSources SourcesOf(const std::string& named) {
  const char* set = std::getenv("KUBECONFIG");
  kube::ConfigSources out;
  out.working_folder = std::filesystem::current_path();
  if (!named.empty())
    out.kubeconfig = std::filesystem::absolute(named);
  else if (set == nullptr || *set == '\0')
    out.kubeconfig = std::filesystem::absolute("gpu-operator-sim.kubeconfig");
  return out;
}

struct FaultCall {
  std::string kubeconfig, node;
  std::vector<std::string> words;
};

Result<FaultCall> Parse(std::span<char* const> args) {
  FaultCall out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string arg = args[i];
    if (arg == "--kubeconfig" && i + 1 < args.size())
      out.kubeconfig = args[++i];
    else if (arg.starts_with("--kubeconfig="))
      out.kubeconfig = arg.substr(13);
    else if (arg.starts_with("--"))
      return Fail(Code::kInvalid, "unknown option " + arg);
    else if (out.node.empty())
      out.node = arg;
    else
      out.words.push_back(arg);
  }
  if (out.node.empty() || out.words.empty())
    return Fail(Code::kInvalid, "a node, and what shall happen to it, are needed");
  return out;
}

Result<> Send(const FaultCall& call) {
  ASSIGN(const auto fs, os::RealFs::Open("/"));
  ASSIGN(kube::ApiConfig config, kube::FindConfig(*fs, SourcesOf(call.kubeconfig)));
  ASSIGN(const auto api, kube::ApiDoor::Open(*fs, std::move(config)));
  data::JsonArray words;
  for (const std::string& word : call.words) words.emplace_back(word);
  kube::ApiRequest request;
  request.method = "POST";
  request.path = "/sim/v1/machines/" + call.node + "/fault";
  request.content_type = "application/json";
  request.body = data::ToJson(data::JsonObject{{"words", std::move(words)}});
  TRY(kube::Client(api->door()).Send(request));
  return {};
}

}  // namespace

int RunMachineFault(std::span<char* const> args) {
  const auto call = Parse(args);
  if (!call) {
    std::fprintf(stderr, "gpu-operator sim fault: %s\n%s", call.error().text.c_str(), kUsage);
    return 2;
  }
  if (auto sent = Send(*call); !sent) {
    std::fprintf(stderr, "gpu-operator sim fault: %s\n", sent.error().text.c_str());
    return 1;
  }
  return 0;
}

}  // namespace gpuop::sim
