#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/config/config.h"
#include "os/fs.h"
#include "os/process.h"

namespace gpuop::kube {

/// What is shown to the API server with a request. Secret.
struct ShownCredentials {
  std::string authorization{};  ///< the header's value, or ""
  net::Pem certificate{};       ///< from a plugin; otherwise the configuration's own counts
  net::Pem key{};
  std::uint64_t serial = 0;  ///< changes whenever the rest does
};

/// The credentials of one configuration: a token, a token file that is read again as it rotates, user name and
/// password, or an exec plugin whose answer is kept until it expires. Thread-safe.
class Credentials {
 public:
  /// What is passed in outlives this.
  Credentials(const ApiConfig& config, const os::Fs& fs, os::Processes& processes, const Clock& clock);

  /// What can be had without waiting; nullopt when a plugin has to run first.
  Result<std::optional<ShownCredentials>> Ready();
  /// Runs the plugin if need be (at most a minute); one at a time.
  Result<ShownCredentials> Get(std::stop_token stop);
  /// The server did not accept what had this serial. True when asking again is worth while.
  bool Refused(std::uint64_t serial);

 private:
  Result<> ReadTokenFile() REQUIRES(mu_);
  Result<ShownCredentials> RunPlugin(const std::stop_token& stop, std::optional<WallTime>& expires) const;
  Result<std::string> ExecInfo() const;

  const ApiConfig& config_;
  const os::Fs& fs_;
  os::Processes& processes_;
  const Clock& clock_;

  Mutex plugin_;  // held while the plugin runs
  Mutex mu_;
  ShownCredentials shown_ GUARDED_BY(mu_);
  bool have_ GUARDED_BY(mu_) = false;
  std::optional<WallTime> expires_ GUARDED_BY(mu_);     // of a plugin's answer
  std::optional<TimePoint> file_read_ GUARDED_BY(mu_);  // when the token file was read last
};

}  // namespace gpuop::kube
