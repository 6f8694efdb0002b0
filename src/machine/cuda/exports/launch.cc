// Launches, and what functions say about themselves.

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

/// CU_LAUNCH_PARAM_*: parameters in one piece, given by a list of words.
void* const kParamEnd = nullptr;
void* const kParamPointer = reinterpret_cast<void*>(1);
void* const kParamSize = reinterpret_cast<void*>(2);

Cu Gather(const exec::Program& program, void** params, void** extra, std::vector<std::byte>& bytes) {
  bytes.assign(program.param_bytes, std::byte{0});
  if (params != nullptr) {
    for (std::size_t i = 0; i < program.params.size(); ++i)
      std::memcpy(bytes.data() + program.params[i].offset, params[i], program.params[i].size);
    return Cu::kSuccess;
  }
  if (extra == nullptr) return program.params.empty() ? Cu::kSuccess : Cu::kInvalidValue;
  const void* piece = nullptr;
  std::size_t size = 0;
  for (void** word = extra; *word != kParamEnd; word += 2) {
    if (*word == kParamPointer)
      piece = word[1];
    else if (*word == kParamSize)
      size = *static_cast<const std::size_t*>(word[1]);
    else
      return Cu::kInvalidValue;
  }
  if (piece == nullptr && !program.params.empty()) return Cu::kInvalidValue;
  std::memcpy(bytes.data(), piece, std::min(size, bytes.size()));
  return Cu::kSuccess;
}

Cu Launch(const void* handle, const LaunchShape& shape, void* stream_handle, void** params, void** extra) {
  return WithStream(stream_handle, [&](Driver& driver, Context& context, Stream* stream) {
    std::shared_ptr<Function> function;
    if (const Cu rc = driver.FindFunction(handle, context, function); rc != Cu::kSuccess) return rc;
    if (&function->module->context() != &context) return Cu::kInvalidContext;
    std::vector<std::byte> bytes;
    if (const Cu rc = Gather(*function->program, params, extra, bytes); rc != Cu::kSuccess) return rc;
    return context.Launch(*function, shape, std::move(bytes), stream);
  });
}

/// Runs `call` with what a CUfunction or CUkernel is in the current context.
template <class F>
Cu WithFunction(const void* handle, F call) {
  return WithContext([&](Driver& driver, Context& context) {
    std::shared_ptr<Function> function;
    const Cu rc = driver.FindFunction(handle, context, function);
    return rc != Cu::kSuccess ? rc : call(context, *function);
  });
}

std::optional<int> FunctionValue(const Context& context, const Function& function, int attribute) {
  const exec::Program& program = *function.program;
  switch (attribute) {
    case kFuncMaxThreads: return static_cast<int>(program.max_threads);
    case kFuncSharedBytes: return static_cast<int>(program.shared_bytes);
    case kFuncConstBytes: return static_cast<int>(program.const_bytes);
    case kFuncLocalBytes: return static_cast<int>(program.functions[0]->local_bytes);
    case kFuncRegisters: return static_cast<int>(std::clamp(program.functions[0]->registers, 16U, 255U));
    case kFuncPtxVersion: return program.compute;
    case kFuncBinaryVersion: return context.device().compute();
    case kFuncMaxDynamicShared: return function.max_dynamic_shared;
    case kFuncCarveout: return function.carveout;
    default: return attribute > 0 && attribute < kFuncAttributes ? std::optional(0) : std::nullopt;
  }
}

Cu SetFunctionValue(const Context& context, Function& function, int attribute, int value) {
  if (attribute == kFuncMaxDynamicShared) {
    const int most = AttributeOf(context.device(), 97).value_or(0) - static_cast<int>(function.program->shared_bytes);
    if (value < 0 || value > most) return Cu::kInvalidValue;
    function.max_dynamic_shared = value;
    return Cu::kSuccess;
  }
  if (attribute == kFuncCarveout) {
    if (value < -1 || value > 100) return Cu::kInvalidValue;
    function.carveout = value;
    return Cu::kSuccess;
  }
  return Cu::kInvalidValue;
}

}  // namespace

GPUOP_CUDA Cu cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, void* stream, void** params, void** extra) {
  return Launch(function, {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared}, stream, params, extra);
}
GPUOP_CUDA Cu cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                        unsigned bz, unsigned shared, void* stream, void** params) {
  const LaunchShape shape{.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared, .cooperative = true};
  return Launch(function, shape, stream, params, nullptr);
}
GPUOP_CUDA Cu cuLaunchKernelEx(const LaunchConfig* config, void* function, void** params, void** extra) {
  if (config == nullptr) return Cu::kInvalidValue;
  LaunchShape shape{.grid = {config->grid_x, config->grid_y, config->grid_z},
                    .block = {config->block_x, config->block_y, config->block_z},
                    .shared_bytes = config->shared_bytes};
  for (unsigned i = 0; i < config->attribute_count && config->attributes != nullptr; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kLaunchCooperative) shape.cooperative = attribute.value.cooperative != 0;
    const auto& cluster = attribute.value.cluster;
    if (attribute.id == kLaunchClusterDimension && cluster.x * cluster.y * cluster.z > 1) return Cu::kNotSupported;
  }
  return Launch(function, shape, config->stream, params, extra);
}

