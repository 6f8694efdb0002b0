#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "e2e/api/session.h"

namespace gpuop::e2e {

/// What one scenario said, and how many checks that was.
struct Transcript {
  std::string name, text;
  std::size_t checks = 0;
};

/// Plays one scenario in a namespace of its own, named after it.
Transcript Play(const Scenario& scenario, const DoorFactory& doors, const Pump& pump);

/// The steps in which two transcripts of a scenario differ, each with both texts; empty when they agree.
/// `wanted` is the real API server's, `got` the other's.
std::string Differences(const std::string& wanted, const std::string& got, std::size_t* count);

/// "<folder>/<scenario>.txt", as recorded from the real API server.
Result<std::string> ReadGolden(const std::filesystem::path& folder, const std::string& scenario);
Result<> WriteGolden(const std::filesystem::path& folder, const Transcript& transcript);

}  // namespace gpuop::e2e
