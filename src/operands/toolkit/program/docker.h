#pragma once

#include <stop_token>
#include <string>

#include "operands/toolkit/program/engine.h"

namespace gpuop::operands::toolkit {

/// Reads the answer to GET /info (Docker Engine API 1.24 or newer): the runtimes that dockerd runs with, whatever its
/// file says. kInvalid when it is none.
Result<EngineStatus> ReadDockerInfo(const std::string& json);
/// Asks the dockerd behind a unix socket for that; waits ten seconds at most.
Result<EngineStatus> AskDocker(const std::string& socket, std::stop_token stop);

}  // namespace gpuop::operands::toolkit
