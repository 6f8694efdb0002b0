#include "sim/options.h"

#include <optional>
#include <string_view>

#include "base/text.h"

namespace gpuop::sim {
namespace {

constexpr std::string_view kHelp = R"(gpu-operator sim: a Kubernetes API on loopback, in memory, in milliseconds

usage: gpu-operator sim [options]
       gpu-operator sim fault NODE WHAT [NAME=VALUE …] [--kubeconfig FILE]    (what: see docs/simulated-nodes.md)

  --nodes N          begin with N hollow nodes (0)
  --pools FILE       and with the hollow nodes that FILE describes
  --machine KIND     a node that is a simulated GPU machine, where Pods are processes: dgx-a100, b300, gb10 … or a
                     machine file; NAME=KIND says what the node is called; can be repeated
  --images FILE      the images that machines can pull
  --machines-folder F  keep the machines' files in F, across restarts
  --join FILE        only the hollow nodes, for the cluster that the kubeconfig FILE names
  --api-only         no controllers, no scheduler, no nodes
  --port P           listen on 127.0.0.1:P (a free port)
  --state FILE       keep the cluster in FILE across restarts
  --tls              serve https; clients need the certificate in the kubeconfig
  --kubeconfig FILE  where to write the kubeconfig (gpu-operator-sim.kubeconfig)
  --seed S           make uids and generated names repeatable
  --help             show this

Stop it with Ctrl-C.
)";

Result<int> Number(std::string_view name, std::string_view text, int most) {
  const auto n = ParseInt(text);
  if (!n || *n < 0 || *n > most)
    return Fail(Code::kInvalid, std::string(name) + ": expected a number from 0 to " + std::to_string(most));
  return static_cast<int>(*n);
}

Result<> Set(SimOptions& options, std::string_view name, const std::string& v) {
  if (name == "--nodes") {
    ASSIGN(options.nodes, Number(name, v, 10'000));
  } else if (name == "--port") {
    ASSIGN(options.port, Number(name, v, 65'535));
  } else if (name == "--state") {
    options.state_file = v;
  } else if (name == "--machine") {
    options.machines.push_back(v);
  } else if (name == "--images") {
    options.images_file = v;
  } else if (name == "--machines-folder") {
    options.machines_folder = v;
  } else if (name == "--pools") {
    options.pools_file = v;
  } else if (name == "--join") {
    options.join = v;
  } else if (name == "--kubeconfig") {
    options.kubeconfig = v;
  } else if (name == "--seed") {
    ASSIGN(const int seed, Number(name, v, 2'147'483'647));
    options.seed = static_cast<std::uint64_t>(seed);
  } else {
    return Fail(Code::kInvalid, "unknown option " + std::string(name));
  }
  return {};
}

}  // namespace

Result<SimOptions> ParseSimOptions(std::span<char* const> args) {
  SimOptions options;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--tls") {
      options.tls = true;
    } else if (arg == "--api-only") {
      options.api_only = true;
    } else if (arg == "--help" || arg == "-h") {
      options.help = true;
    } else if (const auto pair = Cut(arg, '='); pair && arg.starts_with("--")) {
      TRY(Set(options, pair->first, std::string(pair->second)));
    } else if (!arg.starts_with("--")) {
      return Fail(Code::kInvalid, "unexpected argument " + Quote(arg));
    } else if (i + 1 == args.size()) {
      return Fail(Code::kInvalid, std::string(arg) + ": needs a value, or is unknown");
    } else {
      TRY(Set(options, arg, args[++i]));
    }
  }
  return options;
}

std::string SimHelp() { return std::string(kHelp); }

}  // namespace gpuop::sim
