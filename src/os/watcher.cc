#include "os/watcher.h"

#include <dirent.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <array>
#include <climits>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <thread>

#include "base/text.h"
#include "os/fd.h"
#include "os/system_error.h"

namespace gpuop::os {
namespace {

constexpr std::uint32_t kNameEvents =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kEvents = kNameEvents | IN_CLOSE_WRITE | IN_ATTRIB;

std::string StatText(const struct stat& st) {
  std::string text;
  for (const auto part :
       {static_cast<std::uint64_t>(st.st_dev), static_cast<std::uint64_t>(st.st_ino),
        static_cast<std::uint64_t>(st.st_mode), static_cast<std::uint64_t>(st.st_uid),
        static_cast<std::uint64_t>(st.st_gid), static_cast<std::uint64_t>(st.st_size),
        static_cast<std::uint64_t>(st.st_mtim.tv_sec), static_cast<std::uint64_t>(st.st_mtim.tv_nsec)})
    text.append(std::to_string(part)).append(" ");
  return text;
}

/// What one sees through `path`, short: equal texts mean that nothing was exchanged.
std::string Look(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0) return "none";
  std::string text = StatText(st);
  if (!S_ISDIR(st.st_mode)) return text;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  std::set<std::string> names;
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &st, 0) == 0 && entry->d_name != std::string_view(".."))
      names.insert(entry->d_name + (" " + StatText(st)));
  }
  for (const std::string& name : names) text.append("\n").append(name);
  return text;
}

/// One inotify instance for some paths. Every folder that a path leads through is watched for the one name in it that
/// the path needs; an event there means to look again, because an event by itself does not say what it did to the path.
class InotifyWatch final : public Watch {
 public:
  InotifyWatch(std::vector<std::string> paths, std::uint32_t events, Watcher::Callback callback)
      : paths_(std::move(paths)), events_(events), callback_(std::move(callback)) {}
  ~InotifyWatch() override {
    if (!thread_.joinable()) return;
    ::eventfd_write(end_.get(), 1);
    thread_.join();
  }

  Result<> Begin() {
    inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    end_ = Fd(::eventfd(0, EFD_CLOEXEC));
    if (!inotify_.valid() || !end_.valid()) return FailErrno(errno, "watch files");
    TRY(Arm());
    for (const std::string& path : paths_) seen_[path] = Look(path);
    thread_ = std::jthread([this] { Run(); });
    return {};
  }

 private:
  /// A path that needs a name in a folder; `leaf` when that is what the path itself is.
  struct Interest {
    std::size_t path;
    bool leaf;
  };
  /// By name; "" stands for every name.
  using Interests = std::multimap<std::string, Interest>;

  void Run() {
    for (;;) {
      std::array<pollfd, 2> fds{{{inotify_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) < 0) continue;
      if (fds[1].revents != 0) return;
      std::set<std::size_t> touched, written;
      ReadEvents(touched, written);
      if (touched.empty()) continue;
      // Should a folder no longer be watchable, all is reported now and what is left of the way is watched on.
      const bool blind = !Arm();
      std::vector<std::string> changed;
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        if (!touched.contains(i) && !blind) continue;
        std::string now = Look(paths_[i]);
        if (now != std::exchange(seen_[paths_[i]], now) || written.contains(i) || blind) changed.push_back(paths_[i]);
      }
      if (!changed.empty()) callback_(changed);
    }
  }

