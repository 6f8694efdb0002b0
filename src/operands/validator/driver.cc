// Component driver: the host's driver, or a driver container's.

#include <fmt/core.h>

#include "data/json.h"
#include "gpu/driver_root.h"
#include "kube/types/apps.h"
#include "operands/host/host_driver.h"
#include "operands/validator/components.h"
#include "operands/validator/dev_char.h"
#include "operands/validator/driver_features.h"
#include "operands/validator/probe.h"
#include "os/real_fs.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

constexpr const char* kReady = "driver-ready";
/// Whether the operator runs a driver container here: its DaemonSet has a policy for controller.
Result<bool> DriverIsManaged(const Surroundings& with) {
  if (with.client == nullptr) return Fail(Code::kUnavailable, with.api_error);
  ASSIGN(const auto sets, with.client->List<kube::DaemonSet>(
                              {.ns = with.options.ns, .label_selector = "app.kubernetes.io/component=nvidia-driver"}));
  for (const kube::DaemonSet& set : sets) {
    const kube::OwnerReference* const owner = set.meta.Controller();
    if (owner != nullptr && owner->api_version.view().starts_with("nvidia.com/") &&
        (owner->kind == "ClusterPolicy" || owner->kind == "NVIDIADriver"))
      return true;
  }
  return false;
}

class DriverValidation {
 public:
  explicit DriverValidation(const Surroundings& with) : with_(with) {}

  /// One look; nullopt when the driver works, and place() is known then.
  std::optional<api::Finding> Look() {
    if (with_.host == nullptr) return api::Finding{kDriverFailed, "/host is not mounted: nothing can be looked at"};
    const host::HostDriver own = host::FindHostDriver(*with_.host);
    if (own.present()) {
      const auto found = own.wsl ? std::nullopt : Check("/host", *with_.host);
      if (!found) return Accept(true, own.wsl);
      // A driver container beside remains of a host's driver counts; without one the host's own fault is the answer.
      if (!DriverIsManaged(with_).value_or(false)) return found;
    }
    return LookAtContainer();
  }
  const DriverPlace& place() const { return place_; }
  const DriverReport& report() const { return report_; }
  bool wsl() const { return wsl_; }

 private:
  std::optional<api::Finding> LookAtContainer() {
    const auto managed = DriverIsManaged(with_);
    if (!managed)
      return api::Finding{kDriverMissing,
                          "no driver on the host; asking for a driver container: " + managed.error().text};
    if (*managed && !with_.files.Has(".driver-ctr-ready"))
      return api::Finding{kDriverNotReady, with_.files.PathOf(".driver-ctr-ready") + " is not there"};
    const auto tree = os::RealFs::Open(with_.options.driver_install_dir_ctr);
    if (!tree)
      return api::Finding{kDriverMissing, "neither the host nor " + with_.options.driver_install_dir + " has a driver"};
    if (auto found = Check(with_.options.driver_install_dir_ctr, **tree)) return found;
    if (*managed)
      if (auto found = CheckFeatures(*with_.host, with_.own, with_.files.PathOf(".driver-ctr-ready"))) return found;
    return Accept(false, false);
  }

  std::optional<api::Finding> Check(const std::string& root, const os::Fs& driver) {
    const auto libraries = gpu::DriverLibraryCandidates(root, "libnvidia-ml.so.1");
    report_ = CheckDriver(*with_.host, driver, [&] {
      return with_.options.skip_gpu_init
                 ? DriverState()
                 : AskDriverInChild(with_.processes, libraries, with_.options.driver_limit, with_.stop);
    });
    const api::Finding* const broken = report_.Broken();
    return broken == nullptr ? std::nullopt : std::optional(*broken);
  }

  std::optional<api::Finding> Accept(bool host, bool wsl) {
    const Options& o = with_.options;
    wsl_ = wsl;
    if (host) {
      place_ = {true, o.host_root, "/host", o.host_root, "/host"};
      return std::nullopt;
    }
    place_ = {false, o.driver_install_dir, "/driver-root", o.host_root, "/host"};
    const auto dev = with_.own.Stat(o.driver_install_dir_ctr + "/dev");
    if (dev && dev->type == os::FileType::kFolder) {
      place_.dev_root = o.driver_install_dir;
      place_.dev_root_ctr = "/driver-root";
    }
    return std::nullopt;
  }

  const Surroundings& with_;
  DriverPlace place_;
  DriverReport report_;
  bool wsl_ = false;
};

/// Everything whose change can mend a driver. What /proc and /sys show comes with device nodes.
std::vector<std::string> Hints(const Surroundings& with) {
  std::vector<std::string> out = {with.files.PathOf(".driver-ctr-ready"), with.options.driver_install_dir_ctr};
  for (const char* const path : {"/host/dev/nvidiactl", "/host/dev/nvidia-uvm", "/host/dev/nvidia0",
                                 "/host/usr/bin/nvidia-smi", "/host/run/nvidia"})
    out.emplace_back(path);
  return out;
}

}  // namespace

Result<> ValidateDriver(const Surroundings& with) {
  // A node that starts has no file of an earlier look: what its condition still says is from before.
  if (!with.files.Has(kReady) && !with.files.Has("toolkit-ready"))
    Tell(with, {kValidating, "the node's driver is looked at"});
  DriverValidation validation(with);
  TRY(WaitUntilRight(with, kReady, Hints(with), [&] { return validation.Look(); }));
  if (with.options.dev_char_links && !validation.wsl() && with.dev_char != nullptr)
    TRY(LinkDevChar(*with.host, *with.dev_char));
  const DriverReport& report = validation.report();
  with.log.Info("the driver works", {{"version", report.driver.driver_version},
                                     {"gpus", std::to_string(report.driver.gpus.size())},
                                     {"owner", validation.place().host ? "host" : "container"},
                                     {"host", host::PlatformOf(*with.host)}});
  return with.files.Write(kReady, validation.place().Text());
}

}  // namespace gpuop::operands::validator
