#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "net/server.h"
#include "net/testing/raw_peer.h"

namespace gpuop::net {

inline Response Text(std::string text) {
  return {.headers = {{"Content-Type", "text/plain"}}, .body = MakeBody(std::move(text))};
}

// A server whose handler is the test's.
class ServerTest : public testing::Test {
 protected:
  void Serve(Server::Handler handler, ServerOptions options = {}) {
    server_ = std::make_unique<Server>(io_, std::move(handler), options);
    auto address = server_->Listen("127.0.0.1:0");
    ASSERT_TRUE(address) << address.error().text;
    port_ = PortOf(*address);
    io_.Start();
  }
  void ServeEcho(ServerOptions options = {}) {
    Serve([](Request q, Responder r) { r.Send(Text(q.method + " " + q.target + " " + q.body)); }, options);
  }
  RawSocket Connect() { return RawSocket::Connect(port_); }
  /// Waits for what another thread does; ten seconds at most.
  static bool Eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 1000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  IoThread io_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

}  // namespace gpuop::net
