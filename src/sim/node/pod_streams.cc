#include "sim/node/pod_streams.h"

#include <fstream>

#include "base/text.h"
#include "net/server.h"
#include "os/watcher.h"
#include "sim/node/exec_session.h"
#include "sim/node/log_reader.h"
#include "sim/special.h"

namespace gpuop::sim::node {
namespace {

LogChoice ChoiceOf(const Request& request, WallTime now) {
  LogChoice out;
  out.timestamps = BoolParam(*request.http, "timestamps");
  const auto number = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto text = request.Param(name);
    return text ? ParseInt(*text) : std::nullopt;
  };
  out.tail_lines = number("tailLines");
  out.limit_bytes = number("limitBytes");
  if (const auto seconds = number("sinceSeconds")) out.since = now - std::chrono::seconds(*seconds);
  if (const auto time = request.Param("sinceTime")) out.since = ParseTime(*time);
  out.stream = request.Param("stream").value_or("");
  return out;
}

std::string ReadFrom(const std::string& path, std::streamoff& offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  std::string out{std::istreambuf_iterator<char>(file), {}};
  offset += static_cast<std::streamoff>(out.size());
  return out;
}

}  // namespace

/// A log that goes on: each change of the file becomes a piece of the answer.
class PodStreams::Follow : public std::enable_shared_from_this<Follow> {
 public:
  Follow(Executor& executor, std::string path, LogChoice choice, std::function<void()> over)
      : executor_(executor), path_(std::move(path)), reader_(std::move(choice)), over_(std::move(over)) {}

  void Begin(net::Responder responder) {
    net::Response head;
    head.headers.Add("Content-Type", "text/plain");
    head.headers.Add("Cache-Control", "no-cache, private");
    stream_ = responder.Stream(std::move(head));
    const std::weak_ptr<Follow> weak = weak_from_this();
    stream_->WhenGone([weak] {
      if (const auto self = weak.lock()) self->End();
    });
    auto watch = os::InotifyWatcher().Start({path_}, [weak, &executor = executor_](const auto&) {
      executor.Post([weak] {
        if (const auto self = weak.lock()) self->More(false);
      });
    });
    if (watch) watch_ = *std::move(watch);
    More(true);
  }
  /// The container has ended: what there is is all.
  void Last() {
    More(false);
    End();
  }

 private:
  void More(bool first) {
    if (!stream_) return;
    std::string text = reader_.Read(ReadFrom(path_, offset_), first);
    if (!text.empty()) stream_->Write(net::MakePiece(std::move(text)));
    if (reader_.Full()) End();
  }
  void End() {
    if (!stream_) return;
    stream_->End();
    stream_.reset();
    if (over_) std::exchange(over_, nullptr)();
  }

  Executor& executor_;
  const std::string path_;
  LogReader reader_;
  std::function<void()> over_;
  std::streamoff offset_ = 0;
  std::unique_ptr<net::ResponseStream> stream_;
  std::unique_ptr<os::Watch> watch_;
};

PodStreams::PodStreams(ApiServer& server, FindMachine find) : server_(server), find_(std::move(find)) {
  ResourceInfo pods = *server_.registry().Find("", "v1", "pods");
  pods.subresources.push_back({"exec", "PodExecOptions", "", "v1", {"create", "get"}});
  server_.registry().Add(std::move(pods));
  server_.SetHandler("", "pods", "log", "get", [this](Request& r) { return Log(r); });
  for (const char* verb : {"get", "create"})
    server_.SetHandler("", "pods", "exec", verb, [this](Request& r) { return Exec(r); });
}

PodStreams::~PodStreams() { open_->clear(); }

Answer<Response> PodStreams::Log(Request& request) {
  ASSIGN(const ContainerTarget target, FindContainer(server_, request));
  MachineNode* const machine = find_(target.node);
  if (machine == nullptr) return PodLog(server_, request);
  const bool previous = BoolParam(*request.http, "previous");
  const std::string ns = request.ns(), name = request.name();
  if (!previous) TRY(CheckHasRun(request, target));
  auto file = machine->LogFileOf(ns, name, target.container, previous);
  if (!file && previous) return std::unexpected(BadRequest(file.error().text));
  if (!file) return Response::Plain("");
  LogChoice choice = ChoiceOf(request, server_.executor().Wall());
  if (!BoolParam(*request.http, "follow") || previous) {
    std::streamoff offset = 0;
    return Response::Plain(LogReader(choice).Read(ReadFrom(*file, offset), true));
  }
  Response out = Response::Plain("");
  out.takeover = [this, path = *file, choice, node = target.node, ns, name, container = target.container](
                     const net::Request&, net::Responder responder) {
    auto slot = std::make_shared<std::weak_ptr<void>>();
    auto follow = std::make_shared<Follow>(server_.executor(), path, choice,
                                           [open = open_, slot, &executor = server_.executor()] {
                                             // Not from inside one of its own calls.
                                             executor.Post([open, slot] { open->erase(slot->lock()); });
                                           });
    *slot = follow;
    open_->insert(follow);
    follow->Begin(std::move(responder));
    const auto last = [weak = std::weak_ptr<Follow>(follow)] {
      if (const auto self = weak.lock()) self->Last();
    };
    if (MachineNode* const m = find_(node); m != nullptr)
      m->WhenStopped(ns, name, container, last);
    else
      last();
  };
  return out;
}

Answer<Response> PodStreams::Exec(Request& request) {
  ASSIGN(const ContainerTarget target, FindContainer(server_, request));
  if (find_(target.node) == nullptr)
    return std::unexpected(BadRequest("node " + Quote(target.node) + " is hollow and runs no processes"));
  std::vector<std::string> command;
  for (const auto& [name, value] : request.http->query)
    if (name == "command") command.push_back(value);
  if (command.empty()) return std::unexpected(BadRequest("you must specify at least 1 command for the container"));
  Response out = Response::Plain("", 400);
  out.takeover = [this, target, ns = request.ns(), name = request.name(), command,
                  tty = BoolParam(*request.http, "tty"),
                  in = BoolParam(*request.http, "stdin")](const net::Request& http, net::Responder responder) {
    MachineNode* const machine = find_(target.node);
    if (machine == nullptr) return responder.Send({.status = 404});
    auto slot = std::make_shared<std::weak_ptr<void>>();
    auto session =
        std::make_shared<ExecSession>(server_.executor(), [open = open_, slot, &executor = server_.executor()] {
          // Not from inside one of its own calls.
          executor.Post([open, slot] { open->erase(slot->lock()); });
        });
    *slot = session;
    open_->insert(session);
    ExecOptions options;
    options.wish = ExecWish{ns, name, target.container, command, tty, {}, {}, {}};
    options.in = in;
    session->Begin(*machine, std::move(options), http, std::move(responder));
  };
  return out;
}

}  // namespace gpuop::sim::node
