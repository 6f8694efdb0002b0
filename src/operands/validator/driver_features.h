#pragma once

#include <optional>
#include <string>

#include "api/chain.h"
#include "os/fs.h"

namespace gpuop::operands::validator {

/// What a driver container says is switched on in `.driver-ctr-ready` (YAML, name: bool), held against the modules that
/// are loaded. Unknown names are passed over. kDriverNotReady when the file is missing or no such map.
std::optional<api::Finding> CheckFeatures(const os::Fs& host, const os::Fs& own, const std::string& file);

/// What is found when the kernel module behind a component ("nvidia-fs") is not loaded; nullopt for one without.
std::optional<api::Finding> CheckModule(const os::Fs& host, std::string_view component);

}  // namespace gpuop::operands::validator
