#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::cli {

/// Each returns what goes to standard output.
Result<std::string> CdiGenerate(const std::vector<std::string>& arguments);
Result<std::string> CdiList(const std::vector<std::string>& arguments);
Result<std::string> CdiTransformRoot(const std::vector<std::string>& arguments);
/// `nvidia-ctk runtime configure`.
Result<std::string> RuntimeConfigure(const std::vector<std::string>& arguments);
/// `nvidia-ctk config default`, and `nvidia-ctk config` with what --set changes; comments of the file stay.
Result<std::string> ConfigDefault(const std::vector<std::string>& arguments);
Result<std::string> ConfigShow(const std::vector<std::string>& arguments);
/// `nvidia-ctk system create-device-nodes`, `… create-dev-char-symlinks`, `… print-ldcache`. The first two say what
/// they made.
Result<std::string> SystemCreateDeviceNodes(const std::vector<std::string>& arguments);
Result<std::string> SystemCreateDevCharSymlinks(const std::vector<std::string>& arguments);
Result<std::string> SystemPrintLdcache(const std::vector<std::string>& arguments);

/// Writes what --output asks for; `path` may be relative to the working folder. A file that says the same is not
/// touched.
Result<> WriteOutput(const std::string& path, const std::string& text);

}  // namespace gpuop::cli
