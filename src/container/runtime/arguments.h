#pragma once
// The command lines that engines send to a low-level runtime (runc, crun).

#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::container {

/// Whether the command is `create`, which makes a container of a bundle. Global flags with values are known, and a word
/// that is no command (a value of a flag we do not know) is passed over; a container that is called "create" is none.
bool IsCreate(const std::vector<std::string>& arguments);

/// The bundle's folder from --bundle, -bundle or -b; "" when none is given. kInvalid for a flag without its value.
Result<std::string> BundleOf(const std::vector<std::string>& arguments);

/// Where the engine reads what went wrong: the value of --log; "" when none is given.
std::string LogOf(const std::vector<std::string>& arguments);

}  // namespace gpuop::container
