// Primary and other contexts.

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

Cu Create(void** made, unsigned flags, int ordinal) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    Context* context = nullptr;
    if (const Cu rc = driver.CreateContext(ordinal, flags, context); rc != Cu::kSuccess) return rc;
    ContextStack().push_back(context);
    *made = context;
    return Cu::kSuccess;
  });
}

}  // namespace

GPUOP_CUDA Cu cuDevicePrimaryCtxRetain(void** made, int ordinal) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    Context* context = nullptr;
    const Cu rc = driver.RetainPrimary(ordinal, context);
    if (rc == Cu::kSuccess) *made = context;
    return rc;
  });
}
GPUOP_CUDA Cu cuDevicePrimaryCtxRelease_v2(int ordinal) {
  return WithDriver([&](Driver& driver) { return driver.ReleasePrimary(ordinal); });
}
GPUOP_CUDA Cu cuDevicePrimaryCtxRelease(int ordinal) { return cuDevicePrimaryCtxRelease_v2(ordinal); }
GPUOP_CUDA Cu cuDevicePrimaryCtxReset_v2(int ordinal) {
  return WithDriver([&](Driver& driver) { return driver.ResetPrimary(ordinal); });
}
GPUOP_CUDA Cu cuDevicePrimaryCtxReset(int ordinal) { return cuDevicePrimaryCtxReset_v2(ordinal); }
GPUOP_CUDA Cu cuDevicePrimaryCtxSetFlags_v2(int ordinal, unsigned flags) {
  return WithDriver([&](Driver& driver) { return driver.SetPrimaryFlags(ordinal, flags); });
}
GPUOP_CUDA Cu cuDevicePrimaryCtxSetFlags(int ordinal, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}
GPUOP_CUDA Cu cuDevicePrimaryCtxGetState(int ordinal, unsigned* flags, int* active) {
  return WithDriver([&](Driver& driver) {
    if (driver.FindDevice(ordinal) == nullptr) return Cu::kInvalidDevice;
    if (flags == nullptr || active == nullptr) return Cu::kInvalidValue;
    bool is_active = false;
    driver.PrimaryState(ordinal, *flags, is_active);
    *active = is_active ? 1 : 0;
    return Cu::kSuccess;
  });
}

