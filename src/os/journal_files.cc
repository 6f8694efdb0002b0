#include "os/journal_files.h"

#include <ranges>

namespace gpuop::os {
namespace {

std::string Beside(const std::string& path, std::string_view suffix) {
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name).append(".").append(path, name).append(suffix);
}

Result<StatePrint> PrintAt(const Fs& fs, const std::string& path) {
  ASSIGN(const FileState state, StateOf(fs, path));
  return PrintOf(state);
}

Result<> Write(Fs& fs, const std::string& path, const FileState& state) {
  switch (state.kind) {
    case FileState::Kind::kFile: return fs.WriteAtomic(path, state.bytes, state.attributes);
    case FileState::Kind::kLink: return fs.Symlink(state.bytes, path);
    case FileState::Kind::kAbsent: break;
  }
  return {};
}

/// Puts one path back. Returns why it was left, or nothing.
Result<std::string> PutBackOne(Fs& fs, const JournalRecord::Item& item) {
  auto now = PrintAt(fs, item.path);
  if (!now && now.error().code != Code::kInvalid && now.error().code != Code::kTooLarge)
    return std::unexpected(std::move(now).error());
  const std::string old = OldOf(item.path);
  if (!now || (*now != item.before && *now != item.after)) {
    std::string why = item.path + ": changed by somebody else meanwhile";
    if (item.before.kind != FileState::Kind::kAbsent) why += "; what was there before is " + old;
    return why;
  }
  if (*now == item.after) {
    if (item.before.kind == FileState::Kind::kAbsent) {
      TRY(fs.Remove(item.path));
    } else {
      ASSIGN(const StatePrint waiting, PrintAt(fs, old));
      if (waiting != item.before) return item.path + ": " + old + " is not what was there before";
      TRY(fs.Rename(old, item.path));
    }
  }
  TRY(RemoveWithLeftovers(fs, old));
  return "";
}

}  // namespace

std::string NewOf(const std::string& path) { return Beside(path, ".gpuop-new"); }
std::string OldOf(const std::string& path) { return Beside(path, ".gpuop-old"); }

Result<FileState> StateOf(const Fs& fs, const std::string& path) {
  auto info = fs.Stat(path);
  if (!info && info.error().code == Code::kNotFound) return FileState{};
  if (!info) return std::unexpected(std::move(info).error());
  FileState state;
  switch (info->type) {
    case FileType::kFile: {
      ASSIGN(state.bytes, fs.Read(path, Journal::kFileLimit));
      state.kind = FileState::Kind::kFile;
      state.attributes = info->attributes;
      return state;
    }
    case FileType::kSymlink: {
      ASSIGN(state.bytes, fs.ReadLink(path));
      state.kind = FileState::Kind::kLink;
      return state;
    }
    case FileType::kFolder: return Fail(Code::kInvalid, path + ": is a folder");
    case FileType::kOther: break;
  }
  return Fail(Code::kInvalid, path + ": is neither a file nor a link");
}

Result<std::vector<std::string>> MissingFolders(const Fs& fs, const std::vector<Plan::Item>& items) {
  std::vector<std::string> missing;
  for (const Plan::Item& item : items) {
    if (item.after.kind == FileState::Kind::kAbsent) continue;
    ASSIGN(auto parts, SplitPath(item.path));
    std::vector<std::string> above;
    for (std::string folder = parts.first; std::ranges::find(missing, folder) == missing.end();) {
      ASSIGN(const bool there, Exists(fs, folder));
      if (there) break;
      above.push_back(folder);
      ASSIGN(parts, SplitPath(folder));
      folder = parts.first;
    }
    missing.insert(missing.end(), above.rbegin(), above.rend());
  }
  return missing;
}

Result<> Stage(Fs& fs, const std::vector<Plan::Item>& items) {
  for (const Plan::Item& item : items) {
    TRY(Write(fs, NewOf(item.path), item.after));
    TRY(Write(fs, OldOf(item.path), item.before));
  }
  return {};
}

Result<> MoveNew(Fs& fs, const std::vector<JournalRecord::Item>& items) {
  for (const JournalRecord::Item& item : items) {
    ASSIGN(const StatePrint now, PrintAt(fs, item.path));
    if (now != item.before) return Fail(Code::kConflict, item.path + ": changed by somebody else meanwhile");
    if (item.after.kind == FileState::Kind::kAbsent) {
      TRY(fs.Remove(item.path));
    } else {
      TRY(fs.Rename(NewOf(item.path), item.path));
    }
  }
  return {};
}

Result<> CheckNew(const Fs& fs, const std::vector<JournalRecord::Item>& items) {
  for (const JournalRecord::Item& item : items) {
    ASSIGN(const StatePrint now, PrintAt(fs, item.path));
    if (now != item.after) return Fail(Code::kIo, item.path + ": does not hold what was written");
  }
  return {};
}

Result<std::vector<std::string>> PutBack(Fs& fs, const JournalRecord& record) {
  std::vector<std::string> left;
  std::optional<Error> first;
  for (const JournalRecord::Item& item : std::views::reverse(record.items)) {
    auto why = PutBackOne(fs, item);
    if (why && !why->empty()) left.push_back(*std::move(why));
    Result<> cleaned = RemoveWithLeftovers(fs, NewOf(item.path));
    // The others are still put back: the fewer are left in between, the better.
    if (!why && !first) first = std::move(why).error();
    if (!cleaned && !first) first = std::move(cleaned).error();
  }
  if (first) return std::unexpected(*std::move(first));
  for (const std::string& folder : std::views::reverse(record.folders)) {
    auto removed = RemoveIfThere(fs, folder);
    // kInvalid: not empty. Somebody else has put something there.
    if (!removed && removed.error().code != Code::kInvalid) return std::unexpected(std::move(removed).error());
  }
  return left;
}

Result<> RemoveOld(Fs& fs, const std::vector<JournalRecord::Item>& items) {
  for (const JournalRecord::Item& item : items) {
    TRY(RemoveWithLeftovers(fs, OldOf(item.path)));
    TRY(RemoveWithLeftovers(fs, NewOf(item.path)));
  }
  return {};
}

Result<> RemoveWithLeftovers(Fs& fs, const std::string& path) {
  for (const std::string& name : LeftoversOf(path)) TRY(RemoveIfThere(fs, name));
  return RemoveIfThere(fs, path);
}

}  // namespace gpuop::os
