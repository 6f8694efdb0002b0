#pragma once
// What every entry point begins with: the driver of this process and the context of this thread.

#include <concepts>
#include <memory>
#include <vector>

#include "machine/cuda/driver/driver.h"

#define GPUOP_CUDA extern "C" __attribute__((visibility("default")))

namespace gpuop::machine::cuda {

/// cuInit: the first success counts, failures may be tried again.
Cu Initialize();
/// nullptr before cuInit, and in a child after fork(2), where CUDA does not work.
Driver* TheDriver();

/// The contexts of this thread, the current one last.
std::vector<Context*>& ContextStack();
/// The current context; nullptr: none, or it was destroyed.
std::shared_ptr<Context> CurrentContext(Driver& driver);

/// Runs `call` with the driver; nothing that it throws leaves the library.
template <class F>
Cu WithDriver(F call) {
  Driver* driver = TheDriver();
  return driver == nullptr ? Cu::kNotInitialized : call(*driver);
}

/// Runs `call` with the driver and the current context, if that is well.
template <class F>
Cu WithContext(F call) {
  return WithDriver([&](Driver& driver) {
    if (ContextStack().empty()) return Cu::kInvalidContext;
    const std::shared_ptr<Context> context = CurrentContext(driver);
    if (context == nullptr) return Cu::kContextIsDestroyed;
    if (const Cu error = context->Check(); error != Cu::kSuccess) return error;
    return call(driver, *context);
  });
}

/// Streams 0, 1 and 2 are the default stream and its two kinds (CU_STREAM_LEGACY, CU_STREAM_PER_THREAD).
inline bool IsDefaultStream(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

/// Runs `call(context, stream)` with the stream and its context; stream is nullptr for the default one.
template <class F>
Cu WithStream(const void* handle, F call) {
  if (IsDefaultStream(handle))
    return WithContext([&](Driver& driver, Context& context) { return call(driver, context, nullptr); });
  return WithDriver([&](Driver& driver) {
    const std::shared_ptr<Stream> stream = driver.streams.Find(handle);
    if (stream == nullptr) return Cu::kInvalidHandle;
    if (const Cu error = stream->context->Check(); error != Cu::kSuccess) return error;
    return call(driver, *stream->context, stream.get());
  });
}

/// Copies a text with its end into a buffer of `size` bytes.
void CopyText(std::string_view text, char* to, int size);

}  // namespace gpuop::machine::cuda
