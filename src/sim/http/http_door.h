#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/server.h"
#include "sim/api_server.h"
#include "sim/faults.h"
#include "sim/http/control.h"

namespace gpuop::sim {

/// The door that kubectl uses: HTTP in front of the core, on the I/O thread that is also the core's executor.
class HttpDoor {
 public:
  /// Says who sent a request, and may do so as whom. The default takes everybody for the administrator, as `kubectl
  /// proxy` does.
  using Identify = std::function<Answer<User>(const net::Request&, const kube::ApiRequest&)>;

  /// All outlive the door; `io` is the server's executor.
  HttpDoor(net::IoThread& io, ApiServer& server, Faults& faults, Control control, Identify identify = {});
  ~HttpDoor();
  HttpDoor(const HttpDoor&) = delete;
  HttpDoor& operator=(const HttpDoor&) = delete;

  /// Listens; returns the address with the port that it got.
  Result<std::string> Listen(const std::string& address, std::optional<net::TlsServerOptions> tls = {});
  /// Serves on a socket that listens already (in another network namespace, say) for as long as what it returns is
  /// held.
  Result<std::shared_ptr<void>> Adopt(os::Fd listening, std::optional<net::TlsServerOptions> tls = {});
  /// Lets answers in progress end, then runs `done`.
  void Stop(Duration grace, Executor::Task done);

 private:
  class WatchSession;

  void Take(net::Request request, net::Responder responder);
  void Reply(const net::Request& request, kube::ApiRequest api, net::Responder responder);
  void Forget(std::uint64_t id);
  void ForgetAll();
  void OpenWatch(const kube::ApiRequest& api, const User& user, net::Responder responder);

  net::IoThread& io_;
  ApiServer& server_;
  Faults& faults_;
  Control control_;
  Identify identify_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::map<std::uint64_t, std::shared_ptr<WatchSession>> watches_;
  std::uint64_t next_watch_ = 1;
  net::Server http_;
};

}  // namespace gpuop::sim
