#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/journal.h"

namespace gpuop::container {

/// What an engine's files were before we changed them, kept on the host for as long as our change stands, so that
/// cleaning up gives back the bytes that were there.
struct EngineRecord {
  struct File {
    std::string path;
    os::FileState before;
    /// base's Hash64 of what we wrote; nullopt when we removed the file.
    std::optional<std::uint64_t> after;
  };
  std::vector<File> files;

  const File* Find(std::string_view path) const;
};

/// As JSON, with contents in base64. The same bytes for the same record.
std::string WriteEngineRecord(const EngineRecord& record);
/// kInvalid says what is damaged.
Result<EngineRecord> ReadEngineRecord(std::string_view text);

}  // namespace gpuop::container
