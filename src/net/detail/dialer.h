#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/detail/message_parser.h"
#include "net/detail/out_queue.h"
#include "net/detail/tls_context.h"
#include "net/detail/transport.h"
#include "net/url.h"

namespace gpuop::net::detail {

/// The way to a server.
struct Route {
  Url server;
  std::optional<Url> proxy;
};

/// Makes one connection along a route: name, address by address, proxy, TLS. Dropping it cancels. I/O thread only.
class Dialer : public std::enable_shared_from_this<Dialer> {
 public:
  using Then = std::move_only_function<void(Result<std::unique_ptr<Transport>>)>;
  /// `tls` outlives the dialer. `then` is called once, later.
  Dialer(IoThread& io, const Route& route, ClientTls& tls, Then then);
  void Start(Duration limit);

 private:
  const Url& FirstHop() const { return route_.proxy ? *route_.proxy : route_.server; }
  void Found(Result<std::vector<Address>> addresses);
  void TryNext();
  void OnConnected();
  void Connected();
  void AskProxy();
  void WriteToProxy();
  void ReadFromProxy();
  void StartTls();
  void Handshake();
  void Finish(Result<std::unique_ptr<Transport>> result);
  void Fail(Code code, std::string text);

  IoThread& io_;
  const Route route_;
  ClientTls& tls_;
  Then then_;
  Timer timer_;
  std::string doing_;  // for the words of a time-out
  std::shared_ptr<Lookup> lookup_;
  std::vector<Address> addresses_;
  std::size_t next_address_ = 0;
  std::unique_ptr<Transport> transport_;
  OutQueue out_;
  MessageParser answer_{MessageParser::Kind::kResponse, 16 * 1024};
  std::string in_;
};

}  // namespace gpuop::net::detail
