#include "gpu/cuda/driver.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace gpuop::gpu::cuda {
namespace {

constexpr std::array kNames = {
#define GPUOP_CUDA_NAME(name, ...) std::string_view("cu" #name),
    GPUOP_CUDA_FUNCTIONS(GPUOP_CUDA_NAME)
#undef GPUOP_CUDA_NAME
};

Functions Load(const os::Library& library) {
  Functions f;
  const auto load = [&](auto*& pointer, const char* name) {
    if (auto symbol = library.Symbol<std::remove_reference_t<decltype(*pointer)>>(name)) pointer = *symbol;
  };
#define GPUOP_CUDA_LOAD(name, ...) load(f.name, "cu" #name);
  GPUOP_CUDA_FUNCTIONS(GPUOP_CUDA_LOAD)
#undef GPUOP_CUDA_LOAD
  return f;
}

Code CodeOf(Status status) {
  switch (status) {
    case Status::kNoDevice:
    case Status::kInvalidDevice:
    case Status::kNotFound: return Code::kNotFound;
    case Status::kNotInitialized:
    case Status::kDeinitialized:
    case Status::kStubLibrary:
    case Status::kDeviceUnavailable:
    case Status::kNotReady:
    case Status::kSystemNotReady:
    case Status::kSystemDriverMismatch: return Code::kUnavailable;
    case Status::kInvalidImage:
    case Status::kNoBinaryForGpu:
    case Status::kInvalidPtx:
    case Status::kUnsupportedPtxVersion:
    case Status::kNotSupported:
    case Status::kCompatNotSupported: return Code::kUnsupported;
    case Status::kOutOfMemory:
    case Status::kLaunchOutOfResources: return Code::kTooLarge;
    case Status::kNotPermitted: return Code::kForbidden;
    case Status::kLaunchTimeout: return Code::kTimeout;
    case Status::kInvalidValue:
    case Status::kInvalidContext:
    case Status::kInvalidHandle: return Code::kInvalid;
    default: return Code::kIo;
  }
}

}  // namespace

Error Driver::Missing(std::size_t index) {
  return {Code::kUnsupported, std::string(kNames[index]) + ": this driver has no such function"};
}

Error Driver::ErrorOf(std::size_t index, Status status) const {
  const char* name = nullptr;
  const bool named = functions_.GetErrorName != nullptr && functions_.GetErrorName(status, &name) == Status::kSuccess &&
                     name != nullptr;
  return {CodeOf(status),
          std::string(kNames[index]) + ": " +
              (named ? std::string(name) : "CUDA error " + std::to_string(static_cast<unsigned>(status)))};
}

Result<std::unique_ptr<Driver>> Driver::Open(const std::vector<std::string>& paths) {
  Error first{Code::kNotFound, "no libcuda.so.1 below the driver root: is a driver installed?"};
  bool tried = false;
  for (const std::string& path : paths) {
    auto library = os::Library::Open(path);
    if (library) {
      const Functions functions = Load(*library);
      return Start(std::move(*library), functions);
    }
    if (!std::exchange(tried, true)) first.text = library.error().text;
  }
  return std::unexpected(std::move(first));
}

Result<std::unique_ptr<Driver>> Driver::Start(const Functions& functions) { return Start(std::nullopt, functions); }

Result<std::unique_ptr<Driver>> Driver::Start(std::optional<os::Library> library, const Functions& functions) {
  std::unique_ptr<Driver> driver(new Driver(std::move(library), functions));
  TRY(driver->Call(&Functions::Init, 0U));
  return driver;
}

Result<DeviceInfo> Driver::Describe(int ordinal) const {
  DeviceInfo info;
  ASSIGN(info.ordinal, Get(&Functions::DeviceGet, ordinal));
  char text[256] = {};
  TRY(Call(&Functions::DeviceGetName, text, static_cast<int>(sizeof text) - 1, info.ordinal));
  info.name = text;
  ASSIGN(const Uuid uuid, Get(&Functions::DeviceGetUuid_v2, info.ordinal));
  info.uuid = UuidText({uuid.bytes, sizeof uuid.bytes});
  ASSIGN(info.memory_bytes, Get(&Functions::DeviceTotalMem_v2, info.ordinal));
  ASSIGN(info.compute_major, Get(&Functions::DeviceGetAttribute, Attribute::kComputeMajor, info.ordinal));
  ASSIGN(info.compute_minor, Get(&Functions::DeviceGetAttribute, Attribute::kComputeMinor, info.ordinal));
  ASSIGN(info.multiprocessors, Get(&Functions::DeviceGetAttribute, Attribute::kMultiprocessorCount, info.ordinal));
  TRY(Call(&Functions::DeviceGetPCIBusId, text, static_cast<int>(sizeof text) - 1, info.ordinal));
  info.pci = text;
  return info;
}

Result<std::vector<DeviceInfo>> Driver::Devices() const {
  ASSIGN(const int count, Get(&Functions::DeviceGetCount));
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    ASSIGN(DeviceInfo info, Describe(i));
    devices.push_back(std::move(info));
  }
  return devices;
}

Buffer::Buffer(Buffer&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)), pointer_(other.pointer_), bytes_(other.bytes_) {}

Buffer::~Buffer() {
  // A device that is gone has freed it already.
  if (driver_ != nullptr) static_cast<void>(driver_->Call(&Functions::MemFree_v2, pointer_));
}

Result<std::unique_ptr<Session>> Session::Open(const Driver& driver, DeviceOrdinal device, const char* ptx) {
  std::unique_ptr<Session> session(new Session(driver, device));
  ASSIGN(const Context context, driver.Get(&Functions::DevicePrimaryCtxRetain, device));
  session->retained_ = true;
  TRY(driver.Call(&Functions::CtxSetCurrent, context));
  ASSIGN(session->module_, driver.Get(&Functions::ModuleLoadData, static_cast<const void*>(ptx)));
  return session;
}

Session::~Session() {
  // Nothing is left to be done about a failure here.
  if (module_ != nullptr) static_cast<void>(driver_.Call(&Functions::ModuleUnload, module_));
  if (retained_) static_cast<void>(driver_.Call(&Functions::DevicePrimaryCtxRelease_v2, device_));
}

Result<Buffer> Session::Allocate(std::size_t bytes) {
  ASSIGN(const DevicePtr pointer, driver_.Get(&Functions::MemAlloc_v2, bytes));
  return Buffer(driver_, pointer, bytes);
}

Result<> Session::LaunchWith(const char* kernel, const Shape& shape, void** parameters) {
  ASSIGN(const Function function, driver_.Get(&Functions::ModuleGetFunction, module_, kernel));
  TRY(driver_.Call(&Functions::LaunchKernel, function, shape.grid_x, shape.grid_y, 1U, shape.block_x, shape.block_y, 1U,
                   0U, static_cast<Stream>(nullptr), parameters, static_cast<void**>(nullptr)));
  return driver_.Call(&Functions::CtxSynchronize);
}

Result<Session::FreeMemory> Session::Memory() const {
  FreeMemory memory;
  TRY(driver_.Call(&Functions::MemGetInfo_v2, &memory.free, &memory.total));
  return memory;
}

}  // namespace gpuop::gpu::cuda
