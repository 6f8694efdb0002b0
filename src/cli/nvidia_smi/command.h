#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu/nvml.h"

namespace gpuop::cli {

/// `nvidia-smi` over the driver's own NVML, for nodes that bring no program of their own: the plain table, -L, -q,
/// --query-gpu and --query-compute-apps as CSV, `mig` and the changes -mig, -pm, -c and -r. Layout, words and exit
/// statuses are those that programs parse: 2 wrong arguments, 3 not supported, 4 no permission, 6 nothing found, 9 no
/// driver loaded, 12 no NVML, 15 GPU lost, 18 library and driver of different versions.
int RunNvidiaSmi(std::span<char* const> args);

namespace nvidia_smi {

/// What a command printed, and its exit status.
struct Outcome {
  std::string text;
  int status = 0;
};

/// The same on a started NVML. `now` stands on top of tables and reports: "Mon Feb  2 00:04:39 2026".
Outcome Run(const gpu::Nvml& nvml, const std::vector<std::string>& args, const std::string& now);

}  // namespace nvidia_smi
}  // namespace gpuop::cli
