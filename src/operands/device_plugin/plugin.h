#pragma once
// The device plugin as a whole: asks the driver, keeps the roster, and offers what is in it.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strand.h"
#include "operands/device_plugin/driver.h"
#include "operands/device_plugin/mps_daemons.h"
#include "operands/device_plugin/outlet.h"
#include "operands/device_plugin/roster.h"

namespace gpuop::operands::device_plugin {

/// Makes ready what containers need besides the offer: CDI specs. May take its time, but answers as a task of the
/// plugin's executor. Called again when the GPUs, or the settings, are others than the last time.
using Prepare = std::function<void(std::shared_ptr<const gpu::Inventory> gpus, std::shared_ptr<const Settings> settings,
                                   std::function<void(Result<Extras>)> done)>;

/// For people, metrics and conditions.
struct Report {
  /// GPUs that were ever read, and those that can be read and have nothing against them.
  std::size_t known = 0, fit = 0;
  /// By GPU, of those that are not fit.
  std::map<std::string, std::string> troubles;
  /// Every resource that is offered, with its healthy and its other devices, and whether the kubelet watches it.
  struct Line {
    std::size_t healthy = 0, unhealthy = 0;
    bool live = false;
    bool operator==(const Line&) const = default;
  };
  std::map<std::string, Line> resources;
  bool operator==(const Report&) const = default;
};

/// Runs on one executor, which nothing here blocks. Nothing happens at all while all is well and the driver watches
/// itself. Otherwise GPUs are looked at every `kPace`: quickly, unless the driver told of something, or something is
/// missing. A driver that does not answer in time makes all devices unhealthy until it does.
class Plugin {
 public:
  struct Parts {
    Executor& executor;
    Driver& driver;
    Prepare prepare;
    MakeOutlet make_outlet;
    Log& log;
    /// Hears what has changed; may be empty.
    std::function<void(const Report&)> report;
    /// What makes a start fail; not called when the settings say to wait.
    std::function<void(const Error&)> fatal;
  };
  static constexpr Duration kPace = std::chrono::seconds(1);
  /// Between looks at what stays broken.
  static constexpr Duration kSlowPace = std::chrono::seconds(5);
  static constexpr Duration kPatience = std::chrono::milliseconds(900);
  /// For a driver that seems to hang already.
  static constexpr Duration kConfirm = std::chrono::milliseconds(200);
  /// A whole reading asks every GPU many things; the first one may have to wake them up.
  static constexpr Duration kWholePatience = std::chrono::seconds(2), kFirstPatience = std::chrono::minutes(1);

  Plugin(Parts parts, std::shared_ptr<const Settings> settings);
  ~Plugin();

  void Start();
  /// Other settings. `anew`: and every resource is registered again.
  void Use(std::shared_ptr<const Settings> settings, bool anew);
  void OnEvent(const gpu::DeviceEvent& event);
  /// What the driver tells by itself (NvmlDriver::Parts).
  void OnStir();
  void OnHang();
  /// The kubelet has a new socket; or sockets of ours may be gone.
  void OnKubelet();
  void OnSockets();
  /// Which resources' MPS daemons serve nobody: their shares are unfit as long.
  void OnDaemons(MissingDaemons missing);
  /// The kubelet watches something that it did not, or the other way round.
  void OnWatched();

 private:
  void Tick();
  /// Nothing is missing, asked or under way, and the driver speaks up when that changes.
  bool calm() const;
  /// Makes sure that there is a next Tick.
  void KeepTicking();
  void Ask(bool whole);
  /// Takes note when the driver found nothing new.
  void Collect();
  Duration Patience() const;
  void OnAnswer(Result<Driver::Answer> answer);
  void OnSilence(const Error& why);
  /// Brings what is offered in line with the roster.
  void Apply();
  void Ready(Result<Extras> extras);
  /// Shares whose MPS daemon is missing are unfit.
  void MissDaemons(std::vector<ResourceState>& states) const;
  void OfferAll(const std::vector<ResourceState>& states);
  /// While the node changes: what is offered, as far as it is still there.
  std::vector<ResourceState> Remaining(const std::vector<ResourceState>& states) const;
  void TellPlan(const Plan& plan);
  void TellDevices(const std::vector<ResourceState>& states);
  void TellReport();
  bool FailStart(const Error& error);

  struct Offered {
    std::shared_ptr<const Offer> offer;
    Affinity affinity;
    std::unique_ptr<Outlet> outlet;
  };

  const Parts parts_;
  std::shared_ptr<const Settings> settings_;
  Roster roster_;
  bool ticking_ = false, asking_ = false, asking_whole_ = false, silent_ = false, started_ = false;
  /// A whole reading is wanted, and the question before was a quick one.
  bool ask_whole_ = false, asked_ = false;
  TimePoint asked_at_, changed_at_, last_whole_;
  /// What was made ready, for which GPUs, and whether that is under way.
  std::shared_ptr<const gpu::Inventory> prepared_;
  std::shared_ptr<const Settings> prepared_for_;
  bool preparing_ = false, is_ready_ = false;
  TimePoint prepare_again_;
  Extras extras_;
  MissingDaemons missing_daemons_;
  std::map<std::string, Offered> offered_;
  std::map<std::string, std::string> told_;
  std::vector<std::string> told_plan_;
  std::string told_silence_, told_prepare_;
  std::optional<Report> last_report_;
  Strand strand_;
};

}  // namespace gpuop::operands::device_plugin
