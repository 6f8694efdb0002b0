#pragma once
// What tests of the HTTP door have in common.

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/thread_executor.h"
#include "kube/http_door.h"
#include "net/server.h"
#include "net/testing/raw_peer.h"
#include "os/fake_fs.h"

namespace gpuop::kube {

/// Notes what a stream brings. Thread-safe.
class Notes final : public StreamSink {
 public:
  void OnData(std::string_view piece) override {
    Lock l(mu_);
    pieces_.emplace_back(piece);
    changed_.notify_all();
  }
  void OnEnd(Result<> why, std::optional<Duration> retry_after) override {
    Lock l(mu_);
    end_ = std::move(why);
    retry_after_ = retry_after;
    changed_.notify_all();
  }
  Error End() {
    Lock l(mu_);
    if (!changed_.wait_for(mu_, std::chrono::seconds(60), [&]() REQUIRES(mu_) { return end_.has_value(); }))
      return {Code::kInternal, "no end"};
    return *end_ ? Error{} : end_->error();
  }
  bool WaitForPieces(std::size_t n) {
    Lock l(mu_);
    return changed_.wait_for(mu_, std::chrono::seconds(10), [&]() REQUIRES(mu_) { return pieces_.size() >= n; });
  }
  std::vector<std::string> Pieces() {
    Lock l(mu_);
    return pieces_;
  }
  std::optional<Duration> RetryAfterTold() {
    Lock l(mu_);
    return retry_after_;
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<std::string> pieces_ GUARDED_BY(mu_);
  std::optional<Result<>> end_ GUARDED_BY(mu_);
  std::optional<Duration> retry_after_ GUARDED_BY(mu_);
};

/// A door to a server of the test, or to a peer that answers with bytes.
class HttpDoorBed : public testing::Test {
 protected:
  void SetUp() override { io_.Start(); }

  void Serve(net::Server::Handler handler) {
    server_ = std::make_unique<net::Server>(io_, std::move(handler));
    Use(server_->Listen("127.0.0.1:0").value());
  }
  void Use(const std::string& address) {
    address_ = address;
    config_.server = *net::ParseUrl("http://" + address);
  }
  HttpDoor& Door() {
    if (!door_) door_ = HttpDoor::Make(io_, workers_, fs_, processes_, config_).value();
    return *door_;
  }
  Result<ApiResponse> Call(ApiRequest request) { return Door().Call(request, std::chrono::seconds(10), {}); }
  void Peer(std::string bytes, std::function<void(net::RawSocket&)> then = [](net::RawSocket&) {}) {
    Use("127.0.0.1:" + std::to_string(listener_.port()));
    peer_ = std::jthread([this, bytes = std::move(bytes), then = std::move(then)] {
      net::RawSocket s = listener_.Accept();
      s.ReadUntil("\r\n\r\n");
      s.Send(bytes);
      then(s);
    });
  }
  std::shared_ptr<Notes> Watch(std::unique_ptr<Stream>& stream) {
    auto notes = std::make_shared<Notes>();
    stream = Door().Open({.path = "/api/v1/pods", .query = {{"watch", "true"}}}, notes);
    return notes;
  }

  net::IoThread io_;
  ThreadExecutor workers_{2};
  os::FakeFs fs_;
  os::FakeProcesses processes_;
  ApiConfig config_;
  std::string address_;
  std::unique_ptr<net::Server> server_;
  net::RawListener listener_;
  std::jthread peer_;
  std::unique_ptr<HttpDoor> door_;
};

}  // namespace gpuop::kube
