#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::operands::mps {

/// Hears of a daemon that runs on its own: what it writes into its log, and its end. Both are told on a thread of the
/// watch, which costs nothing while nothing happens. Ends when destroyed; not to be destroyed inside its callbacks.
class DaemonWatch {
 public:
  struct Hears {
    std::function<void(std::string_view line)> line;
    std::function<void()> end;
  };
  /// `log_file` is read from its present end on; it need not exist. kNotFound when no process has this number.
  static Result<std::unique_ptr<DaemonWatch>> Start(int pid, const std::string& log_file, Hears hears);
  virtual ~DaemonWatch() = default;
};

}  // namespace gpuop::operands::mps
