#pragma once
// A resource's gRPC server, and its registration with the kubelet.

#include <list>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "base/strand.h"
#include "net/grpc/server.h"
#include "operands/device_plugin/outlet.h"
#include "os/fs.h"

namespace gpuop::operands::device_plugin {

/// Serves at FOLDER/nvidia-NAME.sock and keeps the kubelet knowing it: a registration that fails is tried again with
/// back-off, one that a slow kubelet has not answered as well, unless it watches our list already. A kubelet that lets
/// go of the list is told again, and a socket that somebody removed is made anew.
class GrpcOutlet final : public Outlet {
 public:
  struct Parts {
    Executor& executor;  ///< one thread, for all that does not block
    Executor& chores;    ///< may block
    const os::Fs& host;
    Log& log;
    MetricRegistry& metrics;
    /// The folder of sockets, and the kubelet's; empty: nobody is told.
    std::string folder, kubelet_socket;
    /// Called when a kubelet begins, or ceases, to watch; may be empty.
    std::function<void()> watched = {};
  };
  /// For one call to the kubelet.
  static constexpr Duration kCallLimit = std::chrono::seconds(10);

  GrpcOutlet(Parts parts, std::shared_ptr<const Offer> first);
  ~GrpcOutlet() override;

  void Set(std::shared_ptr<const Offer> offer) override;
  void Register() override;
  void Check() override;
  bool live() const override;

 private:
  struct Watcher;

  net::GrpcMethods Methods();
  Result<std::string> Allocate(const std::string& request);
  Result<std::string> Prefer(const std::string& request);
  void Watch(std::shared_ptr<net::GrpcStream> stream);
  void OnWatcherGone(std::uint64_t id);
  /// Makes the server if there is none, or if its socket is gone.
  Result<> Serve();
  bool SocketIsOurs() const;
  /// Which socket the kubelet has now: other numbers, another kubelet.
  std::pair<std::uint64_t, WallTime> KubeletNow() const;
  void Attempt();
  void OnRegistered(const Result<std::string>& answer);
  void AgainAfter(Duration delay);
  std::shared_ptr<const Offer> offer() const;

  const Parts parts_;
  const std::string name_, socket_name_, socket_;
  Counter &allocations_, &refusals_, &registrations_;
  Gauge& watched_;

  mutable Mutex mu_;
  std::shared_ptr<const Offer> offer_ GUARDED_BY(mu_);
  std::list<std::shared_ptr<Watcher>> watchers_ GUARDED_BY(mu_);
  std::uint64_t watchers_made_ GUARDED_BY(mu_) = 0;
  Rng rng_ GUARDED_BY(mu_){RandomSeed()};

  // Of the strand.
  std::unique_ptr<net::GrpcServer> server_;
  std::uint64_t inode_ = 0;
  bool busy_ = false, once_more_ = false;
  std::pair<std::uint64_t, WallTime> told_;
  Duration delay_;
  /// Counts attempts, so that one that was put off knows whether it is still wanted.
  std::uint64_t turn_ = 0;
  std::string complaint_;
  std::stop_source stop_;
  /// Calls to the kubelet that end late find it closed.
  const std::shared_ptr<Strand> strand_;
};

}  // namespace gpuop::operands::device_plugin