GPUOP_CUDA Cu cuCtxCreate_v2(void** made, unsigned flags, int ordinal) { return Create(made, flags, ordinal); }
GPUOP_CUDA Cu cuCtxCreate_v3(void** made, void* affinity, int count, unsigned flags, int ordinal) {
  return affinity != nullptr && count != 0 ? Cu::kNotSupported : Create(made, flags, ordinal);
}
GPUOP_CUDA Cu cuCtxCreate_v4(void** made, void* params, unsigned flags, int ordinal) {
  return params != nullptr ? Cu::kNotSupported : Create(made, flags, ordinal);
}
GPUOP_CUDA Cu cuCtxDestroy_v2(void* handle) {
  return WithDriver([&](Driver& driver) {
    auto& stack = ContextStack();
    if (!stack.empty() && stack.back() == handle) stack.pop_back();
    return driver.DestroyContext(handle);
  });
}
GPUOP_CUDA Cu cuCtxDestroy(void* handle) { return cuCtxDestroy_v2(handle); }
GPUOP_CUDA Cu cuCtxPushCurrent_v2(void* handle) {
  return WithDriver([&](Driver& driver) {
    if (driver.contexts.Find(handle) == nullptr) return Cu::kInvalidContext;
    ContextStack().push_back(static_cast<Context*>(handle));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxPopCurrent_v2(void** handle) {
  return WithDriver([&](Driver&) {
    auto& stack = ContextStack();
    if (stack.empty()) return Cu::kInvalidContext;
    if (handle != nullptr) *handle = stack.back();
    stack.pop_back();
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxPushCurrent(void* handle) { return cuCtxPushCurrent_v2(handle); }
GPUOP_CUDA Cu cuCtxPopCurrent(void** handle) { return cuCtxPopCurrent_v2(handle); }
GPUOP_CUDA Cu cuCtxSetCurrent(void* handle) {
  return WithDriver([&](Driver& driver) {
    auto& stack = ContextStack();
    if (handle != nullptr && driver.contexts.Find(handle) == nullptr) return Cu::kInvalidContext;
    if (!stack.empty()) stack.pop_back();
    if (handle != nullptr) stack.push_back(static_cast<Context*>(handle));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxGetCurrent(void** handle) {
  if (handle == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver&) {
    *handle = ContextStack().empty() ? nullptr : ContextStack().back();
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxGetDevice(int* ordinal) {
  if (ordinal == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto context = CurrentContext(driver);
    if (context == nullptr) return Cu::kInvalidContext;
    *ordinal = context->device().ordinal;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxGetDevice_v2(int* ordinal, void* handle) {
  if (handle == nullptr) return cuCtxGetDevice(ordinal);
  if (ordinal == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto context = driver.contexts.Find(handle);
    if (context == nullptr) return Cu::kInvalidContext;
    *ordinal = context->device().ordinal;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxGetFlags(unsigned* flags) {
  return WithContext([&](Driver&, Context& context) {
    if (flags == nullptr) return Cu::kInvalidValue;
    *flags = context.flags;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxSetFlags(unsigned flags) {
  return WithContext([&](Driver&, Context& context) {
    context.flags = flags;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxGetId(void* handle, unsigned long long* id) {
  if (id == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto context = handle == nullptr ? CurrentContext(driver) : driver.contexts.Find(handle);
    if (context == nullptr) return Cu::kContextIsDestroyed;
    *id = context->id();
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxGetApiVersion(void* handle, unsigned* version) {
  if (version == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto context = handle == nullptr ? CurrentContext(driver) : driver.contexts.Find(handle);
    if (context == nullptr) return Cu::kInvalidContext;
    *version = 3020;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxSynchronize() {
  return WithContext([](Driver&, Context& context) { return context.Synchronize(nullptr); });
}
GPUOP_CUDA Cu cuCtxSynchronize_v2(void* handle) {
  if (handle == nullptr) return cuCtxSynchronize();
  return WithDriver([&](Driver& driver) {
    const auto context = driver.contexts.Find(handle);
    return context == nullptr ? Cu::kInvalidContext : context->Synchronize(nullptr);
  });
}
GPUOP_CUDA Cu cuCtxSetLimit(int limit, std::size_t value) {
  return WithContext([&](Driver&, Context& context) { return context.SetLimit(limit, value); });
}
GPUOP_CUDA Cu cuCtxGetLimit(std::size_t* value, int limit) {
  return WithContext([&](Driver&, Context& context) {
    std::uint64_t got = 0;
    if (value == nullptr) return Cu::kInvalidValue;
    const Cu rc = context.GetLimit(limit, got);
    *value = got;
    return rc;
  });
}
/// Preferences for caches, of which there are none.
GPUOP_CUDA Cu cuCtxGetCacheConfig(int* config) {
  return WithContext([&](Driver&, Context&) {
    if (config == nullptr) return Cu::kInvalidValue;
    *config = 0;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxSetCacheConfig(int) {
  return WithContext([](Driver&, Context&) { return Cu::kSuccess; });
}
GPUOP_CUDA Cu cuCtxGetSharedMemConfig(int* config) { return cuCtxGetCacheConfig(config); }
GPUOP_CUDA Cu cuCtxSetSharedMemConfig(int config) { return cuCtxSetCacheConfig(config); }
GPUOP_CUDA Cu cuCtxResetPersistingL2Cache() { return cuCtxSetCacheConfig(0); }
GPUOP_CUDA Cu cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return WithContext([&](Driver&, Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuCtxEnablePeerAccess(void* peer, unsigned flags) {
  return WithContext([&](Driver& driver, Context& context) {
    const auto other = driver.contexts.Find(peer);
    if (other == nullptr) return Cu::kInvalidContext;
    return flags != 0 ? Cu::kInvalidValue : context.EnablePeer(other.get());
  });
}
GPUOP_CUDA Cu cuCtxDisablePeerAccess(void* peer) {
  return WithContext([&](Driver& driver, Context& context) {
    const auto other = driver.contexts.Find(peer);
    return other == nullptr ? Cu::kInvalidContext : context.DisablePeer(other.get());
  });
}
GPUOP_CUDA Cu cuProfilerStart() {
  return WithDriver([](Driver&) { return Cu::kSuccess; });
}
GPUOP_CUDA Cu cuProfilerStop() { return cuProfilerStart(); }

}  // namespace gpuop::machine::cuda
