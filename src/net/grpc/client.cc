#include "net/grpc/client.h"

#include <sys/stat.h>

#include <vector>

#include "base/mutex.h"
#include "net/grpc/caller.h"
#include "net/grpc/socket_id.h"
#include "net/unix_socket.h"
#include "os/system_error.h"

namespace gpuop::net {
namespace {

/// Connections that are kept for the next call.
constexpr std::size_t kMostIdle = 4;
/// How often a caller who waits for its turn to connect looks whether it shall stop.
constexpr Duration kConnectSlice = std::chrono::milliseconds(50);

/// Which socket a path means: another one after the server was restarted.
Result<SocketId> FindSocket(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Fail(Code::kUnavailable, "no such socket " + path);
    return os::FailErrno(errno, path);
  }
  if (!S_ISSOCK(st.st_mode)) return Fail(Code::kUnavailable, path + " is no socket");
  return SocketIdOf(st);
}

/// Connects, and waits as long as the order allows where others are before us.
Result<os::Fd> Connect(const std::string& path, const GrpcCaller::Order& order) {
  for (;;) {
    auto socket = ConnectUnix(path, kConnectSlice);
    if (socket || socket.error().code != Code::kTimeout) return socket;
    if (order.stop.stop_requested()) return Fail(Code::kCancelled, path + ": stopped");
    if (order.until && SystemClock().Now() >= *order.until) return socket;
  }
}

}  // namespace

struct GrpcClient::Shared {
  const std::string path;
  const std::size_t max_message;
  Mutex mu;
  std::vector<std::unique_ptr<GrpcCaller>> idle GUARDED_BY(mu);
  /// The socket that they are connected with.
  SocketId socket GUARDED_BY(mu){};

  /// One that is idle and in good order, if there is any.
  std::unique_ptr<GrpcCaller> TakeIdle(const SocketId& now) {
    for (;;) {
      std::unique_ptr<GrpcCaller> caller;
      {
        Lock l(mu);
        if (std::exchange(socket, now) != now) idle.clear();
        if (idle.empty()) return nullptr;
        caller = std::move(idle.back());
        idle.pop_back();
      }
      if (caller->Refresh()) return caller;
    }
  }

  void Keep(std::unique_ptr<GrpcCaller> caller, const SocketId& of) {
    Lock l(mu);
    if (socket == of && idle.size() < kMostIdle) idle.push_back(std::move(caller));
  }

  /// Tries again only when the server had closed an idle connection without a look at the call.
  Result<> Call(const GrpcCaller::Order& order, const std::function<bool(std::string)>& on_message) {
    ASSIGN(const SocketId now, FindSocket(path));
    std::unique_ptr<GrpcCaller> caller = TakeIdle(now);
    const bool was_idle = caller != nullptr;
    if (!was_idle) {
      ASSIGN(os::Fd connected, Connect(path, order));
      caller = std::make_unique<GrpcCaller>(std::move(connected), path, max_message);
    }
    auto done = caller->Call(order, on_message);
    const bool again = !done && was_idle && caller->untouched();
    if (caller->reusable()) Keep(std::move(caller), now);
    if (again) return Call(order, on_message);
    if (!done) return std::unexpected(std::move(done).error().During(order.method));
    return {};
  }
};

GrpcClient::GrpcClient(std::string path, std::size_t max_message)
    : shared_(new Shared{.path = std::move(path), .max_message = max_message, .mu = {}, .idle = {}}) {}
GrpcClient::~GrpcClient() = default;

Result<std::string> GrpcClient::Call(const std::string& method, const std::string& request, Duration limit,
                                     std::stop_token stop) {
  std::optional<std::string> answer;
  const TimePoint until = SystemClock().Now() + limit;
  TRY(shared_->Call({method, request, until, stop}, [&](std::string message) {
    answer = std::move(message);
    return true;
  }));
  if (!answer) return Fail(Code::kInternal, method + ": " + shared_->path + ": an answer without a message");
  return *std::move(answer);
}

Result<> GrpcClient::Stream(const std::string& method, const std::string& request,
                            const std::function<bool(const std::string&)>& on_message, std::optional<Duration> limit,
                            std::stop_token stop) {
  std::optional<TimePoint> until;
  if (limit) until = SystemClock().Now() + *limit;
  return shared_->Call({method, request, until, stop}, on_message);
}

}  // namespace gpuop::net
