#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "operands/launch/options.h"
#include "os/fs.h"

namespace gpuop::operands::launch {

using Variables = std::map<std::string, std::string>;

/// NAME=value lines, as the validator writes them for the driver; blank lines and comments are passed over, quotes
/// around a value taken away. kInvalid names the line.
Result<Variables> ParseEnvFile(std::string_view text);

/// `before` with what the options add: files first, then copies, then variables of loaded modules. What is set already
/// is replaced by files and copies only. Errors name the file.
Result<Variables> Environment(const Options& options, const os::Fs& fs, Variables before);

/// Whether a kernel module is loaded.
bool IsLoaded(const os::Fs& fs, const std::string& module);

}  // namespace gpuop::operands::launch
