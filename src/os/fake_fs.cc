#include "os/fake_fs.h"

#include <sys/stat.h>

#include <cerrno>
#include <deque>

#include "base/text.h"
#include "os/system_error.h"

namespace gpuop::os {
namespace {

std::string ParentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

class HeldLock final : public FileLock {
 public:
  HeldLock(std::shared_ptr<std::set<std::string>> locks, std::string path)
      : locks_(std::move(locks)), path_(std::move(path)) {}
  ~HeldLock() override { locks_->erase(path_); }

 private:
  std::shared_ptr<std::set<std::string>> locks_;
  std::string path_;
};

}  // namespace

FakeFs::FakeFs() { nodes_["/"] = New(FileType::kFolder, "", {.mode = 0755}); }

FakeFs::Node FakeFs::New(FileType type, std::string bytes, FileAttributes attributes) {
  ++made_;
  return {type, std::move(bytes), attributes, made_, FakeClock::kStart + std::chrono::seconds(made_), std::nullopt};
}

void FakeFs::Put(const std::string& path, std::string bytes, FileAttributes attributes) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (const std::string folder = path.substr(0, slash); !nodes_.contains(folder))
      nodes_[folder] = New(FileType::kFolder, "", {.mode = 0755});
  nodes_[path] = New(FileType::kFile, std::move(bytes), attributes);
}

void FakeFs::PutDevice(const std::string& path, DeviceNumbers device, FileAttributes attributes) {
  Put(path, "", attributes);
  nodes_[path].type = FileType::kOther;
  nodes_[path].device = device;
}

std::map<std::string, std::string> FakeFs::Snapshot() const {
  std::map<std::string, std::string> out;
  for (const auto& [path, node] : nodes_) {
    char text[64];
    std::snprintf(text, sizeof text, "%04o %u:%u", node.attributes.mode, node.attributes.uid, node.attributes.gid);
    switch (node.type) {
      case FileType::kFolder: out[path] = std::string("folder ") + text; break;
      case FileType::kSymlink: out[path] = "-> " + node.bytes; break;
      default: out[path] = std::string(text) + " " + node.bytes;
    }
  }
  return out;
}

Result<std::string> FakeFs::Walk(const std::string& path, bool follow) const {
  if (path.empty() || path.find('\0') != std::string::npos) TRY(SplitPath(path));
  std::deque<std::string> todo;
  for (std::string_view part : Split(path, '/')) todo.emplace_back(part);
  std::string at = "/";
  int links = 0;
  while (!todo.empty()) {
    const std::string name = std::move(todo.front());
    todo.pop_front();
    if (name.empty() || name == ".") continue;
    const auto here = nodes_.find(at);
    if (here == nodes_.end()) return FailErrno(ENOENT, path);
    if (here->second.type != FileType::kFolder) return FailErrno(ENOTDIR, path);
    if (name == "..") {
      at = ParentOf(at);
      continue;
    }
    const std::string next = (at == "/" ? "" : at) + "/" + name;
    const auto node = nodes_.find(next);
    const bool last = std::ranges::all_of(todo, &std::string::empty);
    if (node == nodes_.end() || node->second.type != FileType::kSymlink || (last && !follow)) {
      at = next;
      continue;
    }
    if (++links > 40) return FailErrno(ELOOP, path);
    if (node->second.bytes.starts_with('/')) at = "/";
    const auto parts = Split(node->second.bytes, '/');
    todo.insert(todo.begin(), parts.begin(), parts.end());
  }
  return at;
}

Result<std::string> FakeFs::Find(const std::string& path, bool follow) const {
  TRY(Fault(path));
  ASSIGN(std::string at, Walk(path, follow));
  if (!nodes_.contains(at)) return FailErrno(ENOENT, path);
  return at;
}

Result<> FakeFs::Fault(const std::string& path) const {
  if (const auto it = fail.find(path); it != fail.end()) return std::unexpected(it->second);
  return {};
}

