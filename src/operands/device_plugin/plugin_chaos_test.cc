// Random things happen to a machine; what is offered must be what is fit.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "operands/device_plugin/plugin_bed_test.h"

namespace gpuop::operands::device_plugin {
namespace {

/// A machine to which random things happen, and what of it is fit for work by the rules, told apart from how the
/// plugin finds out.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : rng_(seed), bed_(seed, {"--mig-strategy=mixed"}, "health: {quiet: 1m}") {
    bed_.driver.machine.devices.resize(3);
    bed_.driver.machine.closeness.resize(9);
    for (gpu::Device& device : bed_.driver.machine.devices) device.recovery_action = 0;
    whole_ = bed_.driver.machine.devices;
    gpus_.resize(3);
    bed_.watches = seed % 2 == 0;
    bed_.Start();
  }

  /// One thing happens; nullopt, or what is wrong two seconds later.
  std::optional<std::string> Step() {
    story_.append(story_.empty() ? "" : ", ").append(Happen());
    bed_.Run(2s);
    const auto want = Fit();
    auto got = Advertised();
    // What was broken for long is looked at less often; and a whole reading that hangs is given more time.
    if (got != want && std::ranges::includes(want, got)) bed_.Run(Plugin::kSlowPace);
    if (got != want && bed_.driver.hangs) bed_.Run(Plugin::kWholePatience);
    got = Advertised();
    if (want == got) return std::nullopt;
    return story_ + ": want " + Words(want) + ", got " + Words(got);
  }

 private:
  struct Gpu {
    bool lost = false, gone = false;
    /// Errors count against the whole of it, or against one GPU instance.
    std::set<unsigned> sick_instances;
    bool sick = false;
  };

  std::string Happen() {
    const std::size_t i = rng_.Below(3);
    const std::string gpu = std::to_string(i);
    Gpu& g = gpus_[i];
    const bool reachable = !g.lost && !g.gone && driver_up_ && !bed_.driver.hangs;
    switch (rng_.Below(11)) {
      case 0:
        if (!reachable) return "nothing";
        g.lost = true;
        Show();
        bed_.plugin->OnEvent(Event(Kind::kLost));
        return "lost " + gpu;
      case 1:
        if (!reachable) return "nothing";
        g.gone = true;
        Show();
        return "gone " + gpu;
      case 2: Restore(i); return "back " + gpu;
      case 3:
        if (!reachable) return "nothing";
        whole_[i].recovery_action = 1;
        g.sick = true;
        Show();
        bed_.plugin->OnEvent(Xid(48, i, {}));
        return "xid 48 " + gpu;
      case 4:
        if (!reachable) return "nothing";
        bed_.plugin->OnEvent(Xid(13, i, {}));
        return "xid 13 " + gpu;
      case 5: {
        if (!reachable || !whole_[i].mig.enabled) return "nothing";
        bed_.plugin->OnEvent(Xid(94, i, 1));
        g.sick_instances.insert(1);
        return "xid 94 on instance 1 of " + gpu;
      }
      case 6:
        if (!reachable || g.sick) return "nothing";
        Divide(i);
        return "mig " + gpu;
      case 7:
        if (bed_.driver.hangs) return "nothing";
        driver_up_ = !driver_up_;
        bed_.driver.fails =
            driver_up_ ? std::nullopt : std::optional(Error{Code::kUnavailable, "NVML_ERROR_DRIVER_NOT_LOADED"});
        if (driver_up_) Heal();
        return driver_up_ ? "driver up" : "driver down";
      case 8:
        if (!bed_.driver.hangs) {
          bed_.driver.hangs = true;
          return "hang";
        }
        bed_.driver.Mend();
        // What time healed while nobody could look.
        return std::exchange(quiet_, false) ? Quiet().append(", mend") : "mend";
      case 9: bed_.plugin->OnKubelet(); return "kubelet";
      default: bed_.Run(70s); return Quiet();
    }
  }

