#pragma once

#include <string>

#include "base/result.h"

namespace gpuop::os {

/// Whether somebody holds the lock (Fs::Lock) of the file at this path of the machine; kNotFound when there is none.
/// Opens the file to read alone, so that nobody who watches it hears of that. Who wants to lock it in the moment in
/// which this looks gets kConflict.
Result<bool> IsLocked(const std::string& path);

}  // namespace gpuop::os