Result<std::string> FakeFs::Begin(std::string_view operation, const std::string& path, bool follow) {
  ++changes_;
  TRY(Fault(path));
  if (changes_ >= fail_from && changes_ < fail_until) return Fail(fault.code, path + ": " + fault.text);
  if (before_change) before_change(operation, path);
  ASSIGN(const auto parts, SplitPath(path));
  if (parts.second.empty()) return Fail(Code::kInvalid, path + ": the root cannot be changed");
  ASSIGN(std::string at, Walk(path, follow));
  const auto parent = nodes_.find(ParentOf(at));
  if (parent == nodes_.end()) return FailErrno(ENOENT, path);
  if (parent->second.type != FileType::kFolder) return FailErrno(ENOTDIR, path);
  return at;
}

Result<> FakeFs::CheckSpace(std::size_t before, std::size_t after) const {
  std::size_t used = after - before;
  for (const auto& [path, node] : nodes_) used += node.bytes.size();
  return used > disk_bytes ? FailErrno(ENOSPC, "write") : Result<>();
}

Result<std::string> FakeFs::Read(const std::string& path, std::size_t limit) const {
  ASSIGN(const std::string at, Find(path, true));
  const Node& node = nodes_.at(at);
  if (node.type == FileType::kFolder) return FailErrno(EISDIR, path);
  if (node.type != FileType::kFile) return Fail(Code::kInvalid, path + ": not a regular file");
  if (node.bytes.size() > limit)
    return Fail(Code::kTooLarge, path + ": longer than " + std::to_string(limit) + " bytes");
  return node.bytes;
}

Result<std::string> FakeFs::ReadPart(const std::string& path, std::uint64_t offset, std::size_t size) const {
  ASSIGN(const std::string bytes, Read(path, std::numeric_limits<std::size_t>::max()));
  return offset < bytes.size() ? bytes.substr(offset, size) : std::string();
}

Result<FileInfo> FakeFs::Stat(const std::string& path) const {
  ASSIGN(const std::string at, Find(path, false));
  const Node& node = nodes_.at(at);
  return FileInfo{node.type, node.attributes, node.bytes.size(), node.inode, node.modified, node.device};
}

Result<std::vector<std::string>> FakeFs::List(const std::string& path) const {
  ASSIGN(const std::string at, Find(path, true));
  if (nodes_.at(at).type != FileType::kFolder) return FailErrno(ENOTDIR, path);
  const std::string below = at == "/" ? at : at + "/";
  std::vector<std::string> names;
  for (auto it = nodes_.upper_bound(below); it != nodes_.end() && it->first.starts_with(below); ++it)
    if (it->first.find('/', below.size()) == std::string::npos) names.push_back(it->first.substr(below.size()));
  return names;
}

Result<std::string> FakeFs::ReadLink(const std::string& path) const {
  ASSIGN(const std::string at, Find(path, false));
  if (nodes_.at(at).type != FileType::kSymlink) return Fail(Code::kInvalid, path + ": not a link");
  return nodes_.at(at).bytes;
}

Result<std::string> FakeFs::Resolve(const std::string& path) const { return Find(path, true); }

Result<> FakeFs::WriteAtomic(const std::string& path, std::string_view bytes,
                             std::optional<FileAttributes> attributes) {
  ASSIGN(const std::string at, Begin("write", path, false));
  // As on a disk, the old bytes are freed only after the new ones are there.
  TRY(CheckSpace(0, bytes.size()));
  const auto it = nodes_.find(at);
  if (it != nodes_.end() && it->second.type == FileType::kFolder) return FailErrno(EISDIR, path);
  if (it != nodes_.end() && it->second.type == FileType::kFile && !attributes) attributes = it->second.attributes;
  nodes_[at] = New(FileType::kFile, std::string(bytes), attributes.value_or(FileAttributes{}));
  return {};
}

