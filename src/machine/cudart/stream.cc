// Streams and events.

#include "machine/cudart/driver.h"

namespace gpuop::machine::cudart {

GPUOP_CUDART Error cudaStreamCreateWithPriority(void** made, unsigned flags, int priority) {
  return WithDevice([&](const Driver& driver) { return driver.StreamCreateWithPriority(made, flags, priority); });
}
GPUOP_CUDART Error cudaStreamCreateWithFlags(void** made, unsigned flags) {
  return cudaStreamCreateWithPriority(made, flags, 0);
}
GPUOP_CUDART Error cudaStreamCreate(void** made) { return cudaStreamCreateWithPriority(made, 0, 0); }
GPUOP_CUDART Error cudaStreamDestroy(void* stream) {
  return WithDevice([&](const Driver& driver) { return driver.StreamDestroy(stream); });
}
GPUOP_CUDART Error cudaStreamSynchronize(void* stream) {
  return WithDevice([&](const Driver& driver) { return driver.StreamSynchronize(stream); });
}
GPUOP_CUDART Error cudaStreamQuery(void* stream) {
  return WithDevice([&](const Driver& driver) { return driver.StreamQuery(stream); });
}
GPUOP_CUDART Error cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return WithDevice([&](const Driver& driver) { return driver.StreamWaitEvent(stream, event, flags); });
}
GPUOP_CUDART Error cudaStreamGetPriority(void* stream, int* priority) {
  return WithDevice([&](const Driver& driver) { return driver.StreamGetPriority(stream, priority); });
}
GPUOP_CUDART Error cudaStreamGetFlags(void* stream, unsigned* flags) {
  return WithDevice([&](const Driver& driver) { return driver.StreamGetFlags(stream, flags); });
}
GPUOP_CUDART Error cudaStreamGetId(void* stream, unsigned long long* id) {
  return WithDevice([&](const Driver& driver) { return driver.StreamGetId(stream, id); });
}
GPUOP_CUDART Error cudaStreamGetDevice(void* stream, int* device) {
  return WithDevice([&](const Driver& driver) { return driver.StreamGetDevice(stream, device); });
}
GPUOP_CUDART Error cudaStreamIsCapturing(void* stream, int* status) {
  return WithDevice([&](const Driver& driver) { return driver.StreamIsCapturing(stream, status); });
}
GPUOP_CUDART Error cudaStreamAttachMemAsync(void* stream, void* address, std::size_t bytes, unsigned flags) {
  return WithDevice(
      [&](const Driver& driver) { return driver.StreamAttachMemAsync(stream, Address(address), bytes, flags); });
}
GPUOP_CUDART Error cudaStreamAddCallback(void* stream, void (*callback)(void*, Cu, void*), void* data, unsigned flags) {
  return WithDevice([&](const Driver& driver) { return driver.StreamAddCallback(stream, callback, data, flags); });
}
GPUOP_CUDART Error cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return WithDevice([&](const Driver& driver) { return driver.LaunchHostFunc(stream, function, data); });
}

GPUOP_CUDART Error cudaEventCreateWithFlags(void** made, unsigned flags) {
  return WithDevice([&](const Driver& driver) { return driver.EventCreate(made, flags); });
}
GPUOP_CUDART Error cudaEventCreate(void** made) { return cudaEventCreateWithFlags(made, 0); }
GPUOP_CUDART Error cudaEventDestroy(void* event) {
  return WithDevice([&](const Driver& driver) { return driver.EventDestroy(event); });
}
GPUOP_CUDART Error cudaEventRecord(void* event, void* stream) {
  return WithDevice([&](const Driver& driver) { return driver.EventRecord(event, stream); });
}
GPUOP_CUDART Error cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return WithDevice([&](const Driver& driver) { return driver.EventRecordWithFlags(event, stream, flags); });
}
GPUOP_CUDART Error cudaEventQuery(void* event) {
  return WithDevice([&](const Driver& driver) { return driver.EventQuery(event); });
}
GPUOP_CUDART Error cudaEventSynchronize(void* event) {
  return WithDevice([&](const Driver& driver) { return driver.EventSynchronize(event); });
}
GPUOP_CUDART Error cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  return WithDevice([&](const Driver& driver) { return driver.EventElapsedTime(milliseconds, from, to); });
}

}  // namespace gpuop::machine::cudart
