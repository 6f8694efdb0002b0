#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/detail/core.h"
#include "net/detail/tls_context.h"

namespace gpuop::net::detail {

struct ServerState;

/// A bound and listening socket, not yet watched.
struct Listener {
  int fd = -1;
  std::string address;    ///< as Server::Listen returns it
  std::string unix_path;  ///< to be removed at the end
};

/// Opens what Server::Listen describes.
Result<Listener> OpenListener(const std::string& address);

/// Accepts connections on one listening socket for as long as it lives.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<ServerState> state, Listener listener, std::optional<ServerTls> tls);
  ~Acceptor();

  void Wait();

 private:
  void Accept();
  void Greet(int fd, const Address& from);

  std::shared_ptr<ServerState> state_;
  WatchedFd fd_;
  std::string unix_path_;
  std::optional<ServerTls> tls_;
  Timer pause_;
};

}  // namespace gpuop::net::detail
