#pragma once
// What a machine's first process does on request: sandboxes, containers, processes beside them, signals, and telling
// how each has ended.

#include "os/fd.h"

namespace gpuop::sim::node {

/// Obeys the requests (messages.h) that come over `socket`, a SOCK_SEQPACKET, until the other side closes it; then all
/// that it started is left to end with the pid namespace. Says "ready" first, with `api`, which listens for the API
/// server on the machine's own network. `signals` is a signalfd of SIGCHLD. One thread; everything is an event of
/// poll(2). Returns the exit status.
int ServeMachineRequests(os::Fd socket, os::Fd signals, const os::Fd& api);

}  // namespace gpuop::sim::node
