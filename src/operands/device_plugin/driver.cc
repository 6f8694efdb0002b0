#include "operands/device_plugin/driver.h"

#include <algorithm>

#include "container/generate/parts.h"

namespace gpuop::operands::device_plugin {
namespace {

std::vector<bool> HandlesOf(const std::vector<gpu::Nvml::Handle>& devices) {
  std::vector<bool> out;
  for (const gpu::Nvml::Handle& device : devices) out.push_back(!device.error);
  return out;
}

}  // namespace

NvmlDriver::NvmlDriver(Parts parts) : parts_(std::move(parts)) {
  // Without a watchdog the driver is asked again and again.
  auto watchdog = os::Watchdog::Start([this] { parts_.executor.Post(parts_.on_hang); });
  if (watchdog) watchdog_ = *std::move(watchdog);
}

void NvmlDriver::Ask(Depth depth, OnAnswer done) {
  found_nothing_ = false;
  thread_.Post([this, depth, done = std::move(done)]() mutable {
    auto answer = Look(depth == Depth::kWhole);
    if (depth == Depth::kGlance && answer && answer->inventory == nullptr) {
      found_nothing_ = true;
      return;
    }
    parts_.executor.Post([done = std::move(done), answer = std::move(answer)]() mutable { done(std::move(answer)); });
  });
}

Result<Driver::Answer> NvmlDriver::Look(bool whole) {
  if (session_ == nullptr) {
    auto session = std::make_unique<Session>();
    ASSIGN(session->nvml, parts_.open());
    session->reader = std::make_unique<gpu::InventoryReader>(*session->nvml, &parts_.host);
    session_ = std::move(session);
    whole = true;
  }
  if (!whole && SameHandles(*session_->nvml)) return Answer{};
  auto answer = ReadAll();
  // Whatever is wrong, a driver that was exchanged wants to be opened anew.
  if (!answer) {
    Unwatch();
    session_.reset();
  }
  return answer;
}

bool NvmlDriver::SameHandles(const gpu::Nvml& nvml) const {
  const auto devices = nvml.Devices();
  Lock l(mu_);
  return devices && HandlesOf(*devices) == handles_;
}

Result<Driver::Answer> NvmlDriver::ReadAll() {
  ASSIGN(const auto devices, session_->nvml->Devices());
  ASSIGN(auto inventory, session_->reader->Read());
  {
    Lock l(mu_);
    handles_ = HandlesOf(devices);
  }
  if (Watch(inventory)) {  // what has changed before makes no event
    ASSIGN(inventory, session_->reader->Read());
  }
  Answer out;
  const bool mig = std::ranges::any_of(inventory.devices, [](const gpu::Device& d) { return d.mig.enabled; });
  if (mig)
    if (const auto text = parts_.host.Read("/proc/driver/nvidia-caps/mig-minors"))
      out.minors = container::ParseMigMinors(*text);
  out.inventory = std::make_shared<const gpu::Inventory>(std::move(inventory));
  return out;
}

bool NvmlDriver::Watch(const gpu::Inventory& inventory) {
  std::set<std::string> now;
  for (const gpu::Device& device : inventory.devices)
    if (device.unreadable.empty()) now.insert(device.uuid);
  if (std::ranges::includes(session_->watched, now)) return false;
  Unwatch();
  // A driver without events is asked more often, which is the caller's business.
  auto events =
      gpu::DeviceEvents::Start(*session_->nvml, parts_.executor, parts_.on_event, kEventWait,
                               [this, nvml = session_->nvml.get()](const Result<>& waited) { OnTurn(*nvml, waited); });
  if (events) session_->events = *std::move(events);
  session_->watched = std::move(now);
  return true;
}

void NvmlDriver::Unwatch() {
  session_->events.reset();  // from now on there are no turns
  watching_ = false;
  if (watchdog_) watchdog_->Rest();
}

void NvmlDriver::OnTurn(const gpu::Nvml& nvml, const Result<>& waited) {
  if (!watchdog_) return;
  if (!waited) {
    watching_ = false;
    return watchdog_->Rest();
  }
  watchdog_->Touch(kBeat);
  if (!SameHandles(nvml)) parts_.executor.Post(parts_.on_stir);
  watching_ = true;
}

}  // namespace gpuop::operands::device_plugin
