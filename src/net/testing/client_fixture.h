#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "net/client.h"
#include "net/server.h"
#include "net/testing/raw_peer.h"

namespace gpuop::net {

// Notes what a stream brings.
class StreamNotes final : public ResponseSink {
 public:
  void OnHead(int status, const Headers&) override {
    Lock l(mu_);
    status_ = status;
  }
  void OnData(std::string_view bytes) override {
    Lock l(mu_);
    body_.append(bytes);
    changed_.notify_all();
  }
  void OnEnd(Result<> why) override {
    Lock l(mu_);
    end_ = std::move(why);
    changed_.notify_all();
  }
  bool WaitFor(std::string_view text) {
    Lock l(mu_);
    return changed_.wait_for(mu_, std::chrono::seconds(10),
                             [&]() REQUIRES(mu_) { return body_.find(text) != std::string::npos; });
  }
  std::string End() {
    Lock l(mu_);
    if (!changed_.wait_for(mu_, std::chrono::seconds(10), [&]() REQUIRES(mu_) { return end_.has_value(); }))
      return "no end";
    return *end_ ? "" : end_->error().text;
  }
  std::size_t size() {
    Lock l(mu_);
    return body_.size();
  }
  bool ended() {
    Lock l(mu_);
    return end_.has_value();
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  int status_ GUARDED_BY(mu_) = 0;
  std::string body_ GUARDED_BY(mu_);
  std::optional<Result<>> end_ GUARDED_BY(mu_);
};

class ClientTest : public testing::Test {
 protected:
  void SetUp() override { io_.Start(); }

  std::unique_ptr<Client> To(std::uint16_t port, ClientOptions options = {}) {
    auto client = Client::Make(io_, *ParseUrl("http://127.0.0.1:" + std::to_string(port)), std::move(options));
    EXPECT_TRUE(client);
    return *std::move(client);
  }
  /// A server that answers with what `handler` sends.
  std::uint16_t Serve(Server::Handler handler) {
    servers_.push_back(std::make_unique<Server>(io_, std::move(handler)));
    return PortOf(servers_.back()->Listen("127.0.0.1:0").value());
  }
  /// The error (or the body) of a GET from a peer that takes one connection and does `act`.
  std::string GetFrom(std::function<void(RawSocket&)> act, ClientRequest request = {}) {
    RawListener listener;
    std::jthread peer([&] {
      RawSocket s = listener.Accept();
      s.ReadUntil("\r\n\r\n");
      act(s);
    });
    return Outcome(To(listener.port())->Call(std::move(request), std::chrono::seconds(10), {}));
  }
  static std::string Outcome(const Result<ClientResponse>& r) { return r ? r->body : r.error().text; }

  IoThread io_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace gpuop::net
