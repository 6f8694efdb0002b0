#pragma once
// The one file that says how far a change has come. Format: docs/formats/journal.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/journal.h"

namespace gpuop::os {

/// A FileState without its bytes: enough to know it again.
struct StatePrint {
  FileState::Kind kind = FileState::Kind::kAbsent;
  FileAttributes attributes = {};
  std::uint64_t size = 0;
  std::uint64_t sum = 0;

  bool operator==(const StatePrint&) const = default;
};

StatePrint PrintOf(const FileState& state);

/// A change on its way.
struct JournalRecord {
  enum class Stage { kWriting, kActivating, kCommitted };
  struct Item {
    std::string path;
    StatePrint before, after;
    bool operator==(const Item&) const = default;
  };

  std::string name;
  Stage stage = Stage::kWriting;
  /// Folders that did not exist before, outermost first.
  std::vector<std::string> folders;
  std::vector<Item> items;

  bool operator==(const JournalRecord&) const = default;
};

std::string WriteJournalRecord(const JournalRecord& record);
/// kInvalid, naming the line, for anything that WriteJournalRecord does not write.
Result<JournalRecord> ReadJournalRecord(std::string_view text);

}  // namespace gpuop::os
