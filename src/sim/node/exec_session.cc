#include "sim/node/exec_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "data/json.h"
#include "sim/auth/token.h"

namespace gpuop::sim::node {
namespace {

constexpr const char* kProtocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
enum Channel : char { kIn = 0, kOut = 1, kErr = 2, kStatus = 3, kResize = 4, kChannelEnd = static_cast<char>(255) };

struct Pipe {
  os::Fd read, write;
};
Pipe MakePipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

std::string FailureStatus(std::string_view message) {
  return data::ToJson(data::JsonObject{
      {"metadata", data::JsonObject()},
      {"status", "Failure"},
      {"message", message},
      {"reason", "InternalError"},
      {"details", data::JsonObject{{"causes", data::JsonArray{data::JsonObject{{"message", message}}}}}},
      {"code", 500}});
}

/// As a client sees it: the kubelet's words around the engine's around the runtime's.
std::string NotStarted(const std::string& why, TimePoint now) {
  std::string out = "Internal error occurred: error executing command in container: ";
  if (why.starts_with("OCI runtime exec failed")) {
    const std::string id = Sha256Hex(std::to_string(now.time_since_epoch().count()));
    out += "failed to exec in container: failed to start exec " + Quote(id) + ": ";
  }
  return out + why;
}

net::Response Refusal(std::string text) {
  net::Response out{.status = 400};
  out.headers.Add("Content-Type", "application/json");
  out.body = net::MakeBody(data::ToJson(data::JsonObject{{"kind", "Status"},
                                                         {"apiVersion", "v1"},
                                                         {"metadata", data::JsonObject()},
                                                         {"status", "Failure"},
                                                         {"message", std::move(text)},
                                                         {"reason", "BadRequest"},
                                                         {"code", 400}}));
  return out;
}

}  // namespace

std::string ExecStatus(int status) {
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == 0) return R"({"metadata":{},"status":"Success"})";
  const std::string number = std::to_string(code);
  return data::ToJson(data::JsonObject{
      {"metadata", data::JsonObject()},
      {"status", "Failure"},
      {"message", "command terminated with non-zero exit code: exit status " + number},
      {"reason", "NonZeroExitCode"},
      {"details",
       data::JsonObject{{"causes", data::JsonArray{data::JsonObject{{"reason", "ExitCode"}, {"message", number}}}}}}});
}

ExecSession::~ExecSession() {
  Wake();
  if (pump_.joinable()) {
    {
      Lock l(mu_);
      ended_ = true;
    }
    Wake();
    if (pump_.get_id() == std::this_thread::get_id())
      pump_.detach();
    else
      pump_.join();
  }
}

void ExecSession::Wake() const {
  if (wake_.valid()) ::eventfd_write(wake_.get(), 1);
}

void ExecSession::Begin(MachineNode& machine, ExecOptions options, const net::Request& request,
                        net::Responder responder) {
  std::string protocol;
  for (const char* offered : kProtocols)
    if (protocol.empty() && request.headers.Lists("Sec-WebSocket-Protocol", offered)) protocol = offered;
  if (protocol.empty())
    return responder.Send(
        Refusal("unable to upgrade: only the WebSocket protocols v5.channel.k8s.io and v4.channel.k8s.io are served, "
                "which kubectl 1.31 and later speak"));
  auto socket = responder.Upgrade(request, protocol, shared_from_this());
  if (!socket) return responder.Send(Refusal(socket.error().text));
  socket_ = *std::move(socket);
  wake_ = os::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!options.wish.terminal) {
    if (options.in) {
      Pipe p = MakePipe();
      options.wish.in = std::move(p.read), in_ = std::move(p.write);
      ::fcntl(in_.get(), F_SETFL, O_NONBLOCK);
    }
    Pipe out = MakePipe(), err = MakePipe();
    options.wish.out = std::move(out.write), out_ = std::move(out.read);
    options.wish.err = std::move(err.write), err_ = std::move(err.read);
  }
  auto self = shared_from_this();
  machine.Exec(
      std::move(options.wish), [self](Result<ExecStart> start) { self->Started(std::move(start)); },
      [self](int status) { self->Ended(status); });
}

