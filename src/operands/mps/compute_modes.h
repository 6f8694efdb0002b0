#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "gpu/nvml.h"

namespace gpuop::operands::mps {

/// Whether a GPU takes one client alone, which is then the MPS daemon.
class ComputeModes {
 public:
  virtual ~ComputeModes() = default;
  virtual Result<> SetExclusive(const std::string& uuid, bool exclusive) = 0;
};

/// By NVML (`nvidia-smi -c EXCLUSIVE_PROCESS`, `-c DEFAULT`), opened for each call: the driver may be exchanged between
/// two.
class NvmlComputeModes final : public ComputeModes {
 public:
  using Open = std::function<Result<std::unique_ptr<gpu::Nvml>>()>;
  explicit NvmlComputeModes(Open open) : open_(std::move(open)) {}
  Result<> SetExclusive(const std::string& uuid, bool exclusive) override;

 private:
  const Open open_;
};

/// Remembers what was set, and fails where it is told to.
class FakeComputeModes final : public ComputeModes {
 public:
  std::map<std::string, bool> exclusive;
  std::map<std::string, Error> fail;
  Result<> SetExclusive(const std::string& uuid, bool on) override {
    if (const auto it = fail.find(uuid); it != fail.end()) return std::unexpected(it->second);
    exclusive[uuid] = on;
    return {};
  }
};

}  // namespace gpuop::operands::mps
