#pragma once
// Ends a process at a chosen system call, to see what a kill there leaves behind.

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/testing/sanitized.h"

namespace gpuop::os {

/// A process under a sanitizer takes long to copy: there only some of the system calls are tried.
inline constexpr int kStride = kSanitized ? 11 : 1;

/// Runs `work` in a process of its own and kills it before its n-th system call. True when it was killed.
template <class Work>
bool KilledBeforeSystemCall(int n, Work work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL);
  for (int stops = 0;; ++stops) {
    // A call stops twice, before and after; nothing happens between one's end and the next one's beginning.
    if (stops == 2 * n - 1) break;
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    if (::waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
      GPUOP_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      return false;
    }
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return true;
}

/// Whether this process may trace another.
inline bool CanTrace() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace gpuop::os