GPUOP_CUDA Cu cuFuncGetAttribute(int* value, int attribute, void* handle) {
  return WithFunction(handle, [&](Context& context, Function& function) {
    const auto found = FunctionValue(context, function, attribute);
    if (value == nullptr || !found) return Cu::kInvalidValue;
    *value = *found;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuFuncSetAttribute(void* handle, int attribute, int value) {
  return WithFunction(handle, [&](Context& context, Function& function) {
    return SetFunctionValue(context, function, attribute, value);
  });
}
GPUOP_CUDA Cu cuKernelGetAttribute(int* value, int attribute, void* handle, int) {
  return cuFuncGetAttribute(value, attribute, handle);
}
GPUOP_CUDA Cu cuKernelSetAttribute(int attribute, int value, void* handle, int) {
  return cuFuncSetAttribute(handle, attribute, value);
}
GPUOP_CUDA Cu cuFuncSetCacheConfig(void* handle, int) {
  return WithFunction(handle, [](Context&, Function&) { return Cu::kSuccess; });
}
GPUOP_CUDA Cu cuFuncSetSharedMemConfig(void* handle, int config) { return cuFuncSetCacheConfig(handle, config); }
GPUOP_CUDA Cu cuKernelSetCacheConfig(void* handle, int config, int) { return cuFuncSetCacheConfig(handle, config); }
GPUOP_CUDA Cu cuFuncGetName(const char** name, void* handle) {
  return WithFunction(handle, [&](Context&, Function& function) {
    if (name == nullptr) return Cu::kInvalidValue;
    *name = function.name.c_str();
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuFuncGetModule(void** made, void* handle) {
  return WithFunction(handle, [&](Context&, Function& function) {
    if (made == nullptr) return Cu::kInvalidValue;
    *made = function.module;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuFuncGetParamInfo(void* handle, std::size_t index, std::size_t* offset, std::size_t* size) {
  return WithFunction(handle, [&](Context&, Function& function) {
    if (index >= function.program->params.size() || offset == nullptr) return Cu::kInvalidValue;
    *offset = function.program->params[index].offset;
    if (size != nullptr) *size = function.program->params[index].size;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuKernelGetParamInfo(void* handle, std::size_t index, std::size_t* offset, std::size_t* size) {
  return cuFuncGetParamInfo(handle, index, offset, size);
}
GPUOP_CUDA Cu cuFuncGetParamCount(void* handle, std::size_t* count) {
  return WithFunction(handle, [&](Context&, Function& function) {
    if (count == nullptr) return Cu::kInvalidValue;
    *count = function.program->params.size();
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuKernelGetParamCount(void* handle, std::size_t* count) { return cuFuncGetParamCount(handle, count); }
/// Everything is loaded when its module is.
GPUOP_CUDA Cu cuFuncIsLoaded(int* state, void* handle) {
  return WithFunction(handle, [&](Context&, Function&) {
    if (state == nullptr) return Cu::kInvalidValue;
    *state = 1;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuFuncLoad(void* handle) {
  return WithFunction(handle, [](Context&, Function&) { return Cu::kSuccess; });
}

GPUOP_CUDA Cu cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* handle, int threads, std::size_t shared) {
  return WithFunction(handle, [&](Context& context, Function& function) {
    if (blocks == nullptr || threads <= 0) return Cu::kInvalidValue;
    *blocks = context.BlocksPerSm(function, threads, shared);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* handle, int threads,
                                                                   std::size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, shared);
}
GPUOP_CUDA Cu cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* handle, std::size_t (*shared_of)(int),
                                               std::size_t shared, int limit) {
  return WithFunction(handle, [&](Context& context, Function& function) {
    if (grid == nullptr || block == nullptr) return Cu::kInvalidValue;
    int best_threads = 0, best = 0;
    int most = static_cast<int>(function.program->max_threads);
    if (limit > 0) most = std::min(most, limit);
    for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
      const int blocks = context.BlocksPerSm(function, threads, shared_of == nullptr ? shared : shared_of(threads));
      if (blocks * threads <= best * best_threads) continue;
      best = blocks;
      best_threads = threads;
    }
    *block = best_threads;
    *grid = best * static_cast<int>(context.device().sm_count);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void* handle,
                                                        std::size_t (*shared_of)(int), std::size_t shared, int limit,
                                                        unsigned) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, handle, shared_of, shared, limit);
}
GPUOP_CUDA Cu cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* handle, int blocks, int threads) {
  return WithFunction(handle, [&](Context& context, Function& function) {
    if (bytes == nullptr || blocks <= 0 || context.BlocksPerSm(function, threads, 0) < blocks) return Cu::kInvalidValue;
    const int per_block = AttributeOf(context.device(), 81).value_or(0) / blocks - 1024;
    const int most = std::min(per_block, AttributeOf(context.device(), 97).value_or(0));
    *bytes = static_cast<std::size_t>(std::max(most - static_cast<int>(function.program->shared_bytes), 0));
    return Cu::kSuccess;
  });
}

}  // namespace gpuop::machine::cuda
