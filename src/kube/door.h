#pragma once
// The one place where a request to a Kubernetes API leaves the program. Two doors exist: over HTTP
// (kube/http_door.h) and, in the embedded cluster, straight into the API server's core (sim/core_door.h).
// Whatever is built on Door runs over the wire in life and in one thread on a virtual clock in a test.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::kube {

/// One HTTP request to the API, as the API conventions describe it.
struct ApiRequest {
  std::string method = "GET";
  /// Absolute and percent-encoded, without the query: "/api/v1/namespaces/default/pods".
  std::string path = {};
  /// Decoded names and values in order.
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string accept = "application/json";
  std::string content_type = {};
  std::string body = {};
  /// The API server calls the owner of written fields by its part before the first slash, unless ?fieldManager says.
  std::string user_agent = "gpu-operator";
};

/// A whole answer, whatever its status. Statuses of 400 and above carry a metav1.Status in the body.
struct ApiResponse {
  int status = 0;
  std::string content_type = {};
  std::string body = {};
  /// From the Retry-After header.
  std::optional<Duration> retry_after = {};
};

/// What comes from an open stream (a watch, or a followed log). Calls come one at a time, never from inside
/// Door::Open, and none comes after OnEnd. A sink must return quickly: it runs on the I/O thread, or between two
/// steps of the embedded cluster.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  /// The next piece of the body: for a watch exactly one event (one JSON document), for a log any bytes.
  virtual void OnData(std::string_view piece) = 0;
  /// Asked after each OnData. False: nothing more until Stream::Resume, but for what is already read. So a slow reader
  /// holds its server back instead of filling memory.
  virtual bool WantsMore() { return true; }
  /// The stream is over: an empty Result when the server ended it in good order; otherwise why. A request that
  /// the server refuses ends with the refusal's code (kGone for 410) and `retry_after` if it was told.
  virtual void OnEnd(Result<> why, std::optional<Duration> retry_after) = 0;
};

/// An open stream. Destroying it closes the stream; when the destructor has returned no sink call is running
/// and none will come (the destructor may be called from inside a sink call, which then is the last).
class Stream {
 public:
  virtual ~Stream() = default;
  /// The sink, which said that it wants no more, wants more. Thread-safe as the door is.
  virtual void Resume() {}
};

/// Thread-safe, unless the door says otherwise.
class Door {
 public:
  virtual ~Door() = default;

  /// Sends `request` and waits for the whole answer: at most `limit`, and until `stop` is asked for. An answer with
  /// an error status is a value here; an Error means that there was no answer. Never called on the I/O thread.
  virtual Result<ApiResponse> Call(const ApiRequest& request, Duration limit, std::stop_token stop) = 0;

  /// Opens a stream. Returns at once; what goes wrong is told to the sink.
  virtual std::unique_ptr<Stream> Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) = 0;
};

}  // namespace gpuop::kube
