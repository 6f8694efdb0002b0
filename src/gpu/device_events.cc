#include "gpu/device_events.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <thread>

#include "base/mutex.h"

namespace gpuop::gpu {
namespace {

using F = nvml::Functions;

constexpr unsigned long long kWanted = nvml::kEventTypeXidCriticalError | nvml::kEventMigConfigChange |
                                       nvml::kEventTypeDoubleBitEccError | nvml::kEventTypeSingleBitEccErrorStorm |
                                       nvml::kEventTypeGpuRecoveryAction | nvml::kEventTypeGpuUnavailableError;

DeviceEvent::Kind KindOf(unsigned long long type) {
  using Kind = DeviceEvent::Kind;
  if (type & nvml::kEventTypeXidCriticalError) return Kind::kXid;
  if (type & nvml::kEventMigConfigChange) return Kind::kMigConfig;
  if (type & (nvml::kEventTypeDoubleBitEccError | nvml::kEventTypeSingleBitEccErrorStorm)) return Kind::kEcc;
  if (type & nvml::kEventTypeGpuRecoveryAction) return Kind::kRecovery;
  if (type & nvml::kEventTypeGpuUnavailableError) return Kind::kLost;
  return Kind::kOther;
}

std::optional<unsigned> Instance(unsigned id) {
  return id == nvml::kGpuInstanceIdAny ? std::nullopt : std::optional(id);
}

class Waiter final : public DeviceEvents {
 public:
  Waiter(const Nvml& nvml, Executor& executor, OnEvent on_event, std::chrono::milliseconds wait, OnTurn on_turn,
         std::chrono::milliseconds mig_pace, nvml::EventSet set)
      : nvml_(nvml),
        executor_(executor),
        on_event_(std::make_shared<const OnEvent>(std::move(on_event))),
        on_turn_(std::move(on_turn)),
        wait_(wait),
        mig_pace_(mig_pace),
        set_(set) {}
  ~Waiter() override {
    thread_ = {};  // asks it to stop, and joins
    nvml_.Try(&F::EventSetFree, set_);
  }

  Result<> Register() {
    ASSIGN(const auto handles, nvml_.Devices());
    for (const Nvml::Handle& handle : handles) {
      if (handle.error) {
        unwatched_.push_back({{}, handle.error->text});
      } else {
        Register(handle.device);
      }
    }
    return {};
  }

  void Run() {
    thread_ = std::jthread([this](const std::stop_token& stop) { Wait(stop); });
  }

 private:
  void Register(nvml::Device device) {
    const auto uuid = nvml_.GetText(&F::DeviceGetUUID, device);
    if (!uuid) {
      unwatched_.push_back({{}, uuid.error().text});
      return;
    }
    watched_[device] = {.uuid = *uuid, .mig = MigOf(device)};
    const auto supported = nvml_.Get(&F::DeviceGetSupportedEventTypes, device);
    const unsigned long long kinds = kWanted & supported.value_or(0);
    auto done = supported ? nvml_.Call(&F::DeviceRegisterEvents, device, kinds, set_)
                          : Result<>(std::unexpected(supported.error()));
    if (done && (kinds & nvml::kEventTypeXidCriticalError) == 0)
      done = Fail(Code::kUnsupported, "this GPU reports no critical errors as events");
    if (!done) unwatched_.push_back({*uuid, done.error().text});
  }

  /// What shows that a GPU's MIG is not what it was; absent when the driver cannot say, or the GPU has no MIG.
  struct Mig {
    bool enabled = false, has_devices = false;
    bool operator==(const Mig&) const = default;
  };
  struct Watched {
    std::string uuid;
    std::optional<Mig> mig;
    /// It was another a look ago: whoever was told may have read what lay between two changes.
    bool settling = false;
  };

  std::optional<Mig> MigOf(nvml::Device device) const {
    unsigned current = 0, pending = 0;
    if (nvml_.Try(&F::DeviceGetMigMode, device, &current, &pending) != nvml::Return::kSuccess) return std::nullopt;
    if (current == 0) return Mig{};
    nvml::Device first = nullptr;
    const nvml::Return found = nvml_.Try(&F::DeviceGetMigDeviceHandleByIndex, device, 0U, &first);
    if (found != nvml::Return::kSuccess && found != nvml::Return::kNotFound) return std::nullopt;
    return Mig{.enabled = true, .has_devices = found == nvml::Return::kSuccess};
  }

