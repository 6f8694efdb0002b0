#pragma once
// The launcher's command line. It starts the programs of operands' Pods where others use a shell:
//
//   gpu-operator-launch install FOLDER
//   gpu-operator-launch wait [--install=FOLDER] [--any] [--if=FILE:WORD] FILE…
//   gpu-operator-launch exec [--wait=FILE]… [--env-file=FILE]… [--env=NAME=OTHER]… [--if-module=MODULE:NAME=VALUE]…
//                            -- PROGRAM [ARGUMENT…]
//   gpu-operator-launch hold [--remove=PATTERN]… [-- PROGRAM [ARGUMENT…]]
//   gpu-operator-launch remove PATTERN…
//   gpu-operator-launch probe-driver
//   gpu-operator-launch probe-module MODULE

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpuop::operands::launch {

/// What the program is to do: install, wait, exec, hold, remove, probe-driver, probe-module (docs/operands.md).
enum class Verb { kInstall, kWait, kExec, kHold, kRemove, kProbeDriver, kProbeModule };

/// A variable that is set when a kernel module is loaded and the variable is not set yet.
struct ModuleVariable {
  std::string module, name, value;
};

/// What it was told.
struct Options {
  Verb verb = Verb::kWait;
  /// Folders that get a copy of this program.
  std::vector<std::string> install = {};
  /// Files to wait for: all of them, or any.
  std::vector<std::string> waits = {};
  bool any = false;
  /// Wait only when that file, which is waited for first, holds that word.
  std::string if_file = {}, if_word = {};
  /// Files of NAME=value lines that become variables.
  std::vector<std::string> env_files = {};
  /// A variable gets the value of another one: name, other.
  std::vector<std::pair<std::string, std::string>> copies = {};
  std::vector<ModuleVariable> module_variables = {};
  /// Paths whose last part may hold * and ?.
  std::vector<std::string> removes = {};
  /// The module of probe-module.
  std::string module = {};
  /// What to become, or to run first.
  std::vector<std::string> program = {};
};

/// kInvalid says what is wrong with which argument.
Result<Options> ParseOptions(std::span<const std::string> arguments);

}  // namespace gpuop::operands::launch
