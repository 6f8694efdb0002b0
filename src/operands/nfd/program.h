#pragma once
// What the three programs of node feature discovery have in common.

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "base/metrics.h"
#include "base/result.h"
#include "net/io_thread.h"
#include "net/server.h"
#include "operands/nfd/settings_file.h"

namespace gpuop::operands::nfd {

/// A program, and what it takes.
struct ProgramText {
  const char* name;
  const char* does;
  std::span<const FlagText> flags;
};

/// What a program does until `stop`; `fs` is the root.
using ProgramBody =
    std::function<Result<>(const container::FlagValues& flags, const os::Fs& fs, const std::stop_token& stop)>;

/// Reads the flags, answers the one for help, and runs `body` until a signal asks for the end. The exit status; what
/// went wrong stands on standard error.
int RunProgram(const ProgramText& program, std::span<char* const> args, const ProgramBody& body);

/// /healthz and /metrics on a port; 0 serves nothing.
Result<std::unique_ptr<net::Server>> ServeHealth(net::IoThread& io, const MetricRegistry& metrics, int port);

/// The value of -port; kInvalid for what is no port.
Result<int> ReadPort(const std::string& text);

}  // namespace gpuop::operands::nfd
