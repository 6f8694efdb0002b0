#pragma once
// What becomes of entries that vanish from an engine's configuration: how often they are put back, and what the Node is
// told of it.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/strand.h"
#include "container/engine/transaction.h"
#include "kube/client.h"
#include "operands/toolkit/program/options.h"

namespace gpuop::operands::toolkit {

/// Who tells.
inline constexpr const char* kTeller = "nvidia-container-toolkit";

/// Keeps two programs that want different things from restarting an engine for ever.
class RepairBound {
 public:
  static constexpr std::size_t kMost = 5;
  static constexpr Duration kSpan = std::chrono::minutes(10);

  /// kGiveUp: for the first time since a repair; kLeave: again.
  enum class Answer { kRepair, kGiveUp, kLeave };
  /// Whether entries that are lost now shall be put back. A repair counts for kSpan.
  Answer Ask(TimePoint now);

 private:
  std::deque<TimePoint> repairs_;
  bool gave_up_ = false;
};

/// An Event about the Node. The message names the entries, and the files as the engine knows them.
struct RepairNews {
  bool warning = true;
  /// "RuntimeEntriesRestored", or "RuntimeEntriesLost".
  std::string_view reason;
  std::string message;
};
/// `change` has put back what was lost.
RepairNews Restored(const Options& options, const container::EngineChange& change);
/// `change` would have, and failed.
RepairNews NotRestored(const Options& options, const container::EngineChange& change, const Error& error);
/// `change` would, and is not made: RepairBound forbids it.
RepairNews GivenUp(const Options& options, const container::EngineChange& change);

/// Writes Events about the node. The API is opened for each and let go of again, since they are rare. What cannot be
/// written is tried three times, ten seconds apart, and then stands in the log alone.
class RepairTeller {
 public:
  /// Makes a client, and all that it stands on as long as it is held.
  using OpenClient = std::function<Result<std::shared_ptr<const kube::Client>>()>;

  /// Tasks on `executor` may block: they open the API and call it. What is passed in outlives the teller.
  RepairTeller(Executor& executor, OpenClient open, std::string node, Log& log)
      : open_(std::move(open)), node_(std::move(node)), log_(log), strand_(executor) {}

  /// Returns at once. Thread-safe.
  void Tell(RepairNews news);

 private:
  void Try(RepairNews news, int attempts);
  Result<> Write(const RepairNews& news) const;

  const OpenClient open_;
  const std::string node_;
  Log& log_;
  Strand strand_;
};

}  // namespace gpuop::operands::toolkit
