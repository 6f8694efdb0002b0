#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "sim/node/engine/messages.h"

namespace gpuop::sim::node {

/// The namespaces of a Pod, kept by descriptors.
struct Sandbox {
  SandboxSpec spec;
  os::Fd network, ipc, uts;  ///< invalid: the machine's
  os::Fd pid;                ///< of the Pod, when its containers share one
  int holder = 0;            ///< the process that keeps `pid`
};

/// The standard streams of a process; the descriptors are the caller's.
struct Streams {
  int in = -1, out = -1, err = -1;
};

/// Becomes the container's process: called in a new process, in a new mount namespace (and a pid namespace, if it has
/// its own). Returns only when it could not, with what the low-level runtime would say.
Error BecomeContainer(const ContainerSpec& spec, const Sandbox& sandbox, const Streams& streams);

/// Becomes a further process of a running container whose first process is `target` (a pidfd) and whose pid namespace
/// was joined before the fork. A terminal's other side is sent over `terminal_to` (a socket).
Error BecomeNeighbour(const ProcessSpec& process, const os::Fd& target, const Streams& streams, int terminal_to);

/// The text that begins every complaint of the low-level runtime about a program.
inline constexpr const char* kStartFailed =
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: ";

}  // namespace gpuop::sim::node
