#pragma once
// The steps of a change on the files themselves, each of which can be cut short and done again.

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fs.h"
#include "os/journal.h"
#include "os/journal_record.h"

namespace gpuop::os {

/// What is at `path` now. kInvalid when it is neither a file nor a link nor nothing.
Result<FileState> StateOf(const Fs& fs, const std::string& path);

/// Where the new and the old state of `path` wait, beside it.
std::string NewOf(const std::string& path);
std::string OldOf(const std::string& path);

/// The folders that must be made before `items` can be written, outermost first.
Result<std::vector<std::string>> MissingFolders(const Fs& fs, const std::vector<Plan::Item>& items);

/// Writes every new state, and a copy of every old one, to its waiting place.
Result<> Stage(Fs& fs, const std::vector<Plan::Item>& items);
/// Moves the new states to their places. kConflict when a path is not as it was.
Result<> MoveNew(Fs& fs, const std::vector<JournalRecord::Item>& items);
/// kIo when a path does not hold what was written to it.
Result<> CheckNew(const Fs& fs, const std::vector<JournalRecord::Item>& items);

/// Puts every path back that still is as the change left it, the last one first, and removes the folders made for
/// them. Returns those not put back, with the reason; their old states stay where they wait. An error: not all could
/// be tried or done; can be called again.
Result<std::vector<std::string>> PutBack(Fs& fs, const JournalRecord& record);
/// Removes the waiting places after a commit.
Result<> RemoveOld(Fs& fs, const std::vector<JournalRecord::Item>& items);
/// Removes `path` and what a killed writer of it can have left; neither need be there.
Result<> RemoveWithLeftovers(Fs& fs, const std::string& path);

}  // namespace gpuop::os
