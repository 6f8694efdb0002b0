#pragma once
// A host for the journal's tests: some files, a change of every kind, and an engine that has loaded one of them.

#include <map>
#include <string>
#include <vector>

#include "os/journal.h"

namespace gpuop::os {

using Tree = std::map<std::string, std::string>;

/// Every path below `folder` but the journal's own and the engine's: what it is, with mode, owner and content.
Tree TreeOf(const Fs& fs, const std::string& folder = "/");

inline constexpr const char* kJournalFolder = "/var/journal";

/// Files as they were before.
void PrepareHost(Fs& fs);
/// Replaces, creates with folders, removes, redirects a link, and turns a file into a link.
std::vector<Change> EveryKindOfChange();

/// An engine that reads /etc/config.toml when it is told to and keeps what it read in /run/engine.
Hooks EngineHooks(Fs& fs);
/// Whether the engine runs with the configuration that is on the disk.
bool EngineIsCurrent(const Fs& fs);

}  // namespace gpuop::os