  /// `touched`: paths to look at again. `written`: paths whose content was written, even if the looks do not differ
  /// (the clock of file times is coarse).
  void ReadEvents(std::set<std::size_t>& touched, std::set<std::size_t>& written) {
    alignas(inotify_event) std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t n = ::read(inotify_.get(), buffer.data(), buffer.size());
      if (n <= 0) return;
      for (const char* at = buffer.data(); at < buffer.data() + n;) {
        inotify_event event{};
        std::memcpy(&event, at, sizeof event);
        const std::string name = event.len > 0 ? at + sizeof event : "";
        at += sizeof event + event.len;
        OnEvent(event, name, touched, written);
      }
    }
  }

  void OnEvent(const inotify_event& event, const std::string& name, std::set<std::size_t>& touched,
               std::set<std::size_t>& written) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      // Events were lost: each path may have been written any number of times.
      for (std::size_t i = 0; i < paths_.size(); ++i) touched.insert(i), written.insert(i);
      return;
    }
    const auto folder = folders_.find(event.wd);
    if (folder == folders_.end()) return;
    for (const auto& [wanted, interest] : folder->second) {
      // An event of the folder itself has no name.
      if (!wanted.empty() && !name.empty() && wanted != name) continue;
      touched.insert(interest.path);
      if (interest.leaf && (event.mask & IN_CLOSE_WRITE) != 0) written.insert(interest.path);
    }
    if ((event.mask & IN_IGNORED) != 0) folders_.erase(folder);
  }

  /// Watches exactly the folders that the paths lead through now. A folder is watched before it is looked into, so
  /// that no change falls between.
  Result<> Arm() {
    std::map<int, Interests> wanted;
    Result<> result;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      if (Result<> armed = ArmPath(i, wanted); !armed) result = std::move(armed);
    for (const auto& [wd, interests] : folders_)
      if (!wanted.contains(wd)) ::inotify_rm_watch(inotify_.get(), wd);
    folders_ = std::move(wanted);
    return result;
  }

  Result<> ArmPath(std::size_t index, std::map<int, Interests>& wanted) {
    std::deque<std::string> todo;
    for (std::string_view part : Split(paths_[index], '/')) todo.emplace_back(part);
    std::string at = "/";
    int links = 0;
    while (!todo.empty()) {
      const std::string name = std::move(todo.front());
      todo.pop_front();
      if (name.empty()) continue;
      const bool leaf = std::ranges::all_of(todo, &std::string::empty);
      ASSIGN(const bool there, Add(at, name, {index, leaf}, wanted));
      std::string next = (at == "/" ? "" : at) + "/" + name;
      struct stat st{};
      if (!there || ::lstat(next.c_str(), &st) != 0) return {};
      if (S_ISLNK(st.st_mode)) {
        std::string target(PATH_MAX, '\0');
        const ssize_t n = ::readlink(next.c_str(), target.data(), target.size());
        if (n < 0 || ++links > 40) return {};
        target.resize(static_cast<std::size_t>(n));
        if (target.starts_with('/')) at = "/";
        const auto parts = Split(target, '/');
        todo.insert(todo.begin(), parts.begin(), parts.end());
        continue;
      }
      if (leaf && S_ISDIR(st.st_mode)) TRY(Add(next, "", {index, true}, wanted));
      at = std::move(next);
    }
    return {};
  }

  /// False when `folder` is not there (any more).
  Result<bool> Add(const std::string& folder, const std::string& name, Interest interest,
                   std::map<int, Interests>& wanted) {
    const int wd = ::inotify_add_watch(inotify_.get(), folder.c_str(), events_);
    if (wd < 0 && (errno == ENOENT || errno == ENOTDIR)) return false;
    if (wd < 0) return FailErrno(errno, "watch " + folder);
    wanted[wd].emplace(name, interest);
    return true;
  }

  const std::vector<std::string> paths_;
  const std::uint32_t events_;
  const Watcher::Callback callback_;
  Fd inotify_, end_;
  std::map<int, Interests> folders_;
  std::map<std::string, std::string> seen_;
  std::jthread thread_;
};

Result<std::unique_ptr<Watch>> Begin(std::vector<std::string> paths, std::uint32_t events, Watcher::Callback callback) {
  for (const std::string& path : paths)
    if (!path.starts_with('/')) return Fail(Code::kInvalid, Quote(path) + ": not an absolute path");
  auto watch = std::make_unique<InotifyWatch>(std::move(paths), events, std::move(callback));
  TRY(watch->Begin());
  return watch;
}

}  // namespace

Result<std::unique_ptr<Watch>> InotifyWatcher::Start(std::vector<std::string> paths, Callback callback) {
  return Begin(std::move(paths), kEvents, std::move(callback));
}

Result<std::unique_ptr<Watch>> InotifyWatcher::StartNames(std::vector<std::string> paths, Callback callback) {
  return Begin(std::move(paths), kNameEvents, std::move(callback));
}

}  // namespace gpuop::os
