#pragma once
// Probes: what is asked of a container, and when enough answers make a difference.

#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "os/fd.h"
#include "sim/node/pod/pod_life.h"

namespace gpuop::sim::node {

/// What one probe found. `text` is what the event says after "… probe failed: ".
struct ProbeAnswer {
  bool success = false;
  std::string text;
};

/// Counts a probe's answers: threshold by threshold (core/v1 Probe). Pure.
class ProbeCount {
 public:
  ProbeCount(const Probe& probe, ProbeKind kind);
  /// The verdict that this answer brings, if it brings one. A readiness probe begins as failed.
  std::optional<bool> Add(bool success);

 private:
  int success_threshold_, failure_threshold_, row_ = 0;
  bool last_ = false;
};

/// One probe of one running container.
struct ProbeRun {
  ProbeRun(const Probe& p, ProbeKind k) : probe(p), kind(k), count(p, k) {}
  const Probe probe;
  const ProbeKind kind;
  ProbeCount count;
  bool over = false;  ///< the container has ended, or the probe its work
};

/// The port that a probe names: a number, or the name of a port of the container.
Result<std::uint16_t> PortOf(const ContainerWish& container, const kube::IntOrString& port);

// Blocking; for workers. `socket` is a TCP socket of the Pod's network, not connected.

/// GET; 200 to 399 is success.
ProbeAnswer ProbeHttp(os::Fd socket, const HttpGetAction& action, const std::string& address, std::uint16_t port,
                      Duration limit);
ProbeAnswer ProbeTcp(os::Fd socket, const std::string& address, std::uint16_t port, Duration limit);
/// grpc.health.v1.Health/Check.
ProbeAnswer ProbeGrpc(os::Fd socket, const GrpcAction& action, const std::string& address, Duration limit);

}  // namespace gpuop::sim::node
