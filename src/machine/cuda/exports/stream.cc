// Streams and events.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

std::uint64_t Now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000 + static_cast<std::uint64_t>(now.tv_nsec);
}

template <class F>
Cu WithEvent(void* handle, F call) {
  return WithDriver([&](Driver& driver) {
    const std::shared_ptr<Event> event = driver.events.Find(handle);
    return event == nullptr ? Cu::kInvalidHandle : call(driver, event);
  });
}

constexpr unsigned kDisableTiming = 2;

}  // namespace

GPUOP_CUDA Cu cuStreamCreateWithPriority(void** made, unsigned flags, int priority) {
  if (made == nullptr || flags > 1) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context& context) {
    auto stream = std::make_shared<Stream>();
    stream->context = &context;
    stream->flags = flags;
    stream->priority = std::clamp(priority, -5, 0);
    stream->id = ++driver.ids;
    *made = driver.streams.Add(std::move(stream));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamCreate(void** made, unsigned flags) { return cuStreamCreateWithPriority(made, flags, 0); }
GPUOP_CUDA Cu cuStreamDestroy_v2(void* handle) {
  return WithDriver([&](Driver& driver) {
    if (IsDefaultStream(handle)) return Cu::kInvalidHandle;
    return driver.streams.Remove(handle) == nullptr ? Cu::kInvalidHandle : Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamDestroy(void* handle) { return cuStreamDestroy_v2(handle); }
GPUOP_CUDA Cu cuStreamSynchronize(void* handle) {
  return WithStream(handle, [](Driver&, Context& context, Stream* stream) { return context.Synchronize(stream); });
}
GPUOP_CUDA Cu cuStreamQuery(void* handle) {
  return WithStream(handle, [](Driver&, Context& context, Stream* stream) { return context.Query(stream); });
}
GPUOP_CUDA Cu cuStreamGetPriority(void* handle, int* priority) {
  return WithStream(handle, [&](Driver&, Context&, Stream* stream) {
    if (priority == nullptr) return Cu::kInvalidValue;
    *priority = stream == nullptr ? 0 : stream->priority;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamGetFlags(void* handle, unsigned* flags) {
  return WithStream(handle, [&](Driver&, Context&, Stream* stream) {
    if (flags == nullptr) return Cu::kInvalidValue;
    *flags = stream == nullptr ? 0 : stream->flags;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamGetId(void* handle, unsigned long long* id) {
  return WithStream(handle, [&](Driver&, Context&, Stream* stream) {
    if (id == nullptr) return Cu::kInvalidValue;
    *id = stream == nullptr ? 0 : stream->id;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamGetCtx(void* handle, void** made) {
  return WithStream(handle, [&](Driver&, Context& context, Stream*) {
    if (made == nullptr) return Cu::kInvalidValue;
    *made = &context;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamGetCtx_v2(void* handle, void** made, void** green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(handle, made);
}
GPUOP_CUDA Cu cuStreamGetDevice(void* handle, int* ordinal) {
  return WithStream(handle, [&](Driver&, Context& context, Stream*) {
    if (ordinal == nullptr) return Cu::kInvalidValue;
    *ordinal = context.device().ordinal;
    return Cu::kSuccess;
  });
}
/// All of a context's work is done in the order it was given, so an event of the same context is always behind.
GPUOP_CUDA Cu cuStreamWaitEvent(void* handle, void* event_handle, unsigned) {
  return WithStream(handle, [&](Driver& driver, Context& context, Stream* stream) {
    const auto event = driver.events.Find(event_handle);
    if (event == nullptr) return Cu::kInvalidHandle;
    const Queue::Ticket ticket = event->ticket;
    if (event->context == &context || ticket == 0) return Cu::kSuccess;
    context.Push(stream, [event, ticket] { event->context->Wait(ticket); });
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamIsCapturing(void* handle, int* status) {
  return WithStream(handle, [&](Driver&, Context&, Stream*) {
    if (status == nullptr) return Cu::kInvalidValue;
    *status = 0;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamGetCaptureInfo_v2(void* handle, int* status, std::uint64_t*, void*, void*, void*) {
  return cuStreamIsCapturing(handle, status);
}
GPUOP_CUDA Cu cuStreamGetCaptureInfo_v3(void* handle, int* status, std::uint64_t*, void*, void*, void*, void*) {
  return cuStreamIsCapturing(handle, status);
}
GPUOP_CUDA Cu cuThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver&) {
    *mode = 0;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuStreamBeginCapture_v2(void* handle, int) {
  return WithStream(handle, [](Driver&, Context&, Stream*) { return Cu::kStreamCaptureUnsupported; });
}
GPUOP_CUDA Cu cuStreamAttachMemAsync(void* handle, std::uint64_t address, std::size_t, unsigned) {
  return WithStream(handle, [&](Driver& driver, Context&, Stream*) {
    return driver.allocations.Find(address) ? Cu::kSuccess : Cu::kInvalidValue;
  });
}
GPUOP_CUDA Cu cuStreamAddCallback(void* handle, void (*callback)(void*, Cu, void*), void* data, unsigned flags) {
  if (callback == nullptr || flags != 0) return Cu::kInvalidValue;
  return WithStream(handle, [&](Driver&, Context& context, Stream* stream) {
    context.Push(stream, [=] { callback(handle, Cu::kSuccess, data); });
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuLaunchHostFunc(void* handle, void (*function)(void*), void* data) {
  if (function == nullptr) return Cu::kInvalidValue;
  return WithStream(handle, [&](Driver&, Context& context, Stream* stream) {
    context.Push(stream, [=] { function(data); });
    return Cu::kSuccess;
  });
}

GPUOP_CUDA Cu cuEventCreate(void** made, unsigned flags) {
  if (made == nullptr || flags > 7) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context& context) {
    auto event = std::make_shared<Event>();
    event->context = &context;
    event->flags = flags;
    *made = driver.events.Add(std::move(event));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuEventDestroy_v2(void* handle) {
  return WithDriver(
      [&](Driver& driver) { return driver.events.Remove(handle) == nullptr ? Cu::kInvalidHandle : Cu::kSuccess; });
}
GPUOP_CUDA Cu cuEventDestroy(void* handle) { return cuEventDestroy_v2(handle); }
GPUOP_CUDA Cu cuEventRecord(void* handle, void* stream_handle) {
  return WithStream(stream_handle, [&](Driver& driver, Context& context, Stream* stream) {
    const auto event = driver.events.Find(handle);
    if (event == nullptr || event->context != &context) return Cu::kInvalidHandle;
    event->ticket = context.Push(stream, [event] { event->time_ns = Now(); });
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuEventRecordWithFlags(void* handle, void* stream, unsigned) { return cuEventRecord(handle, stream); }
GPUOP_CUDA Cu cuEventQuery(void* handle) {
  return WithEvent(handle, [](Driver&, const std::shared_ptr<Event>& event) {
    if (const Cu error = event->context->Check(); error != Cu::kSuccess) return error;
    return event->context->Done(event->ticket) ? Cu::kSuccess : Cu::kNotReady;
  });
}
GPUOP_CUDA Cu cuEventSynchronize(void* handle) {
  return WithEvent(handle, [](Driver&, const std::shared_ptr<Event>& event) {
    event->context->Wait(event->ticket);
    return event->context->Check();
  });
}
GPUOP_CUDA Cu cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  if (milliseconds == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto begin = driver.events.Find(from), end = driver.events.Find(to);
    if (begin == nullptr || end == nullptr || begin->ticket == 0 || end->ticket == 0) return Cu::kInvalidHandle;
    if (((begin->flags | end->flags) & kDisableTiming) != 0) return Cu::kInvalidHandle;
    if (!begin->context->Done(begin->ticket) || !end->context->Done(end->ticket)) return Cu::kNotReady;
    *milliseconds =
        static_cast<float>(static_cast<double>(static_cast<std::int64_t>(end->time_ns - begin->time_ns)) / 1e6);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
  return cuEventElapsedTime(milliseconds, from, to);
}

}  // namespace gpuop::machine::cuda
