#include "machine/cuda/driver/driver.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuop::machine::cuda {
namespace {

constexpr std::uint32_t kUnusable = layout::kFaultNeedsReset | layout::kFaultContexts | layout::kFaultPowerCable;

}  // namespace

Cu Driver::Open(Found found, const std::optional<std::string>& visible, std::unique_ptr<Driver>& driver) {
  std::vector<Device> devices;
  std::uint32_t version = 0;
  {
    const auto machine = found.state->Read();
    const std::uint32_t faults = machine->faults;
    if ((faults & layout::kFaultsWithoutDriver) != 0 || !found.nodes.Control()) return Cu::kNoDevice;
    if ((faults & layout::kFaultVersionMismatch) != 0) return Cu::kSystemDriverMismatch;
    if ((faults & layout::kFaultUvmMissing) != 0 || !found.nodes.Uvm()) return Cu::kUnknown;
    devices = VisibleToCuda(*machine, found.nodes, visible);
    if (devices.empty()) return Cu::kNoDevice;
    for (const Device& device : devices) {
      // GPUs before Hopper have no fabric state that NVML tells of, but need their NVSwitches set up all the same.
      const bool has_fabric = device.facts.fabric_supported != 0 || device.facts.nvlink_to_switch != 0;
      if (has_fabric && (faults & layout::kFaultFabric) != 0) return Cu::kSystemNotReady;
    }
    version = machine->cuda_driver;
  }
  driver.reset(new Driver(std::move(found.state), std::move(devices), version));
  return Cu::kSuccess;
}

Driver::Driver(std::unique_ptr<State> state, std::vector<Device> devices, std::uint32_t cuda_version)
    : state_(std::move(state)), devices_(std::move(devices)), cuda_version_(cuda_version) {
  primaries_.resize(devices_.size());
  for (const Device& device : devices_)
    default_pools.push_back(pools.Add(std::make_shared<Pool>(Pool{.ordinal = device.ordinal, .attributes = {}})));
}

Driver::~Driver() {
  libraries.RemoveIf([](const Library&) { return true; });
  functions.RemoveIf([](const Function&) { return true; });
  modules.RemoveIf([](const Module&) { return true; });
  contexts.RemoveIf([](const Context&) { return true; });
}

const Device* Driver::FindDevice(int ordinal) const {
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices_.size()
             ? &devices_[static_cast<std::size_t>(ordinal)]
             : nullptr;
}

Cu Driver::CreateContext(int ordinal, unsigned flags, Context*& made) {
  const Device* device = FindDevice(ordinal);
  if (device == nullptr) return Cu::kInvalidDevice;
  {
    const auto machine = state_->Read();
    const std::uint32_t faults = machine->devices[device->place.device].faults;
    if ((faults & (layout::kFaultOffBus | layout::kFaultLost)) != 0) return Cu::kUnknown;
    if ((faults & kUnusable) != 0) return Cu::kDeviceUnavailable;
  }
  auto client = Client::Attach(*state_, device->place);
  if (!client) return Cu::kDeviceUnavailable;
  auto context = std::make_shared<Context>(*state_, allocations, *device, std::move(*client), flags,
                                           NewestPtx(cuda_version_), ++ids);
  made = contexts.Add(std::move(context));
  return Cu::kSuccess;
}

Cu Driver::DestroyContext(const void* handle) {
  const auto context = contexts.Remove(handle);
  if (context == nullptr) return Cu::kInvalidContext;
  context->Synchronize(nullptr);
  functions.RemoveIf([&](const Function& function) { return &function.module->context() == context.get(); });
  libraries.RemoveIf([&](Library& library) {
    Lock lock(library.mu);
    library.modules.erase(context.get());
    return false;
  });
  modules.RemoveIf([&](Module& module) { return &module.context() == context.get(); });
  streams.RemoveIf([&](const Stream& stream) { return stream.context == context.get(); });
  events.RemoveIf([&](const Event& event) { return event.context == context.get(); });
  return Cu::kSuccess;
}

Cu Driver::RetainPrimary(int ordinal, Context*& context) {
  if (FindDevice(ordinal) == nullptr) return Cu::kInvalidDevice;
  Lock lock(mu_);
  Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
  if (primary.context == nullptr) {
    if (const Cu rc = CreateContext(ordinal, primary.flags, primary.context); rc != Cu::kSuccess) return rc;
  }
  ++primary.users;
  context = primary.context;
  return Cu::kSuccess;
}

Cu Driver::ReleasePrimary(int ordinal) {
  if (FindDevice(ordinal) == nullptr) return Cu::kInvalidDevice;
  Context* over = nullptr;
  {
    Lock lock(mu_);
    Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
    if (primary.users == 0) return Cu::kInvalidContext;
    if (--primary.users == 0) over = std::exchange(primary.context, nullptr);
  }
  if (over != nullptr) DestroyContext(over);
  return Cu::kSuccess;
}

Cu Driver::ResetPrimary(int ordinal) {
  if (FindDevice(ordinal) == nullptr) return Cu::kInvalidDevice;
  Context* over = nullptr;
  {
    Lock lock(mu_);
    Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
    over = std::exchange(primary.context, nullptr);
    primary.users = 0;
  }
  if (over != nullptr) DestroyContext(over);
  return Cu::kSuccess;
}

Cu Driver::SetPrimaryFlags(int ordinal, unsigned flags) {
  if (FindDevice(ordinal) == nullptr) return Cu::kInvalidDevice;
  Lock lock(mu_);
  Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
  primary.flags = flags;
  if (primary.context != nullptr) primary.context->flags = flags;
  return Cu::kSuccess;
}

void Driver::PrimaryState(int ordinal, unsigned& flags, bool& active) {
  Lock lock(mu_);
  const Primary& primary = primaries_[static_cast<std::size_t>(ordinal)];
  flags = primary.flags;
  active = primary.context != nullptr;
}

Cu Driver::InstantiateLibrary(Library& library, Context& context, std::shared_ptr<Module>& module) {
  Lock lock(library.mu);
  std::shared_ptr<Module>& known = library.modules[&context];
  if (known == nullptr) {
    JitLog log;
    if (const Cu rc = Module::LoadText(context, library.text, Refuse::kAtUse, log, known); rc != Cu::kSuccess) {
      TellPeople(log.error);
      return rc;
    }
  }
  module = known;
  return Cu::kSuccess;
}

Cu Driver::Instantiate(const Kernel& kernel, Context& context, std::shared_ptr<Function>& function) {
  std::shared_ptr<Module> module;
  if (const Cu rc = InstantiateLibrary(*kernel.library, context, module); rc != Cu::kSuccess) return rc;
  Function* found = module->Find(kernel.name);
  if (found == nullptr) return Cu::kNotFound;
  if (found->program == nullptr) {
    TellPeople(found->name + ": " + found->why);
    return Cu::kInvalidPtx;
  }
  function = std::shared_ptr<Function>(module, found);  // lives as long as its module
  return Cu::kSuccess;
}

Cu Driver::FindFunction(const void* handle, Context& context, std::shared_ptr<Function>& function) {
  function = functions.Find(handle);
  if (function != nullptr) return Cu::kSuccess;
  const auto kernel = kernels.Find(handle);
  return kernel == nullptr ? Cu::kInvalidHandle : Instantiate(*kernel, context, function);
}

}  // namespace gpuop::machine::cuda