void ExecSession::Started(Result<ExecStart> start) {
  if (!start) return EndWith(FailureStatus(NotStarted(start.error().text, executor_.Now())));
  if (start->terminal.valid()) {
    terminal_ = std::move(start->terminal);
    ::fcntl(terminal_.get(), F_SETFL, O_NONBLOCK);
  }
  pump_ = std::jthread([this, weak = weak_from_this()] {
    Pump();
    executor_.Post([weak] {
      if (const auto self = weak.lock()) {
        self->pumped_ = true;
        self->Finish();
      }
    });
  });
}

void ExecSession::Ended(int status) {
  status_ = status;
  {
    Lock l(mu_);
    ended_ = true;
  }
  Wake();
  Finish();
}

/// The process has ended and all that it said is on its way.
void ExecSession::Finish() {
  if (status_ && pumped_) EndWith(ExecStatus(*status_));
}

void ExecSession::EndWith(std::string status) {
  if (std::exchange(told_, true)) return;
  Say(kStatus, status);
  if (socket_ && !closed_) socket_->Close(1000, "");
  if (over_) std::exchange(over_, nullptr)();
}

void ExecSession::Say(char channel, std::string_view bytes) const {
  if (socket_) socket_->Send(true, std::string(1, channel).append(bytes));
}

void ExecSession::OnMessage(bool, std::string_view message) {
  if (message.empty()) return;
  const char channel = message.front();
  const std::string_view bytes = message.substr(1);
  if (channel == kResize && terminal_.valid()) {
    auto size = data::ParseJson(bytes);
    if (!size) return;
    winsize window{};
    window.ws_col = static_cast<unsigned short>(data::IntOr(*size, "Width"));
    window.ws_row = static_cast<unsigned short>(data::IntOr(*size, "Height"));
    ::ioctl(terminal_.get(), TIOCSWINSZ, &window);
  }
  {
    Lock l(mu_);
    if (channel == kIn) to_write_.append(bytes);
    if (channel == kChannelEnd && !bytes.empty() && bytes.front() == kIn) in_over_ = true;
  }
  Wake();
}

void ExecSession::OnClose(Result<std::uint16_t>, std::string_view) {
  closed_ = true;
  {
    Lock l(mu_);
    in_over_ = true;
    // Nobody listens: the process meets closed pipes.
    ended_ = true;
  }
  Wake();
  if (!told_) {
    told_ = true;
    if (over_) std::exchange(over_, nullptr)();
  }
}

/// Moves bytes until all output has ended, or the process has and said what there was.
void ExecSession::Pump() {
  os::Fd* const outputs[] = {&out_, &err_, &terminal_};
  while (true) {
    bool ended = false, writing = false;
    os::Fd& in = terminal_.valid() ? terminal_ : in_;
    {
      Lock l(mu_);
      ended = ended_;
      writing = in.valid() && !to_write_.empty();
      if (in_over_ && to_write_.empty()) in_.Close();
    }
    std::vector<pollfd> fds{{wake_.get(), POLLIN, 0}, {writing ? in.get() : -1, POLLOUT, 0}};
    for (const os::Fd* fd : outputs) fds.push_back({fd->get(), POLLIN, 0});
    if (!out_.valid() && !err_.valid() && !terminal_.valid()) return;
    const int ready = ::poll(fds.data(), fds.size(), ended ? 0 : -1);
    if (ready < 0 && errno != EINTR) return;
    eventfd_t count = 0;
    ::eventfd_read(wake_.get(), &count);
    if ((fds[1].revents & (POLLOUT | POLLERR)) != 0) {
      Lock l(mu_);
      const ssize_t n = ::write(in.get(), to_write_.data(), to_write_.size());
      if (n > 0) to_write_.erase(0, static_cast<std::size_t>(n));
      if (n < 0 && errno != EAGAIN) to_write_.clear(), in_over_ = true;
    }
    bool any = false;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!outputs[i]->valid() || fds[i + 2].revents == 0) continue;
      char buffer[16384];
      const ssize_t n = ::read(outputs[i]->get(), buffer, sizeof buffer);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      any = any || n > 0;
      if (n > 0)
        Say(i == 1 ? kErr : kOut, {buffer, static_cast<std::size_t>(n)});
      else
        outputs[i]->Close();
    }
    if (ended && !any) return;
  }
}

}  // namespace gpuop::sim::node
