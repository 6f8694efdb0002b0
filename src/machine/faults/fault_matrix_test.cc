// Every fault, alone, on one machine: what NVML answers, what the host's files show, what the kernel's log says, what a
// CUDA program gets. No two of them look alike.

#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "gpu/cuda/workloads.h"
#include "machine/nvml/nvml_fixture_test.h"

namespace gpuop::machine {
namespace {

using gpu::nvml::Return;

/// What one machine shows.
struct Seen {
  Return init{}, handle{}, temperature{}, mig{};
  bool library = true, proc = true, module = true, node = true, uvm = true, smi_device = true;
  std::string xid;                ///< the last one of the kernel's log
  std::string extra;              ///< what else differs from a healthy machine
  std::string cuda = "computes";  ///< what comes of a kernel in a new process

  std::string Signature() const {
    return fmt::format(
        "init={} handle={} temperature={} mig={} library={} proc={} module={} node={} uvm={} xid={} {}cuda={}",
        static_cast<unsigned>(init), static_cast<unsigned>(handle), static_cast<unsigned>(temperature),
        static_cast<unsigned>(mig), library, proc, module, node, uvm, xid, extra, cuda);
  }
};

struct Row {
  Fault fault;
  Seen want;
};

constexpr Return kOk = Return::kSuccess;

class FaultMatrixTest : public NvmlTest {
 protected:
  bool Has(const std::string& path) const { return std::filesystem::exists(machine_->root() + path); }
  std::string Text(const std::string& path) const {
    std::ifstream in(machine_->root() + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// "Xid (PCI:0000:1b:00): 79, …" as "79"; empty without one.
  std::string LastXid() const {
    const std::string log = Text("/dev/kmsg");
    const std::size_t at = log.rfind("NVRM: Xid");
    if (at == std::string::npos) return {};
    const std::size_t begin = log.find("): ", at) + 3;
    return log.substr(begin, log.find(',', begin) - begin);
  }

  /// Figures of GPU 0 that are not what they were.
  std::string Figures(gpu::nvml::Device device) {
    std::string out;
    const auto add = [&](const char* name, auto result, auto healthy) {
      if (!result) return;
      if (*result != healthy) out += fmt::format("{}={} ", name, *result);
    };
    add("reasons", nvml_->Get(&F::DeviceGetCurrentClocksEventReasons, device), 1ULL);
    add("width", nvml_->Get(&F::DeviceGetCurrPcieLinkWidth, device), 16U);
    add("corrected",
        nvml_->Get(&F::DeviceGetTotalEccErrors, device, gpu::nvml::MemoryErrorType::kCorrected,
                   gpu::nvml::EccCounterType::kVolatileEcc),
        0ULL);
    add("uncorrected",
        nvml_->Get(&F::DeviceGetTotalEccErrors, device, gpu::nvml::MemoryErrorType::kUncorrected,
                   gpu::nvml::EccCounterType::kVolatileEcc),
        0ULL);
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (nvml_->Try(&F::DeviceGetRemappedRows, device, &corrected, &uncorrected, &pending, &failed) == kOk &&
        (pending | failed) != 0)
      out += fmt::format("pending={} failed={} ", pending, failed);
    for (unsigned link = 0; link < 18; ++link)
      if (const auto state = nvml_->Get(&F::DeviceGetNvLinkState, device, link);
          state && *state == gpu::nvml::EnableState::kDisabled)
        out += fmt::format("link{}=down ", link);
    gpu::nvml::FieldValue field{};
    field.fieldId = gpu::nvml::kFieldGetGpuRecoveryAction;
    if (nvml_->Try(&F::DeviceGetFieldValues, device, 1, &field) == kOk && field.value.uiVal != 0)
      out += fmt::format("action={} ", field.value.uiVal);
    const auto fabric =
        nvml_->GetVersion(gpu::nvml::VersionOf<gpu::nvml::GpuFabricInfoV3>(3), &F::DeviceGetGpuFabricInfoV, device);
    if (fabric && fabric->state != 3) out += fmt::format("fabric={} ", fabric->state);
    if (nvml_->Try(&F::DeviceSetPersistenceMode, device, gpu::nvml::EnableState::kEnabled) == Return::kNoPermission)
      out += "read-only ";
    return out;
  }

  std::string Files() const {
    std::string out;
    const std::string kernel = machine_->spec().host.kernel;
    if (const std::string module = Text("/usr/lib/modules/" + kernel + "/updates/dkms/nvidia.ko");
        !module.empty() && !module.contains("vermagic=" + kernel))
      out += "vermagic ";
    if (const std::string version = Text("/proc/driver/nvidia/version");
        !version.empty() && !version.contains(machine_->spec().driver.version))
      out += "other-version ";
    if (Text("/sys/bus/pci/devices/0000:1b:00.0/config").starts_with("\xff\xff")) out += "config=ff ";
    return out;
  }

  /// What a process that starts now gets from CUDA: an error's name, or whether a vector add is right.
  std::string Cuda() const {
    if (!Has("/usr/lib/x86_64-linux-gnu/libcuda.so.1")) return "no library";
    int out[2];
    if (::pipe(out) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(2);
      const std::string text = Compute();
      (void)!::write(out[1], text.data(), text.size());
      ::_exit(0);
    }
    ::close(out[1]);
    std::string text(256, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(out[0], text.data(), text.size()))));
    ::close(out[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : text;
  }
  static std::string Compute() {
    const auto driver = gpu::cuda::Driver::Open({OwnDriverFiles().folder + "/libcuda.so.1"});
    if (!driver) return ErrorName(driver.error().text);
    const auto session = gpu::cuda::OpenWorkloads(**driver, 0);
    if (!session) return ErrorName(session.error().text);
    const auto added = gpu::cuda::RunVectorAdd(**session, 256);
    return added ? "computes" : added.error().text.contains("instead of") ? "wrong" : ErrorName(added.error().text);
  }
  /// "cuInit: CUDA_ERROR_NO_DEVICE" as its last word.
  static std::string ErrorName(const std::string& text) {
    const std::size_t at = text.find("CUDA_ERROR_");
    return at == std::string::npos ? text
                                   : text.substr(at, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at) - at);
  }

  Seen Look(gpu::nvml::Device before) {
    Seen out;
    out.temperature = nvml_->Try(&F::DeviceGetPowerUsage, before, &ignored_);
    unsigned current = 0, pending = 0;
    out.mig = nvml_->Try(&F::DeviceGetMigMode, before, &current, &pending);
    Return activation{};
    if (out.mig == kOk) out.mig = nvml_->Try(&F::DeviceSetMigMode, before, current, &activation);
    out.extra = Figures(before);
    // A program that starts now.
    nvml_.reset();
    auto anew = gpu::Nvml::Open({OwnDriverFiles().folder + "/libnvidia-ml.so.1"});
    out.init = anew ? kOk : OfText(anew.error().text);
    gpu::nvml::Device device = nullptr;
    if (anew) out.handle = (*anew)->Try(&F::DeviceGetHandleByPciBusId_v2, "0000:1b:00.0", &device);
    out.library = Has("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
    out.proc = Has("/proc/driver/nvidia/version");
    out.module = Has("/sys/module/nvidia");
    out.node = Has("/dev/nvidia0");
    out.uvm = Has("/dev/nvidia-uvm");
    out.xid = LastXid();
    out.extra += Files();
    out.cuda = Cuda();
    return out;
  }

  static Return OfText(const std::string& text) {
    return text.contains("NVML_ERROR_LIB_RM_VERSION_MISMATCH") ? Return::kLibRmVersionMismatch
           : text.contains("NVML_ERROR_DRIVER_NOT_LOADED")     ? Return::kDriverNotLoaded
                                                               : Return::kUnknown;
  }

 private:
  unsigned ignored_ = 0;
};

/// With no driver in the kernel every call says so.
Seen WithoutDriver(bool library, std::string extra, std::string cuda) {
  return {.init = Return::kDriverNotLoaded,
          .handle = kOk,
          .temperature = Return::kDriverNotLoaded,
          .mig = Return::kDriverNotLoaded,
          .library = library,
          .proc = false,
          .module = false,
          .node = false,
          .uvm = false,
          .xid = {},
          .extra = std::move(extra),
          .cuda = std::move(cuda)};
}

std::vector<Row> Rows() {
  const auto gpu = [](const char* name, std::optional<std::int64_t> value = {}) {
    return Fault{.fault = name, .gpu = 0, .value = value};
  };
  const auto dead = [](Return handle, Return query, const char* xid, const char* extra, const char* cuda = "computes") {
    return Seen{.handle = handle, .temperature = query, .mig = query, .xid = xid, .extra = extra, .cuda = cuda};
  };
  const auto extra = [](const char* text, const char* xid = "", const char* cuda = "computes") {
    return Seen{.xid = xid, .extra = text, .cuda = cuda};
  };
  return {
      {gpu("contexts-dead"), extra("uncorrected=1 action=1 ", "95", "CUDA_ERROR_DEVICE_UNAVAILABLE")},
      {gpu("device-node-missing"), {.handle = Return::kNotFound, .node = false, .xid = {}, .extra = {}}},
      {{.fault = "driver-missing"}, WithoutDriver(false, "", "no library")},
      {gpu("ecc-corrected", 5), extra("corrected=5 ")},
      {gpu("ecc-uncorrected", 2), extra("uncorrected=2 action=1 ", "48")},
      {{.fault = "fabric-not-ready"}, extra("fabric=2 ", "", "CUDA_ERROR_SYSTEM_NOT_READY")},
      {gpu("gpu-lost"), dead(kOk, Return::kGpuIsLost, "119", "")},
      {gpu("mig-busy"), {.mig = Return::kInUse, .xid = {}, .extra = {}}},
      {{.fault = "module-missing"}, WithoutDriver(true, "", "CUDA_ERROR_NO_DEVICE")},
      {{.fault = "module-vermagic"}, WithoutDriver(true, "vermagic ", "CUDA_ERROR_NO_DEVICE")},
      {gpu("needs-reset"), dead(kOk, Return::kResetRequired, "", "", "CUDA_ERROR_DEVICE_UNAVAILABLE")},
      {{.fault = "no-permission"}, {.mig = Return::kNoPermission, .xid = {}, .extra = "read-only "}},
      {gpu("nvlink-down", 4), extra("link4=down ", "74")},
      {gpu("off-bus"), dead(Return::kUnknown, Return::kGpuIsLost, "79", "config=ff ")},
      {gpu("pcie-degraded", 8), extra("width=8 ")},
      {gpu("power-brake"), extra("reasons=137 ")},
      {gpu("power-cable"),
       {.handle = Return::kInsufficientPower, .xid = "54", .extra = {}, .cuda = "CUDA_ERROR_DEVICE_UNAVAILABLE"}},
      {gpu("row-remap-failed"), extra("pending=0 failed=1 ", "64")},
      {gpu("row-remap-pending"), extra("pending=1 failed=0 action=1 ", "63")},
      {gpu("thermal"), extra("reasons=105 ")},
      {{.fault = "uvm-missing"}, {.uvm = false, .xid = {}, .extra = {}, .cuda = "CUDA_ERROR_UNKNOWN"}},
      {{.fault = "version-mismatch"},
       {.init = Return::kLibRmVersionMismatch,
        .handle = kOk,
        .temperature = Return::kLibRmVersionMismatch,
        .mig = Return::kLibRmVersionMismatch,
        .xid = {},
        .extra = "other-version ",
        .cuda = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}},
      {gpu("kernel-hang"), {.xid = {}, .extra = {}, .cuda = "hangs"}},
      {gpu("wrong-result"), {.xid = {}, .extra = {}, .cuda = "wrong"}},
      {gpu("xid", 13), extra("", "13")},
  };
}

TEST_F(FaultMatrixTest, EachFaultAloneShowsAsItDoesInLifeAndLikeNoOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: NVML refuses changes to others";
  std::map<std::string, std::string> signatures;
  On("dgx-h100");
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.fault.fault);
    Open();
    const auto device = Device(0);
    Break(row.fault);
    const Seen seen = Look(device);
    EXPECT_EQ(seen.Signature(), row.want.Signature());
    const auto [other, fresh] = signatures.emplace(seen.Signature(), row.fault.fault);
    EXPECT_TRUE(fresh) << "looks like " << other->second;
    // Mended (by a reboot, or by hand), the machine is as before.
    if (!FindFaultKind(row.fault.fault)->event) Mend(row.fault);
    std::filesystem::remove(machine_->root() + "/dev/kmsg");
    Break({.fault = "reboot"});
    Open();
    EXPECT_TRUE(Standing(*state().Read()).empty());
    EXPECT_EQ(Look(Device(0)).Signature(), Seen{}.Signature()) << "after " << row.fault.fault;
  }
  // hang has a test of its own, and the last three are over as they happen.
  for (const char* name : {"hang", "engine-restart", "power-loss", "reboot"}) signatures.emplace(name, name);
  EXPECT_EQ(signatures.size(), FaultKinds().size());
}

TEST_F(FaultMatrixTest, ARestartOfTheEngineAndAPowerLossAreCounted) {
  On("t4");
  Break({.fault = "engine-restart"});
  EXPECT_EQ(state().Read()->engine_starts, 2U);
  Break({.fault = "power-loss"});
  EXPECT_EQ(state().Read()->boots, 2U);
  EXPECT_EQ(state().Read()->engine_starts, 1U);
}

TEST_F(FaultMatrixTest, TwoFaultsShowTogether) {
  On("dgx-h100");
  const auto device = Device(0);
  Break({.fault = "thermal", .gpu = 0, .value = 95});
  Break({.fault = "pcie-degraded", .gpu = 0, .value = 4});
  EXPECT_EQ(Figures(device), "reasons=105 width=4 ");
  EXPECT_EQ(*nvml_->Get(&F::DeviceGetTemperature, device, gpu::nvml::TemperatureSensors::kGpu), 95U);
  EXPECT_EQ(Standing(*state().Read()).size(), 2U);
  Mend({.fault = "thermal", .gpu = 0});
  EXPECT_EQ(Figures(device), "width=4 ");
}

TEST_F(FaultMatrixTest, AFaultThatAGpuCannotHaveIsRefused) {
  On("t4");
  for (const Fault& fault :
       {Fault{.fault = "nvlink-down", .gpu = 0, .value = 1}, Fault{.fault = "row-remap-pending", .gpu = 0},
        Fault{.fault = "mig-busy", .gpu = 0}, Fault{.fault = "xid", .gpu = 3, .value = 79}})
    EXPECT_EQ(machine_->Inject(fault).error().code, Code::kInvalid) << fault.fault;
}

TEST_F(FaultMatrixTest, AResetCuresWhatAResetCures) {
  On("dgx-a100");
  for (const char* name : {"gpu-lost", "needs-reset", "contexts-dead", "kernel-hang", "row-remap-pending"}) {
    SCOPED_TRACE(name);
    Break({.fault = name, .gpu = 1});
    ASSERT_TRUE(machine_->ResetGpu(1));
    EXPECT_TRUE(Standing(*state().Read()).empty());
  }
  Break({.fault = "off-bus", .gpu = 1});
  EXPECT_EQ(machine_->ResetGpu(1).error().code, Code::kUnavailable);
  Break({.fault = "reboot"});
  EXPECT_TRUE(Standing(*state().Read()).empty());
}

TEST_F(FaultMatrixTest, AFaultOfTheMachineFileStandsInTheKernelsLogFromTheStart) {
  os::TempFolder fresh = *os::TempFolder::Make();
  Spec spec = *ReadSpec(*ReadyMadeMachine("l40s-x4"), "l40s-x4");
  spec.faults = {{.fault = "off-bus", .gpu = 1}};
  const auto made = MachineFolder::Create(fresh.path() + "/m", spec, NvmlTest::Files());
  ASSERT_TRUE(made) << made.error().text;
  std::ifstream log(made->root() + "/dev/kmsg", std::ios::binary);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(log), {}), testing::HasSubstr("): 79, "));
}

}  // namespace
}  // namespace gpuop::machine
