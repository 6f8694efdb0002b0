#pragma once

#include <span>

namespace gpuop::cli {

/// `gpu-operator crds [NAME…]`: prints the CustomResourceDefinitions, or those named, as YAML documents. `--names`
/// prints their names, `--reference NAME…` their pages for people. Returns 0, or 2 for an unknown name or option.
int RunCrds(std::span<char* const> args);

}  // namespace gpuop::cli
