#pragma once
// A tree of files as a value, and how a folder is made to hold it.

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::machine {

struct TreeEntry {
  enum class Kind { kFolder, kFile, kLink, kSameAs };
  Kind kind = Kind::kFile;
  /// A file's bytes, a link's target, or the file outside the tree that it is another name of.
  std::string content;
  unsigned mode = 0644;
  bool operator==(const TreeEntry&) const = default;
};

/// Files below a root by their path ("/etc/os-release"). Folders above a file need not be added.
class Tree {
 public:
  void File(std::string path, std::string content, unsigned mode = 0644) {
    entries_[std::move(path)] = {TreeEntry::Kind::kFile, std::move(content), mode};
  }
  void Folder(std::string path, unsigned mode = 0755) {
    entries_[std::move(path)] = {TreeEntry::Kind::kFolder, {}, mode};
  }
  void Link(std::string path, std::string target) {
    entries_[std::move(path)] = {TreeEntry::Kind::kLink, std::move(target), 0777};
  }
  /// The same file as `real` (a hard link where that is possible, else a copy).
  void SameAs(std::string path, std::string real, unsigned mode = 0755) {
    entries_[std::move(path)] = {TreeEntry::Kind::kSameAs, std::move(real), mode};
  }
  void Remove(const std::string& path) { entries_.erase(path); }

  const std::map<std::string, TreeEntry>& entries() const { return entries_; }

 private:
  std::map<std::string, TreeEntry> entries_;
};

/// Makes the folder `root` hold `now` where it held `before`: what differs is written (in place, so that those who have
/// the file bound elsewhere see it), what is no longer there is removed, what others put there stays; so do device
/// nodes that others put in the place of files.
Result<> Update(const std::string& root, const Tree& before, const Tree& now);

/// Makes the paths below `folder` that `tree` names be seen through the mount `seen` as they lie in `root`. An overlay
/// does not follow what changes below it: a name that somebody holds stays, one that was looked up in vain stays away.
/// What is written goes into the overlay's upper layer. Folders stay.
Result<> Show(const Tree& tree, const std::string& folder, const std::string& root, const std::string& seen);

/// Makes `path` another name of the file `real`; a copy with its mode where that cannot be, unless a copy that is not
/// older is there already.
Result<> MakeSameFile(const std::string& path, const std::string& real);

}  // namespace gpuop::machine
