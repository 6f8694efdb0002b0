#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "kube/client.h"
#include "operands/nfd/worker/discovery.h"
#include "operands/nfd/worker/settings.h"

namespace gpuop::operands::nfd {

/// Keeps the node's NodeFeature object: named as the node, in the worker's namespace, owned by the Node. Writes only
/// when its content differs; what is not content (the worker's version and Pod) comes along with the next change.
class Publisher {
 public:
  Publisher(kube::Client client, const WorkerProgram& program, Log& log)
      : client_(std::move(client)), program_(program), log_(log) {}

  /// Whether it wrote. kConflict: somebody else wrote it meanwhile; the next call looks first.
  Result<bool> Publish(const NodeFacts& facts, const std::vector<Owner>& owners);
  /// The object may have been changed by others: the next Publish looks first. Thread-safe.
  void Distrust() { distrust_ = true; }

 private:
  struct Known {
    std::uint64_t content = 0;
    std::string resource_version;
  };

  data::JsonObject ObjectOf(const NodeFacts& facts) const;
  /// nullopt when it cannot be told who owns the object.
  std::optional<data::JsonArray> OwnersOf(const std::vector<Owner>& owners);
  Result<data::JsonArray> ReadOwners(const std::vector<Owner>& owners);
  Result<bool> Write(data::JsonObject wanted, const std::vector<Owner>& owners, std::uint64_t content);
  void Remember(std::uint64_t content, const data::JsonObject& answer);

  const kube::Client client_;
  const WorkerProgram& program_;
  Log& log_;
  std::atomic<bool> distrust_ = false;
  std::optional<Known> known_;
  std::vector<Owner> owners_of_;
  std::optional<data::JsonArray> owners_;
};

}  // namespace gpuop::operands::nfd
