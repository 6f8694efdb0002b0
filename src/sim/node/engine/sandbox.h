#pragma once

#include "base/result.h"
#include "sim/node/engine/container_process.h"

namespace gpuop::sim::node {

/// Where the API server is found in every Pod, as the Service "kubernetes" has it.
inline constexpr const char* kApiAddress = "10.96.0.1";
inline constexpr std::uint16_t kApiPort = 443;

struct MadeSandbox {
  Sandbox sandbox;
  /// Listens at kApiAddress inside the Pod's network, for the API server outside; invalid on the machine's network.
  os::Fd api;
};

/// Makes the namespaces of a Pod and comes back to the caller's own. A network has a loopback interface with the Pod's
/// address alone. Only in a process with one thread.
Result<MadeSandbox> MakeSandbox(const SandboxSpec& spec);

/// A TCP socket (not connected) of the sandbox's network.
Result<os::Fd> SocketIn(const Sandbox& sandbox);

}  // namespace gpuop::sim::node
