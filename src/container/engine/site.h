#pragma once
// Which engine serves this node's kubelet, and how it is configured and restarted: found by the kubelet's socket and
// the process that holds it, not by which files happen to exist.

#include <string>

#include "base/result.h"
#include "container/engine/config.h"
#include "os/fs.h"

namespace gpuop::container {

/// A running engine and what its distribution makes of it.
struct EngineSite {
  EngineKind kind = EngineKind::kContainerd;
  /// The unix socket, as the host names it.
  std::string socket = {};
  /// The process that answers there; 0 when it is not known.
  int pid = 0;
  EngineFiles files = {};
  /// "", "k3s", "rke2", "microk8s" or "k0s".
  std::string distribution = {};
  /// What systemd restarts; empty: the process gets SIGHUP.
  std::string unit = {};
  /// The restart mode that is meant unless another is asked for: "signal" or "systemd".
  std::string restart_mode = "signal";
};

/// The socket that the kubelet of this host uses, from its process's arguments or its configuration file; containerd's
/// usual one when it names none. kNotFound when no kubelet runs. `host` shows the host's files, /proc included.
Result<std::string> FindKubeletSocket(const os::Fs& host);

/// The process that listens on a unix socket. kNotFound when none does.
Result<int> FindListener(const os::Fs& host, const std::string& socket);

/// The engine behind a socket.
Result<EngineSite> FindEngine(const os::Fs& host, const std::string& socket);

/// Where a distribution keeps an engine's configuration: what is known from the socket and the process's arguments.
EngineSite DescribeEngine(EngineKind kind, const std::string& socket, const std::vector<std::string>& arguments);

}  // namespace gpuop::container
