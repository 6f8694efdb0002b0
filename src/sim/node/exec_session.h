#pragma once
// One `kubectl exec` over a WebSocket: the protocols v4.channel.k8s.io and v5.channel.k8s.io (KEP-4006). The first byte
// of each message is its channel: 0 stdin, 1 stdout, 2 stderr, 3 the end's Status, 4 the terminal's size; in v5 255
// says that a channel has ended.

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/executor.h"
#include "base/mutex.h"
#include "net/server.h"
#include "os/fd.h"
#include "sim/node/machine_node.h"

namespace gpuop::sim::node {

struct ExecOptions {
  ExecWish wish;  ///< without descriptors
  bool in = false, out = false, err = false;
};

/// Made and used on one executor; pumps bytes on a thread of its own. Keeps itself alive until it is over, then calls
/// `over` once.
class ExecSession final : public net::WebSocketSink, public std::enable_shared_from_this<ExecSession> {
 public:
  ExecSession(Executor& executor, std::function<void()> over) : executor_(executor), over_(std::move(over)) {}
  ~ExecSession() override;

  /// Answers `request`: with a WebSocket, or with what is wrong with it.
  void Begin(MachineNode& machine, ExecOptions options, const net::Request& request, net::Responder responder);

  void OnMessage(bool binary, std::string_view message) override;
  void OnClose(Result<std::uint16_t> code, std::string_view reason) override;

 private:
  void Started(Result<ExecStart> start);
  void Ended(int status);
  void Finish();
  void Pump();
  void Wake() const;
  void Say(char channel, std::string_view bytes) const;
  void EndWith(std::string status);

  Executor& executor_;
  std::function<void()> over_;
  std::unique_ptr<net::WebSocket> socket_;
  bool closed_ = false, told_ = false, pumped_ = false;
  std::optional<int> status_;
  os::Fd in_, out_, err_, terminal_, wake_;
  Mutex mu_;
  std::string to_write_ GUARDED_BY(mu_);
  bool in_over_ GUARDED_BY(mu_) = false, ended_ GUARDED_BY(mu_) = false;
  std::jthread pump_;
};

/// The Status that tells how a process ended, as wait(2) has it.
std::string ExecStatus(int status);

}  // namespace gpuop::sim::node
