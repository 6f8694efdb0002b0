#pragma once
// The engine behind every change to a host: plan, show, back up, change, verify, commit, else undo.
// What is on the disk meanwhile: docs/formats/journal.md.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::os {

/// All that a journal knows of one path.
struct FileState {
  enum class Kind { kAbsent, kFile, kLink };

  Kind kind = Kind::kAbsent;
  /// Of a file; untouched otherwise.
  FileAttributes attributes = {};
  /// A file's content or a link's target.
  std::string bytes = {};

  bool operator==(const FileState&) const = default;
};

/// What one path shall be.
struct Change {
  std::string path;
  FileState::Kind kind = FileState::Kind::kFile;
  /// The content, or the link's target.
  std::string bytes = {};
  /// nullopt: a file that is there keeps its own, a new one gets 0644 and this process's owner.
  std::optional<FileAttributes> attributes = std::nullopt;
};

/// What a set of changes means for the files as they are. Made by Journal::MakePlan; a value.
struct Plan {
  struct Item {
    std::string path;
    FileState before, after;
  };

  /// What the change is called in messages: "containerd configuration".
  std::string name;
  /// Only paths that change.
  std::vector<Item> items;

  bool empty() const { return items.empty(); }
  /// For a person: one unified diff a path, and lines for modes, owners and links that change.
  std::string Diff() const;
};

/// The part of a change that is not in files.
struct Hooks {
  enum class Phase { kApply, kUndo };

  /// Makes running programs see the files: a reload, a restart. Called after all files are changed, and again with
  /// kUndo after they are back, if it was (or may have been) called before. Must bear being called twice.
  std::function<Result<>(Phase)> activate = {};
  /// Whether the host works with the change. An error undoes it.
  std::function<Result<>()> verify = {};
};

/// What Recover found and did.
struct Recovery {
  enum class Outcome { kNothing, kUndone, kFinished };

  Outcome outcome = Outcome::kNothing;
  /// The change's name, unless kNothing.
  std::string name = {};
  /// Paths that were not put back because somebody else had changed them meanwhile, each with the reason.
  std::vector<std::string> left = {};
};

/// Changes several files as one. Whenever the process is killed, each file is whole, old or new; after the next
/// Recover all are old, with their modes and owners and without the folders made for them, or all are new.
///
/// Two rules hold above that: what somebody else changed meanwhile is never overwritten, and nothing is written when
/// nothing changes. Space is taken before the first file changes, so a full disk changes nothing and stops no undo.
///
/// One folder serves one kind of change; a lock in it keeps processes apart. Not thread-safe. Borrows `fs`.
class Journal {
 public:
  /// A file that is changed may be this long.
  static constexpr std::size_t kFileLimit = 64U << 20;

  /// `folder` holds the journal's own files and is made when first needed. It must survive a reboot.
  Journal(Fs& fs, std::string folder);

  /// Compares `changes` with what is there. Reads only. kInvalid when a folder or device stands at a path, or a path
  /// comes twice.
  Result<Plan> MakePlan(std::string name, const std::vector<Change>& changes) const;

  /// Makes a plan true. On an error everything is as before, unless the text says what is not. Blocks.
  /// kConflict: a path is no longer as the plan saw it, another process is at work here, or a change from before was
  /// cut short and Recover has not been called.
  Result<> Apply(const Plan& plan, const Hooks& hooks = {});

  /// To be called at every start, before anything else: undoes a change that was cut short, or finishes one that was
  /// committed. On an error it can be called again. kInvalid: the journal is damaged; nothing is touched.
  Result<Recovery> Recover(const Hooks& hooks = {});

 private:
  std::string Own(std::string_view name) const { return folder_ + "/" + std::string(name); }

  Fs& fs_;
  const std::string folder_;
};

}  // namespace gpuop::os
