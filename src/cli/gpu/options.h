#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::cli::kubectl_gpu {

/// What `kubectl gpu` was asked for.
struct Options {
  enum class Command { kStatus, kNode, kWhy, kWait, kHelp };
  Command command = Command::kHelp;
  /// Of nodes or of a Pod: "trainer", "pod/trainer", "node/dgx-1".
  std::vector<std::string> names;
  bool json = false;
  /// How long to wait at most.
  Duration timeout = std::chrono::minutes(5);
  /// Empty: as the kubeconfig says.
  std::string ns, context, kubeconfig;
  /// Where the operands run; empty: where the ClusterPolicy says.
  std::string operator_ns;
};

/// Reads the words after the program's name, as kubectl's plugins take them: `-n NS`, `-n=NS`, `--namespace NS`,
/// `--namespace=NS`. kInvalid names the word that is wrong.
Result<Options> ParseOptions(std::span<char* const> args);
std::string HelpText();

}  // namespace gpuop::cli::kubectl_gpu
