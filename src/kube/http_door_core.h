#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "kube/config/credentials.h"
#include "kube/http_door.h"
#include "net/client.h"

namespace gpuop::kube {

struct HttpDoor::Core {
  Core(net::IoThread& i, Executor& w, const os::Fs& fs, os::Processes& processes, ApiConfig c)
      : io(i), workers(w), config(std::move(c)), credentials(config, fs, processes, w) {}

  net::IoThread& io;
  Executor& workers;
  const ApiConfig config;
  Credentials credentials;

  /// The client that shows `shown`'s certificate, if any: another certificate is another client.
  Result<std::shared_ptr<net::Client>> ClientFor(const ShownCredentials& shown);
  net::ClientRequest Request(const ApiRequest& request, const ShownCredentials& shown) const;
  /// "GET https://10.0.0.1:6443/api/v1/nodes"
  std::string Doing(const ApiRequest& request) const;

 private:
  Mutex mu_;
  std::shared_ptr<net::Client> client_ GUARDED_BY(mu_);
  std::string certificate_ GUARDED_BY(mu_);
};

/// From the Retry-After header: whole seconds.
std::optional<Duration> RetryAfter(const net::Headers& headers);

/// Cuts a watch's bytes into documents, which end with a line break.
class LineCutter {
 public:
  explicit LineCutter(std::size_t largest) : largest_(largest) {}
  /// Calls `take` for each document that is complete with `bytes`, blank lines left out. kTooLarge for a document that
  /// is larger than allowed.
  Result<> Add(std::string_view bytes, const std::function<void(std::string_view)>& take);
  /// The stream has ended: an error if it did so in the middle of a document.
  Result<> End() const;

 private:
  std::size_t largest_;
  std::string begun_;
};

/// Opens a stream; `sink` is told how that went.
std::unique_ptr<Stream> OpenHttpStream(std::shared_ptr<HttpDoor::Core> core, const ApiRequest& request,
                                       std::shared_ptr<StreamSink> sink);

}  // namespace gpuop::kube
