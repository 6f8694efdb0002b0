#pragma once

#include <deque>
#include <memory>
#include <string>

#include "net/client.h"
#include "net/detail/dialer.h"
#include "net/detail/message_parser.h"
#include "net/detail/out_queue.h"
#include "net/detail/transport.h"
#include "net/sink_gate.h"

namespace gpuop::net::detail {

/// A connection to the client's server, between and during exchanges.
struct Wire {
  std::unique_ptr<Transport> transport;
  bool used = false;  ///< it has carried an exchange before
  TimePoint idle_since{};
};

/// What the exchanges of one client share: the pool. On the I/O thread only.
struct ClientCore : std::enable_shared_from_this<ClientCore> {
  ClientCore(IoThread& i, Route r, ClientOptions o)
      : io(i), route(std::move(r)), options(std::move(o)), tls(options.tls), expiry(i) {}

  IoThread& io;
  const Route route;
  const ClientOptions options;
  ClientTls tls;
  std::size_t open = 0;  ///< wires, idle ones and those being made included
  std::deque<std::shared_ptr<Wire>> idle;
  std::deque<std::weak_ptr<Exchange>> waiting;
  bool closed = false;
  Timer expiry;

  /// The idle wire that was used last, or nullptr.
  std::shared_ptr<Wire> TakeIdle();
  /// Whether a new wire may be made; if so it counts as open. Closes an idle one to make room.
  bool Reserve();
  /// Gives a healthy wire back.
  void Return(std::shared_ptr<Wire> wire);
  /// A wire is closed or was never made: lets a waiting exchange begin.
  void Release();
  void Close();

 private:
  void Watch(const std::shared_ptr<Wire>& wire);
  void Forget(const std::shared_ptr<Wire>& wire);
  void SetExpiry();
  void WakeWaiting();
};

/// One request and its answer.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// Takes the connection over after a 101.
  using OnSwitch = std::move_only_function<void(std::unique_ptr<Transport>, MessageHead, std::string leftover)>;

  Exchange(std::shared_ptr<ClientCore> core, ClientRequest request, std::shared_ptr<ResponseSink> sink);
  void SetOnSwitch(OnSwitch then) { on_switch_ = std::move(then); }

  IoThread& io() const { return core_->io; }
  /// On the I/O thread.
  void Start();
  /// On the I/O thread: a connection may be had now.
  void Proceed();
  void SetPaused(bool paused);
  /// No sink call from here on. Any thread; waits for a running sink call unless on the I/O thread.
  void Silence() { sink_.Close(); }
  /// On the I/O thread, after Silence.
  void Cancel();

 private:
  void Dial();
  void Begin(std::shared_ptr<Wire> wire);
  std::string Head() const;
  void Flush();
  void WaitReadable();
  void OnReadable();
  void Parse();
  bool Step();
  void OnHead();
  void OnServerEnd();
  void Complete();
  void Broken(Error error);
  bool MayRetry() const;
  void End(Result<> why);
  void DropWire();

  std::shared_ptr<ClientCore> core_;
  ClientRequest request_;
  OnSwitch on_switch_;
  SinkGate<ResponseSink> sink_;

  std::shared_ptr<Dialer> dialer_;
  std::shared_ptr<Wire> wire_;
  MessageParser parser_;
  OutQueue out_;
  std::string in_;
  Timer head_timer_;
  std::size_t answer_bytes_ = 0;
  std::uint64_t attempt_ = 0;  // tells callbacks of an earlier wire from those of this one
  bool retried_ = false;
  bool answer_begun_ = false;
  bool head_told_ = false;
  bool write_broken_ = false;
  bool reading_ = false;
  bool paused_ = false;
  bool too_large_ = false;
  bool ended_ = false;
};

}  // namespace gpuop::net::detail
