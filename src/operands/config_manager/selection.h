#pragma once
// Which configuration a node has. Pure.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operands/config_manager/options.h"

namespace gpuop::operands::config_manager {

/// Where the link of a node without a configuration leads: what is read there is empty.
inline constexpr const char* kNothing = "/dev/null";

/// The configurations among a folder's names: what begins with ".." is none but a link of a mounted ConfigMap.
std::vector<std::string> Configurations(const std::vector<std::string>& names);

/// Where the link must lead: the label's configuration; without the label the default's, then what the fallbacks say.
/// `available` is Configurations' answer. kNotFound, with what there is, when the named one is missing or nothing is
/// named and no fallback helps; kInvalid for a name that cannot be a file's.
Result<std::string> Select(const std::optional<std::string>& label, const std::vector<std::string>& available,
                           const Options& options);

}  // namespace gpuop::operands::config_manager
