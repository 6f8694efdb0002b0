#include "operands/config_manager/options.h"

#include <csignal>
#include <span>

#include "base/text.h"
#include "container/flags.h"
#include "data/names.h"

namespace gpuop::operands::config_manager {
namespace {

const std::vector<container::FlagSpec>& Flags() {
  static const std::vector<container::FlagSpec> flags = {
      {.names = {"--oneshot"}, .variables = {"ONESHOT"}, .otherwise = "false", .is_switch = true},
      {.names = {"--kubeconfig"}, .variables = {"KUBECONFIG"}},
      {.names = {"--node-name"}, .variables = {"NODE_NAME"}},
      {.names = {"--node-label"}, .variables = {"NODE_LABEL"}, .otherwise = "nvidia.com/device-plugin.config"},
      {.names = {"--config-file-srcdir"}, .variables = {"CONFIG_FILE_SRCDIR"}},
      {.names = {"--config-file-dst"}, .variables = {"CONFIG_FILE_DST"}},
      {.names = {"--default-config"}, .variables = {"DEFAULT_CONFIG"}},
      {.names = {"--fallback-strategies"}, .variables = {"FALLBACK_STRATEGIES"}, .repeatable = true},
      {.names = {"--send-signal"}, .variables = {"SEND_SIGNAL"}, .otherwise = "true", .is_switch = true},
      {.names = {"--signal"}, .variables = {"SIGNAL"}, .otherwise = "1"},
      {.names = {"--process-to-signal"}, .variables = {"PROCESS_TO_SIGNAL"}, .otherwise = "nvidia-device-plugin"},
      {.names = {"--metrics-address"}, .variables = {"METRICS_ADDRESS"}},
  };
  return flags;
}

Result<std::vector<Fallback>> ReadFallbacks(const std::vector<std::string>& names) {
  std::vector<Fallback> out;
  for (const std::string& name : names) {
    if (name == "named")
      out.push_back(Fallback::kNamed);
    else if (name == "single")
      out.push_back(Fallback::kSingle);
    else if (name == "empty")
      out.push_back(Fallback::kEmpty);
    else
      return Fail(Code::kInvalid, "--fallback-strategies: " + Quote(name) + " is not named, single or empty");
  }
  return out;
}

/// An absolute path that must be given.
Result<std::string> Path(const container::FlagValues& given, const std::string& name, const char* variable) {
  std::string path = given.Text(name);
  if (path.empty()) return Fail(Code::kInvalid, name + " (" + variable + ") must be given");
  if (!path.starts_with('/')) return Fail(Code::kInvalid, name + ": " + Quote(path) + " is not an absolute path");
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Result<Options> ReadOptions(const std::vector<std::string>& arguments,
                            const std::function<const char*(const char*)>& variable) {
  ASSIGN(const container::FlagValues given, container::ParseFlags(Flags(), arguments, variable));
  Options out;
  out.oneshot = given.On("--oneshot");
  out.kubeconfig = given.Text("--kubeconfig");
  out.node = given.Text("--node-name");
  if (out.node.empty()) return Fail(Code::kInvalid, "--node-name (NODE_NAME) must be given");
  out.label = given.Text("--node-label");
  if (const auto why = data::CheckQualifiedName(out.label); !why.empty())
    return Fail(Code::kInvalid, "--node-label: " + Quote(out.label) + ": " + why.front());
  ASSIGN(out.source, Path(given, "--config-file-srcdir", "CONFIG_FILE_SRCDIR"));
  ASSIGN(out.destination, Path(given, "--config-file-dst", "CONFIG_FILE_DST"));
  if (out.destination.starts_with(out.source + "/"))
    return Fail(Code::kInvalid, "--config-file-dst: " + Quote(out.destination) + " is among the configurations of " +
                                    Quote(out.source));
  out.default_config = given.Text("--default-config");
  ASSIGN(out.fallbacks, ReadFallbacks(given.List("--fallback-strategies")));
  out.send_signal = given.On("--send-signal");
  const auto signal = ParseInt(given.Text("--signal"));
  if (!signal || *signal < 1 || *signal >= NSIG)
    return Fail(Code::kInvalid, "--signal: " + Quote(given.Text("--signal")) + " is not the number of a signal");
  out.signal = static_cast<int>(*signal);
  out.process = given.Text("--process-to-signal");
  if (out.send_signal && out.process.empty())
    return Fail(Code::kInvalid, "--process-to-signal (PROCESS_TO_SIGNAL) must be given with --send-signal");
  out.metrics_address = given.Text("--metrics-address");
  return out;
}

std::string Help() {
  return "config-manager: links the configuration that a label of this node names, and tells a program of it\n\n"
         "  --oneshot                link once and end (ONESHOT)\n"
         "  --node-name              this node (NODE_NAME)\n"
         "  --node-label             the label that names the configuration (NODE_LABEL)\n"
         "  --config-file-srcdir     the folder of configurations (CONFIG_FILE_SRCDIR)\n"
         "  --config-file-dst        the link to the chosen one (CONFIG_FILE_DST)\n"
         "  --default-config         the one for nodes without the label (DEFAULT_CONFIG)\n"
         "  --fallback-strategies    without a default: named, single, empty, in this order (FALLBACK_STRATEGIES)\n"
         "  --send-signal            tell the program (SEND_SIGNAL)\n"
         "  --signal                 by this signal (SIGNAL, 1)\n"
         "  --process-to-signal      its argv[0] (PROCESS_TO_SIGNAL, nvidia-device-plugin)\n"
         "  --metrics-address        where /metrics and /healthz are (METRICS_ADDRESS)\n"
         "  --kubeconfig             how to reach the API outside a Pod (KUBECONFIG)\n";
}

}  // namespace gpuop::operands::config_manager