  void LookAtMig() {
    for (auto& [device, watched] : watched_) {
      if (!watched.mig) continue;
      const auto now = MigOf(device);
      if (!now || (now == watched.mig && !watched.settling)) continue;
      watched.settling = now != watched.mig;
      watched.mig = now;
      Hand({.kind = DeviceEvent::Kind::kMigConfig,
            .uuid = watched.uuid,
            .data = 0,
            .gpu_instance = std::nullopt,
            .compute_instance = std::nullopt,
            .text = {}});
    }
  }

  void Wait(const std::stop_token& stop) {
    Duration pause{}, quiet{};
    while (!stop.stop_requested()) {
      nvml::EventData data{.device = nullptr,
                           .eventType = 0,
                           .eventData = 0,
                           .gpuInstanceId = nvml::kGpuInstanceIdAny,
                           .computeInstanceId = nvml::kComputeInstanceIdAny};
      const auto done = nvml_.Call(&F::EventSetWait_v2, set_, &data, static_cast<unsigned>(wait_.count()));
      const bool trouble = !done && done.error().code != Code::kTimeout;
      if (done) Hand(EventOf(data));
      if (trouble && pause == Duration::zero()) Hand(TroubleOf(done.error()));
      quiet += trouble ? Duration::zero() : Duration(wait_);
      if (quiet >= mig_pace_) {
        quiet = Duration::zero();
        LookAtMig();
      }
      if (on_turn_) on_turn_(trouble ? done : Result<>());
      if (trouble) {
        pause = std::clamp<Duration>(pause * 2, std::chrono::seconds(1), std::chrono::seconds(60));
        Pause(stop, pause);
        continue;
      }
      pause = Duration::zero();
    }
  }

  DeviceEvent EventOf(const nvml::EventData& data) const {
    const auto watched = watched_.find(data.device);
    return {.kind = KindOf(data.eventType),
            .uuid = watched == watched_.end() ? std::string() : watched->second.uuid,
            .data = data.eventData,
            .gpu_instance = Instance(data.gpuInstanceId),
            .compute_instance = Instance(data.computeInstanceId),
            .text = {}};
  }

  static DeviceEvent TroubleOf(const Error& error) {
    const bool lost = error.code == Code::kGone;
    return {.kind = lost ? DeviceEvent::Kind::kLost : DeviceEvent::Kind::kTrouble,
            .uuid = {},
            .data = 0,
            .gpu_instance = std::nullopt,
            .compute_instance = std::nullopt,
            .text = error.text};
  }

  void Hand(DeviceEvent event) {
    executor_.Post([on_event = on_event_, event = std::move(event)] { (*on_event)(event); });
  }

  /// A failing NVML is not asked again at once; a stop ends the pause.
  void Pause(const std::stop_token& stop, Duration pause) {
    Lock l(mu_);
    stopped_.wait_for(mu_, stop, pause, [] { return false; });
  }

  const Nvml& nvml_;
  Executor& executor_;
  const std::shared_ptr<const OnEvent> on_event_;
  const OnTurn on_turn_;
  const std::chrono::milliseconds wait_, mig_pace_;
  const nvml::EventSet set_;
  std::map<nvml::Device, Watched> watched_;
  Mutex mu_;
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<DeviceEvents>> DeviceEvents::Start(const Nvml& nvml, Executor& executor, OnEvent on_event,
                                                          std::chrono::milliseconds wait, OnTurn on_turn,
                                                          std::chrono::milliseconds mig_pace) {
  ASSIGN(const nvml::EventSet set, nvml.Get(&F::EventSetCreate));
  auto waiter = std::make_unique<Waiter>(nvml, executor, std::move(on_event), wait, std::move(on_turn), mig_pace, set);
  TRY(waiter->Register());
  waiter->Run();
  return waiter;
}

}  // namespace gpuop::gpu
