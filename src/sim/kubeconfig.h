#pragma once

#include <string>

#include "base/result.h"

namespace gpuop::sim {

/// How clients reach the embedded cluster.
struct KubeconfigParts {
  /// "http://127.0.0.1:18080" or "https://…".
  std::string server;
  /// PEM of the authority and of the administrator's certificate and key; empty over plain HTTP.
  std::string ca, certificate, key;
};

/// A kubeconfig (kind Config) with one cluster, user and context, all called gpu-operator-sim.
std::string MakeKubeconfig(const KubeconfigParts& parts);
/// Writes it, readable by the owner alone, whole or not at all.
Result<> WriteKubeconfig(const std::string& path, const KubeconfigParts& parts);

}  // namespace gpuop::sim
