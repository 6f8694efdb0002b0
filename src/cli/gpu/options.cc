#include "cli/gpu/options.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "data/duration.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

constexpr std::string_view kHelp = R"(kubectl gpu: what a cluster's GPUs are worth, and what is broken first

usage: kubectl gpu status                      all nodes on one screen
       kubectl gpu node NAME                   all that is known of one node
       kubectl gpu why POD|NODE                the first broken link, what shows it, and what to check first
                                               (pod/NAME or node/NAME where both are called so)
       kubectl gpu wait [NODE...]              until these nodes (all that have GPUs) are fit, with a line for each step

  -n, --namespace NS           of the Pod
  -o, --output text|json
      --operator-namespace NS  where the operands run (as the ClusterPolicy says)
      --timeout DURATION       of wait: 5m unless said otherwise
      --context NAME, --kubeconfig FILE, -h, --help

exit codes: 0 nothing is wrong, 1 something is broken or degraded, 2 wrong usage, 3 the cluster cannot be asked or there
is no such object, 4 nothing is broken, and something is on its way or was not proved
)";

struct Flag {
  std::string_view name, brief;
  std::string Options::* value;
};
constexpr std::array<Flag, 4> kFlags{{{"--namespace", "-n", &Options::ns},
                                      {"--context", "", &Options::context},
                                      {"--kubeconfig", "", &Options::kubeconfig},
                                      {"--operator-namespace", "", &Options::operator_ns}}};

Result<> SetOutput(Options& options, std::string_view value) {
  if (value != "json" && value != "text")
    return Fail(Code::kInvalid, "--output: " + Quote(value) + " is neither text nor json");
  options.json = value == "json";
  return {};
}

Result<> SetFlag(Options& options, std::string_view name, std::string_view value) {
  if (name == "--output" || name == "-o") return SetOutput(options, value);
  if (name == "--timeout") {
    auto span = data::ParseDuration(value);
    if (!span || span->count() < 0) return Fail(Code::kInvalid, "--timeout: " + Quote(value) + " is no duration");
    options.timeout = *span;
    return {};
  }
  const auto flag = std::ranges::find_if(kFlags, [name](const Flag& f) { return f.name == name || f.brief == name; });
  if (flag == kFlags.end()) return Fail(Code::kInvalid, "there is no option " + std::string(name));
  options.*(flag->value) = value;
  return {};
}

struct Word {
  std::string_view name;
  Options::Command command;
  std::size_t least, most;  ///< names that follow
};
constexpr std::array<Word, 4> kWords{{{"status", Options::Command::kStatus, 0, 0},
                                      {"node", Options::Command::kNode, 1, 1},
                                      {"why", Options::Command::kWhy, 1, 1},
                                      {"wait", Options::Command::kWait, 0, 10'000}}};

Result<> TakeWords(Options& options, const std::vector<std::string_view>& words) {
  if (words.empty()) return {};
  const auto word = std::ranges::find(kWords, words[0], &Word::name);
  if (word == kWords.end())
    return Fail(Code::kInvalid, "there is no command " + Quote(words[0]) + "; there are status, node, why and wait");
  options.command = word->command;
  options.names.assign(words.begin() + 1, words.end());
  if (options.names.size() > word->most)
    return Fail(Code::kInvalid, "unexpected argument " + Quote(options.names.back()));
  if (options.names.size() < word->least) return Fail(Code::kInvalid, std::string(word->name) + ": a name is expected");
  return {};
}

}  // namespace

Result<Options> ParseOptions(std::span<char* const> args) {
  Options options;
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "-h" || arg == "--help" || arg == "help") return Options();
    if (!arg.starts_with("-")) {
      words.push_back(arg);
    } else if (const auto pair = Cut(arg, '=')) {
      TRY(SetFlag(options, pair->first, pair->second));
    } else if (i + 1 == args.size()) {
      TRY(SetFlag(options, arg, "text"));  // an unknown option is told first
      return Fail(Code::kInvalid, std::string(arg) + ": a value is expected");
    } else {
      TRY(SetFlag(options, arg, args[++i]));
    }
  }
  TRY(TakeWords(options, words));
  return options;
}

std::string HelpText() { return std::string(kHelp); }

}  // namespace gpuop::cli::kubectl_gpu
