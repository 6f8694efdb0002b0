#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "gpu/cuda_abi.h"
#include "gpu/table_index.h"
#include "os/library.h"

namespace gpuop::gpu::cuda {

/// What the driver says of a device that this process may use: a GPU, or a MIG device of one.
struct DeviceInfo {
  DeviceOrdinal ordinal = 0;
  std::string name;
  /// As 8-4-4-4-12 hexadecimal digits, without "GPU-" or "MIG-".
  std::string uuid;
  std::uint64_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  /// "0000:3B:00.0".
  std::string pci;
};

/// The CUDA driver, initialised. A call that fails says CUDA's own name of the error ("cuInit: CUDA_ERROR_NO_DEVICE"),
/// and its Code is for decisions: kNotFound (no device), kUnavailable (the driver is not ready or of another version),
/// kUnsupported (the GPU cannot run the image), kTooLarge (out of memory), kForbidden, kTimeout, kInvalid, and kIo for
/// what broke while it ran. Thread-safe, as the driver is.
class Driver {
 public:
  /// The first of `paths` that opens, initialised. kNotFound when none does. Which devices there are follows the
  /// environment variable CUDA_VISIBLE_DEVICES, which names GPUs and MIG devices by UUID.
  static Result<std::unique_ptr<Driver>> Open(const std::vector<std::string>& paths);
  /// The same on functions that are there already.
  static Result<std::unique_ptr<Driver>> Start(const Functions& functions);

  template <class... P>
  using Member = Status (*Functions::*)(P...);

  template <class... P, class... A>
  Result<> Call(Member<P...> function, A... args) const {
    auto* const f = functions_.*function;
    if (f == nullptr) return std::unexpected(Missing(MemberIndex(function)));
    if (const Status status = f(args...); status != Status::kSuccess)
      return std::unexpected(ErrorOf(MemberIndex(function), status));
    return {};
  }

  /// What the function's first parameter is filled with.
  template <class... P, class... A>
  auto Get(Member<P...> function, A... args) const
      -> Result<std::remove_pointer_t<std::tuple_element_t<0, std::tuple<P...>>>> {
    std::remove_pointer_t<std::tuple_element_t<0, std::tuple<P...>>> out{};
    TRY(Call(function, &out, args...));
    return out;
  }

  /// The CUDA that the driver serves: 12040 is 12.4.
  Result<int> Version() const { return Get(&Functions::DriverGetVersion); }
  Result<std::vector<DeviceInfo>> Devices() const;

 private:
  Driver(std::optional<os::Library> library, const Functions& functions)
      : library_(std::move(library)), functions_(functions) {}
  static Result<std::unique_ptr<Driver>> Start(std::optional<os::Library> library, const Functions& functions);
  static Error Missing(std::size_t index);
  Error ErrorOf(std::size_t index, Status status) const;
  Result<DeviceInfo> Describe(int ordinal) const;

  std::optional<os::Library> library_;
  const Functions functions_;
};

/// Device memory, freed with it. Must not outlive its Session.
class Buffer {
 public:
  Buffer(const Driver& driver, DevicePtr pointer, std::size_t bytes)
      : driver_(&driver), pointer_(pointer), bytes_(bytes) {}
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&&) = delete;

  DevicePtr pointer() const { return pointer_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const Driver* driver_;
  DevicePtr pointer_;
  std::size_t bytes_;
};

/// How many blocks and threads a kernel runs with.
struct Shape {
  unsigned grid_x = 1, grid_y = 1, block_x = 1, block_y = 1;
};

/// A device in use by this thread: its primary context, and one module loaded into it. Every call ends only when the
/// device has done it. For one thread.
class Session {
 public:
  /// Makes the device's primary context current for this thread and loads `ptx`, which must end with a zero byte.
  static Result<std::unique_ptr<Session>> Open(const Driver& driver, DeviceOrdinal device, const char* ptx);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<Buffer> Allocate(std::size_t bytes);
  template <class T>
  Result<Buffer> Upload(std::span<const T> values) {
    ASSIGN(Buffer buffer, Allocate(values.size_bytes()));
    TRY(driver_.Call(&Functions::MemcpyHtoD_v2, buffer.pointer(), static_cast<const void*>(values.data()),
                     values.size_bytes()));
    return buffer;
  }
  template <class T>
  Result<std::vector<T>> Download(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    TRY(driver_.Call(&Functions::MemcpyDtoH_v2, static_cast<void*>(values.data()), buffer.pointer(),
                     values.size() * sizeof(T)));
    return values;
  }
  /// Runs a kernel of the module and waits for it. `parameters` are of the types the kernel declares.
  template <class... P>
  Result<> Launch(const char* kernel, const Shape& shape, P... parameters) {
    void* list[] = {static_cast<void*>(&parameters)...};
    return LaunchWith(kernel, shape, list);
  }
  struct FreeMemory {
    std::size_t free = 0, total = 0;
  };
  Result<FreeMemory> Memory() const;

 private:
  Session(const Driver& driver, DeviceOrdinal device) : driver_(driver), device_(device) {}
  Result<> LaunchWith(const char* kernel, const Shape& shape, void** parameters);

  const Driver& driver_;
  const DeviceOrdinal device_;
  bool retained_ = false;
  Module module_ = nullptr;
};

}  // namespace gpuop::gpu::cuda
