#pragma once
// The plugin over a machine of plain data, on a virtual clock.

#include <algorithm>

#include "base/virtual_executor.h"
#include "operands/device_plugin/plugin.h"
#include "operands/device_plugin/testing/profiles.h"

namespace gpuop::operands::device_plugin {

using namespace std::chrono_literals;

inline gpu::DeviceEvent Event(gpu::DeviceEvent::Kind kind, std::string uuid = {}, unsigned xid = 0,
                              std::optional<unsigned> gi = {}) {
  return {.kind = kind,
          .uuid = std::move(uuid),
          .data = xid,
          .gpu_instance = gi,
          .compute_instance = gi ? std::optional(0U) : std::nullopt,
          .text = {}};
}
using Kind = gpu::DeviceEvent::Kind;

/// Answers from a machine that the test changes; while it hangs, not at all.
class FakeDriver final : public Driver {
 public:
  explicit FakeDriver(VirtualExecutor& executor) : executor_(executor) {}

  void Ask(Depth depth, OnAnswer done) override {
    ++asked;
    found_nothing_ = false;
    waiting_.emplace_back(depth, std::move(done));
    if (!hangs) executor_.PostAfter(1ms, [this] { AnswerAll(); });
  }
  bool FoundNothing() const override { return found_nothing_; }
  bool watching() const override { return watching_; }
  /// From now on it tells by itself, as NvmlDriver does.
  void Watch(Plugin& plugin) {
    executor_.PostAfter(NvmlDriver::kEventWait, [this, &plugin] { Turn(plugin); });
  }
  void Mend() {
    hangs = false;
    executor_.Post([this] { AnswerAll(); });
  }

  gpu::Inventory machine;
  std::optional<Error> fails;
  bool hangs = false;
  unsigned asked = 0;

 private:
  void Turn(Plugin& plugin) {
    if (hangs) {
      if (!std::exchange(missed_, true))
        executor_.PostAfter(NvmlDriver::kBeat - NvmlDriver::kEventWait, [&plugin] { plugin.OnHang(); });
    } else if (fails) {
      if (std::exchange(watching_, false)) plugin.OnEvent(Event(Kind::kTrouble));
    } else {
      watching_ = true;
      missed_ = false;
      if (told_ && told_->devices.size() != machine.devices.size()) plugin.OnStir();
    }
    Watch(plugin);
  }

  void AnswerAll() {
    if (hangs) return;
    for (auto& [depth, done] : std::exchange(waiting_, {})) {
      if (fails) {
        told_.reset();
        done(std::unexpected(*fails));
        continue;
      }
      // A quick look sees which GPUs there are, not what became of them.
      const bool same = told_ && told_->devices.size() == machine.devices.size();
      if (depth == Depth::kGlance && same) {
        found_nothing_ = true;
        continue;
      }
      if (depth == Depth::kCheck && same) {
        done(Answer{});
        continue;
      }
      told_ = std::make_shared<const gpu::Inventory>(machine);
      done(Answer{told_, {}});
    }
  }

  VirtualExecutor& executor_;
  std::shared_ptr<const gpu::Inventory> told_;
  std::vector<std::pair<Depth, OnAnswer>> waiting_;
  bool found_nothing_ = false, watching_ = false, missed_ = false;
};

/// What the kubelet would know.
struct FakeKubelet {
  std::map<std::string, std::shared_ptr<const Offer>> offers;
  std::map<std::string, int> registrations;
  bool listens = true;
};

class FakeOutlet final : public Outlet {
 public:
  FakeOutlet(FakeKubelet& kubelet, std::shared_ptr<const Offer> first)
      : kubelet_(kubelet), name_(first->state.resource.name) {
    Set(std::move(first));
  }
  ~FakeOutlet() override { kubelet_.offers.erase(name_); }
  void Set(std::shared_ptr<const Offer> offer) override { kubelet_.offers[name_] = std::move(offer); }
  void Register() override { ++kubelet_.registrations[name_]; }
  void Check() override {}
  bool live() const override { return kubelet_.listens; }

 private:
  FakeKubelet& kubelet_;
  const std::string name_;
};

struct Bed {
  explicit Bed(std::uint64_t seed = 1, std::vector<std::string> args = {}, const char* file = nullptr)
      : executor(seed), driver(executor) {
    driver.machine = MachineOf("a100");
    settings = std::make_shared<const Settings>(SettingsOf(args, file));
  }
  void Start() {
    plugin = std::make_unique<Plugin>(
        Plugin::Parts{
            .executor = executor,
            .driver = driver,
            .prepare =
                [this](auto gpus, auto, auto done) {
                  ++prepared;
                  prepared_gpus = gpus;
                  executor.PostAfter(2ms, [this, done] {
                    done(prepare_fails ? Result<Extras>(std::unexpected(*prepare_fails)) : Extras());
                  });
                },
            .make_outlet = [this](auto first) { return std::make_unique<FakeOutlet>(kubelet, std::move(first)); },
            .log = log,
            .report = [this](const Report& r) { report = r; },
            .fatal = [this](const Error& e) { fatal = e.text; }},
        settings);
    plugin->Start();
    if (watches) driver.Watch(*plugin);
    executor.RunFor(100ms);
  }
  void Run(Duration span) { executor.RunFor(span); }
  void Hear(unsigned xid, std::size_t gpu, std::optional<unsigned> gi = {}) {
    plugin->OnEvent(Event(Kind::kXid, driver.machine.devices[gpu].uuid, xid, gi));
  }
  /// "gpu=7/8": healthy of all, by resource.
  std::string Look() const {
    std::string out;
    for (const auto& [name, offer] : kubelet.offers) {
      std::size_t healthy = 0, all = 0;
      for (std::size_t i = 0; i < offer->state.troubles.size(); ++i) {
        const std::size_t ids = IdsOf(offer->state.resource.units[i]).size();
        all += ids;
        if (offer->state.troubles[i].empty()) healthy += ids;
      }
      out.append(out.empty() ? "" : " ").append(name.substr(11)).append("=");
      out.append(std::to_string(healthy)).append("/").append(std::to_string(all));
    }
    return out;
  }

  VirtualExecutor executor;
  FakeDriver driver;
  FakeKubelet kubelet;
  FakeLog log;
  std::shared_ptr<const Settings> settings;
  std::shared_ptr<const gpu::Inventory> prepared_gpus;
  std::optional<Error> prepare_fails;
  Report report;
  std::string fatal;
  int prepared = 0;
  bool watches = false;
  std::unique_ptr<Plugin> plugin;
};

}  // namespace gpuop::operands::device_plugin