Result<> FakeFs::Append(const std::string& path, std::string_view bytes) {
  ASSIGN(const std::string at, Begin("append", path, true));
  TRY(CheckSpace(0, bytes.size()));
  const auto it = nodes_.find(at);
  if (it == nodes_.end()) {
    nodes_[at] = New(FileType::kFile, std::string(bytes), {});
    return {};
  }
  if (it->second.type == FileType::kFolder) return FailErrno(EISDIR, path);
  it->second.bytes += bytes;
  it->second.modified += std::chrono::seconds(1);
  return {};
}

Result<> FakeFs::Rename(const std::string& from, const std::string& to) {
  ASSIGN(const std::string source, Begin("rename", from, false));
  TRY(Fault(to));
  ASSIGN(const std::string target, Walk(to, false));
  const std::string doing = "rename " + from + " to " + to;
  if (!nodes_.contains(source) || !nodes_.contains(ParentOf(target))) return FailErrno(ENOENT, doing);
  if (nodes_.contains(target) && nodes_[target].type == FileType::kFolder) return FailErrno(EISDIR, doing);
  if (source == target) return {};
  if (target.starts_with(source + "/")) return FailErrno(EINVAL, doing);
  std::map<std::string, Node> moved;
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    if (it->first != source && !it->first.starts_with(source + "/")) {
      ++it;
      continue;
    }
    moved[target + it->first.substr(source.size())] = std::move(it->second);
    it = nodes_.erase(it);
  }
  for (auto& [path, node] : moved) nodes_[path] = std::move(node);
  return {};
}

Result<> FakeFs::Remove(const std::string& path) {
  ASSIGN(const std::string at, Begin("remove", path, false));
  if (!nodes_.contains(at)) return FailErrno(ENOENT, "remove " + path);
  const auto next = nodes_.upper_bound(at + "/");
  if (next != nodes_.end() && next->first.starts_with(at + "/")) return FailErrno(ENOTEMPTY, "remove " + path);
  nodes_.erase(at);
  return {};
}

Result<> FakeFs::MakeFolder(const std::string& path, mode_t mode) {
  ASSIGN(const std::string at, Begin("make folder", path, false));
  if (nodes_.contains(at)) return FailErrno(EEXIST, "make folder " + path);
  nodes_[at] = New(FileType::kFolder, "", {.mode = mode});
  return {};
}

Result<> FakeFs::Symlink(const std::string& target, const std::string& path) {
  ASSIGN(const std::string at, Begin("link", path, false));
  TRY(CheckSpace(0, target.size()));
  const auto it = nodes_.find(at);
  if (it != nodes_.end() && it->second.type == FileType::kFolder) return FailErrno(EISDIR, "link " + path);
  nodes_[at] = New(FileType::kSymlink, target, {.mode = 0777});
  return {};
}

Result<> FakeFs::SetMode(const std::string& path, mode_t mode) {
  ASSIGN(const std::string at, Begin("chmod", path, true));
  if (!nodes_.contains(at)) return FailErrno(ENOENT, path);
  nodes_[at].attributes.mode = mode;
  return {};
}

Result<> FakeFs::SetOwner(const std::string& path, uid_t uid, gid_t gid) {
  ASSIGN(const std::string at, Begin("chown", path, true));
  if (!nodes_.contains(at)) return FailErrno(ENOENT, path);
  nodes_[at].attributes.uid = uid;
  nodes_[at].attributes.gid = gid;
  return {};
}

Result<std::unique_ptr<FileLock>> FakeFs::Lock(const std::string& path) {
  ASSIGN(const std::string at, Begin("lock", path, true));
  if (!nodes_.contains(at)) nodes_[at] = New(FileType::kFile, "", {.mode = 0600});
  if (!locks_->insert(at).second) return Fail(Code::kConflict, path + ": locked by another process");
  return std::make_unique<HeldLock>(locks_, at);
}

}  // namespace gpuop::os
