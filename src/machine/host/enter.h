#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::machine {

/// Makes this process, which must have one thread, see the machine in `folder` (MachineFolder) as its own: the
/// machine's /dev, /sys, /run and /var, its /etc and /usr laid over the real ones (what is written there is gone with
/// the process and its children), the files of its /proc over the kernel's, everything else as it was. In a mount
/// namespace of its own and, when it is not root, in a user namespace in which it is. What the kernel itself says
/// (uname(2), /proc/modules where it has no modules) stays the real machine's.
Result<> EnterMachine(const std::string& folder);

/// Runs `argv` on the machine in a process of its own and waits for its end: the exit status, 128 + n when signal n
/// ended it, 127 when there is no such program and 126 when it cannot be entered or run (the reason is on standard
/// error). SIGINT and SIGTERM are the program's to handle. Only in a process with one thread.
int RunOnMachine(const std::string& folder, const std::vector<std::string>& argv);

}  // namespace gpuop::machine
