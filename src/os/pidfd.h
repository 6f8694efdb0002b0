#pragma once
// Processes by a descriptor that no later process of the same number can take over: pidfd_open(2).

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "os/fd.h"
#include "os/fs.h"

namespace gpuop::os {

/// Readable in poll(2) once the process has ended, when it holds no file or lock any more. Invalid, with errno, when
/// there is none (ESRCH) or the kernel knows no such descriptors.
Fd OpenProcess(pid_t pid);

/// Sends `signal`; false, with errno, when the process has ended (ESRCH) or may not be signalled.
bool SignalProcess(const Fd& process, int signal);

/// Waits until the process has ended, at most `limit`; whether it has.
bool AwaitEnd(const Fd& process, std::chrono::milliseconds limit);

/// A number of /proc/PID/stat by its place in proc_pid_stat(5), from 4 (ppid) on; nullopt when it is not to be seen.
std::optional<std::int64_t> StatNumber(const Fs& fs, pid_t pid, std::size_t place);

}  // namespace gpuop::os
