#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/metrics.h"
#include "base/mutex.h"
#include "net/io_thread.h"
#include "net/server.h"

namespace gpuop::operands {

/// What ails a program, in a sentence; "" when nothing does. Called on the I/O thread.
using Ailment = std::function<std::string()>;

/// What ails a program just now. Thread-safe.
class Trouble {
 public:
  explicit Trouble(std::string text) : text_(std::move(text)) {}
  std::string Get() const {
    Lock l(mu_);
    return text_;
  }
  /// Whether this is news.
  bool Set(const std::string& text) {
    Lock l(mu_);
    return std::exchange(text_, text) != text;
  }

 private:
  mutable Mutex mu_;
  std::string text_ GUARDED_BY(mu_);
};

/// Serves /metrics, and /healthz with 200 "ok" or 503 and what ails the program, on an address as net::Server takes it
/// (":9401"). What is passed in outlives the server.
Result<std::unique_ptr<net::Server>> ServeStatus(net::IoThread& io, const std::string& address,
                                                 const MetricRegistry& metrics, Ailment ailment);

}  // namespace gpuop::operands
