#include "net/grpc/server.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/rng.h"
#include "net/grpc/connection.h"
#include "net/grpc/socket_id.h"
#include "os/system_error.h"

namespace gpuop::net {
namespace {

constexpr int kBacklog = 128;
constexpr std::size_t kMostConnections = 128;

/// A hidden name in the socket's folder, so that the socket can be made ready before it is seen.
std::string HiddenBeside(const std::string& path) {
  Rng rng(RandomSeed());
  return path.substr(0, path.rfind('/') + 1) + ".g" + NameSuffix(rng, 6);
}

Result<> CheckPlace(const std::string& path, const std::string& hidden) {
  if (!path.starts_with('/') || path.ends_with('/')) return Fail(Code::kInvalid, path + ": not an absolute path");
  if (const std::size_t most = sizeof(sockaddr_un::sun_path) - 1; std::max(path.size(), hidden.size()) > most)
    return Fail(Code::kInvalid, path + ": longer than " + std::to_string(most) + " bytes");
  struct stat st{};
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (::stat(folder.c_str(), &st) != 0 || ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0)
    return os::FailErrno(errno, "listen on " + path);
  if (::lstat(path.c_str(), &st) == 0 && !S_ISSOCK(st.st_mode))
    return Fail(Code::kAlreadyExists, path + ": is there and no socket");
  return {};
}

Result<os::Fd> Listen(const std::string& path) {
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (!socket.valid() || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return os::FailErrno(errno, "listen on " + path);
  if (::listen(socket.get(), kBacklog) == 0) return socket;
  auto error = os::FailErrno(errno, "listen on " + path);
  ::unlink(path.c_str());
  return error;
}

class UnixServer final : public GrpcServer {
 public:
  UnixServer(GrpcServerOptions options, GrpcMethods methods, Executor& executor)
      : path_(std::move(options.path)),
        mode_(options.mode),
        service_(std::make_shared<GrpcService>(std::move(methods), executor, options.max_message, options.on_own_thread,
                                               os::Fd(::epoll_create1(EPOLL_CLOEXEC)),
                                               os::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)))) {}
  ~UnixServer() override { Stop(Duration::zero()); }

  Result<> Start() {
    const std::string hidden = HiddenBeside(path_);
    TRY(CheckPlace(path_, hidden));
    if (!service_->epoll.valid() || !service_->wake.valid()) return os::FailErrno(errno, "listen on " + path_);
    ASSIGN(listener_, Listen(hidden));
    Add(service_->wake, EPOLLIN);
    // Told once of each that comes: a client whom there is no descriptor for is taken together with the next.
    Add(listener_, EPOLLIN | EPOLLET);
    worker_ = std::jthread([this] { Run(); });
    return Show(hidden);
  }

  void Stop(Duration grace) override {
    if (!worker_.joinable()) return;
    Hide();
    {
      Lock l(mu_);
      stop_at_ = service_->executor.Now() + grace;
    }
    service_->Wake();
    worker_.join();
  }

 private:
  using Connections = std::map<int, std::shared_ptr<GrpcConnection>>;

  void Add(const os::Fd& fd, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.fd = fd.get()}};
    ::epoll_ctl(service_->epoll.get(), EPOLL_CTL_ADD, fd.get(), &event);
  }

  std::optional<TimePoint> stop_at() EXCLUDES(mu_) {
    Lock l(mu_);
    return stop_at_;
  }

  void Run() {
    for (std::optional<TimePoint> next;;) {
      Turn(next);
      const TimePoint now = service_->executor.Now();
      next.reset();
      for (const auto& [fd, connection] : connections_)
        if (const auto at = connection->OnTime(now)) next = next ? std::min(*next, *at) : *at;
      const auto stop_at = this->stop_at();
      if (!stop_at) continue;
      if (listener_.valid()) Quiesce();
      if (now >= *stop_at || std::ranges::none_of(connections_, [](const auto& c) { return c.second->has_calls(); }))
        break;
      next = next ? std::min(*next, *stop_at) : *stop_at;
    }
    service_->closed = true;
    for (const auto& [fd, connection] : connections_) connection->Close();
    connections_.clear();
  }

  /// Waits for the next thing to do, at most until `next`, and does it.
  void Turn(std::optional<TimePoint> next) {
    int wait = -1;
    if (next) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - service_->executor.Now()).count();
      wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
    }
    epoll_event events[16];
    const int count = ::epoll_wait(service_->epoll.get(), events, std::size(events), wait);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == service_->wake.get()) {
        eventfd_t ignored = 0;
        ::eventfd_read(fd, &ignored);
      } else if (fd == listener_.get()) {
        Accept();
      } else if (const auto it = connections_.find(fd); it != connections_.end() && !it->second->OnReady()) {
        End(it);
      }
    }
    if (std::exchange(may_wait_, false)) Accept();
  }

  /// Whoever is one too many waits in the listener's queue until another goes.
  void Accept() {
    while (connections_.size() < kMostConnections) {
      os::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.valid() && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (!socket.valid()) return;
      const int fd = socket.get();
      const auto it = connections_.emplace(fd, std::make_shared<GrpcConnection>(service_, std::move(socket))).first;
      if (!it->second->Open()) End(it);
    }
  }

  void End(Connections::iterator it) {
    // Outside the map first: whoever hears of the end may do anything.
    const auto connection = std::move(it->second);
    may_wait_ = may_wait_ || connections_.size() >= kMostConnections;
    connections_.erase(it);
    connection->Close();
  }

  void Quiesce() {
    listener_.Close();
    for (const auto& [fd, connection] : connections_)
      connection->Quiesce(Fail(Code::kUnavailable, "the server is stopping"));
  }

  /// Gives the socket, which answers already, its mode and its name.
  Result<> Show(const std::string& hidden) {
    struct stat st{};
    if (::chmod(hidden.c_str(), mode_) == 0 && ::lstat(hidden.c_str(), &st) == 0 &&
        ::rename(hidden.c_str(), path_.c_str()) == 0) {
      shown_ = SocketIdOf(st);
      return {};
    }
    auto error = os::FailErrno(errno, "listen on " + path_);
    ::unlink(hidden.c_str());
    return error;
  }

  void Hide() {
    struct stat st{};
    if (shown_ && ::lstat(path_.c_str(), &st) == 0 && SocketIdOf(st) == *shown_) ::unlink(path_.c_str());
  }

  const std::string path_;
  const mode_t mode_;
  std::optional<SocketId> shown_;
  const std::shared_ptr<GrpcService> service_;
  Mutex mu_;
  std::optional<TimePoint> stop_at_ GUARDED_BY(mu_);
  // Of the worker, once it runs.
  os::Fd listener_;
  Connections connections_;
  /// Somebody may be in the listener's queue of whom epoll tells no more.
  bool may_wait_ = false;
  std::jthread worker_;
};

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(GrpcServerOptions options, GrpcMethods methods,
                                                      Executor& executor) {
  auto server = std::make_unique<UnixServer>(std::move(options), std::move(methods), executor);
  TRY(server->Start());
  return server;
}

}  // namespace gpuop::net
