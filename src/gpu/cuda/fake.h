#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/cuda_abi.h"

namespace gpuop::gpu::cuda {

/// The CUDA driver in this process: device memory is host memory, and the kernels of kernels.ptx run as their
/// references. One at a time in a process. Not thread-safe.
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  int devices = 1;
  std::size_t memory_bytes = 1U << 30;
  /// A function's answer ("cuMemAlloc_v2").
  std::map<std::string, Status, std::less<>> fail;
  /// After this kernel the first word of its output has one bit turned over.
  std::string wrong_kernel;
  /// What is allocated, loaded and retained just now: 0 when all was given back.
  int held() const { return static_cast<int>(memory_.size()) + modules_ + contexts_; }

  Functions Table() const;

  struct Calls;

 private:
  std::map<DevicePtr, std::vector<char>> memory_;
  std::vector<std::string> functions_;
  int modules_ = 0, contexts_ = 0;
};

}  // namespace gpuop::gpu::cuda
