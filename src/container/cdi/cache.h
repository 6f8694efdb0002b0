#pragma once
// The CDI devices of a host: what all spec files in the spec folders offer together.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "container/cdi/spec.h"
#include "os/fs.h"

namespace gpuop::container {

/// Where specs are, in rising priority.
inline const std::vector<std::string> kCdiFolders = {"/etc/cdi", "/var/run/cdi"};

/// A spec and where it came from.
struct CdiFile {
  std::string path;
  /// The index of its folder: a higher one hides the names of lower ones.
  std::size_t priority = 0;
  CdiSpec spec;
};

/// A device with its spec; both live as long as either is held.
struct CdiResolved {
  std::shared_ptr<const CdiFile> file;
  const CdiDevice* device = nullptr;
};

/// Reads the spec folders when Refresh is called, and then only files that changed. A spec that cannot be read is an
/// error of that file alone; a device that two files of the same folder define is one of both, and does not resolve.
/// Not thread-safe. Borrows `fs`.
class CdiCache {
 public:
  explicit CdiCache(const os::Fs& fs, std::vector<std::string> folders = kCdiFolders);

  /// Looks at the folders again. True when anything that the cache says may have changed. A missing folder is empty.
  bool Refresh();

  /// kNotFound says that no spec has it, or why the ones that do are not used.
  Result<CdiResolved> Find(std::string_view qualified_name) const;
  /// All names that resolve, sorted.
  std::vector<std::string> Devices() const;
  /// The readable specs by path.
  std::vector<std::shared_ptr<const CdiFile>> Files() const;
  /// Per file what is wrong with it.
  const std::map<std::string, std::vector<Error>>& errors() const { return errors_; }

 private:
  struct Seen {
    std::uint64_t inode = 0, size = 0;
    WallTime modified = {};
    std::size_t priority = 0;
    Result<std::shared_ptr<const CdiFile>> file = nullptr;
  };
  void ReadFolder(std::size_t priority, std::map<std::string, Seen>& seen, bool& changed);
  Seen ReadFile(const std::string& path, std::size_t priority, const os::FileInfo& info) const;
  void Index();

  const os::Fs& fs_;
  const std::vector<std::string> folders_;
  std::map<std::string, Seen> seen_;
  std::map<std::string, CdiResolved, std::less<>> devices_;
  std::map<std::string, std::vector<std::string>, std::less<>> conflicts_;
  std::map<std::string, std::vector<Error>> errors_;
};

}  // namespace gpuop::container