  static gpu::DeviceEvent Xid(unsigned xid, std::size_t gpu, std::optional<unsigned> gi) {
    return Event(Kind::kXid, "GPU-12345678-1234-1234-1234-12345678000" + std::to_string(gpu), xid, gi);
  }

  /// A reset, or whatever else brought it back.
  void Restore(std::size_t i) {
    Gpu& g = gpus_[i];
    if (g.lost || g.gone || whole_[i].recovery_action != 0U) {
      // Errors without advice outlive a reset that nothing shows.
      if (g.lost || g.gone || g.sick) g.sick_instances.clear();
      g.sick = false;
    }
    g.lost = g.gone = false;
    whole_[i].recovery_action = 0;
    Show();
  }

  void Divide(std::size_t i) {
    gpu::Inventory one;
    one.devices = {whole_[i]};
    if (!one.devices[0].mig.enabled)
      SetMig(one, 0, rng_.Below(2) == 0 ? "3g.20gb*2" : "1g.5gb*3");
    else
      one.devices[0].mig = gpu::MigState();
    whole_[i] = one.devices[0];
    gpus_[i].sick_instances.clear();
    Show();
    bed_.plugin->OnEvent(Event(Kind::kMigConfig, whole_[i].uuid));
  }

  void Heal() {
    for (Gpu& g : gpus_) g.sick_instances.clear();
  }

  std::string Quiet() {
    quiet_ |= bed_.driver.hangs;
    if (driver_up_ && !bed_.driver.hangs)
      for (std::size_t i = 0; i < 3; ++i)
        if (!gpus_[i].lost && !gpus_[i].gone && whole_[i].recovery_action == 0U) gpus_[i].sick_instances.clear();
    return "quiet";
  }

  /// The machine as the driver has it.
  void Show() {
    auto& devices = bed_.driver.machine.devices;
    devices.clear();
    for (std::size_t i = 0; i < 3; ++i) {
      if (gpus_[i].gone) continue;
      devices.push_back(whole_[i]);
      if (gpus_[i].lost) devices.back().unreadable = "NVML_ERROR_GPU_IS_LOST";
    }
    bed_.driver.machine.closeness.assign(devices.size() * devices.size(), {});
  }

  std::vector<std::string> Fit() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < 3; ++i) {
      const Gpu& g = gpus_[i];
      if (g.lost || g.gone || !driver_up_ || bed_.driver.hangs || whole_[i].recovery_action != 0U) continue;
      if (!whole_[i].mig.enabled) {
        if (g.sick_instances.empty()) out.push_back(whole_[i].uuid);
        continue;
      }
      for (const gpu::GpuInstance& instance : whole_[i].mig.instances)
        if (!g.sick_instances.contains(instance.id)) out.push_back(instance.compute_instances[0].uuid);
    }
    std::ranges::sort(out);
    return out;
  }

  std::vector<std::string> Advertised() const {
    std::vector<std::string> out;
    for (const auto& [name, offer] : bed_.kubelet.offers)
      for (std::size_t i = 0; i < offer->state.troubles.size(); ++i)
        if (offer->state.troubles[i].empty()) out.push_back(offer->state.resource.units[i].uuid);
    std::ranges::sort(out);
    return out;
  }

  Rng rng_;
  Bed bed_;
  std::vector<gpu::Device> whole_;
  std::vector<Gpu> gpus_;
  bool driver_up_ = true;
  std::string story_;
  /// It was quiet while the driver hung.
  bool quiet_ = false;
};

TEST(PluginTest, WhateverHappensOnlyWhatIsFitAndThereIsOfferedAsHealthy) {
  constexpr std::uint64_t kSequences = 10000;
  for (std::uint64_t seed = 1; seed <= kSequences; ++seed) {
    Chaos chaos(seed);
    for (int step = 0; step < 6; ++step) {
      const auto wrong = chaos.Step();
      ASSERT_FALSE(wrong) << "seed " << seed << ", step " << step << ": " << *wrong;
    }
  }
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
