#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/log.h"
#include "operands/nfd/sources/source.h"
#include "operands/nfd/worker/settings.h"

namespace gpuop::operands::nfd {

/// All that a node says of itself.
struct NodeFacts {
  Features features;
  /// By whole names, as the NodeFeature object has them.
  TextMap labels;

  bool operator==(const NodeFacts&) const = default;
};

/// Asks the sources and remembers their answers.
class NodeDiscovery {
 public:
  NodeDiscovery(const Host& host, std::string node, const Clock& clock, Log& log)
      : host_(host), node_(std::move(node)), clock_(clock), log_(log) {}

  /// Asks those sources again whose answer may have changed without an event; `all` asks every one.
  NodeFacts Look(const WorkerSettings& settings, bool all);
  /// Asks those that change silently and nothing more: whether there is anything new to Look at.
  bool HasNews(const WorkerSettings& settings);
  /// When something ends by its own time; nullopt when nothing does.
  std::optional<WallTime> until() const;

 private:
  const Host& host_;
  const std::string node_;
  const Clock& clock_;
  Log& log_;
  /// Asks one source, whose answer is kept; whether it differs from the last one.
  bool Ask(const Source& source, const WorkerSettings& settings, Found& known, bool is_new);
  void Tell(std::string_view source, const std::vector<std::string>& before, const std::vector<std::string>& now);

  std::map<std::string_view, Found> known_;
  std::vector<std::string> custom_complaints_;
};

}  // namespace gpuop::operands::nfd
