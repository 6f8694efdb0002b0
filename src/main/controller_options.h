#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace gpuop {

/// What `gpu-operator controller` was told: NVIDIA's flags, and a few of its own.
struct ControllerOptions {
  std::string metrics_address = ":8080", health_address = ":8081";
  bool leader_elect = false;
  std::string lease_namespace = {};
  Duration renew_deadline{};  ///< 0: the default
  LogLevel log_level = LogLevel::kInfo;
  /// For metrics over TLS; with `metrics_client_ca` only for clients that show a certificate of it.
  std::string metrics_certificate = {}, metrics_key = {}, metrics_client_ca = {};
  std::string kubeconfig = {};
  bool dry_run = false, help = false;
};

/// Go's flag syntax: one dash or two, "=" or the next argument, booleans without a value. kInvalid names the flag.
Result<ControllerOptions> ParseControllerOptions(std::span<char* const> args);
std::string ControllerHelp();

}  // namespace gpuop
