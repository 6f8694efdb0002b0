#include "machine/host/machine_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "machine/spec/build.h"
#include "machine/state/life.h"
#include "os/real_fs.h"
#include "os/system_error.h"

namespace gpuop::machine {
namespace {

/// What the driver writes into the kernel's log with an Xid.
std::string XidLine(const layout::Device& device, std::uint32_t xid) {
  std::string address = AddressOf(device.facts);
  address.resize(address.rfind('.'));
  const char* text = xid == 79   ? "GPU has fallen off the bus."
                     : xid == 48 ? "An uncorrectable double bit error (DBE) has been detected on GPU"
                     : xid == 63 ? "Row Remapper: New row marked for remapping, reset gpu to activate."
                     : xid == 64 ? "Row Remapper: Failed to remap row"
                     : xid == 74 ? "NVLink: fatal error detected on link"
                     : xid == 95 ? "Uncontained: DRAM"
                                 : "GPU error";
  return fmt::format("NVRM: Xid (PCI:{}): {}, pid='<unknown>', name=<unknown>, {}", address, xid, text);
}

/// The Xids that were reported between two counts of events.
std::vector<std::string> XidLines(const layout::Machine& machine, std::uint64_t before) {
  std::vector<std::string> out;
  for (std::uint64_t n = before; n < machine.events; ++n) {
    const layout::Event& event = machine.ring[n % layout::kMaxEvents];
    if (event.kind == layout::kEventXid)
      out.push_back(XidLine(machine.devices[event.device], static_cast<std::uint32_t>(event.data)));
  }
  return out;
}

Result<Spec> ReadSpecFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return os::FailErrno(errno, "open " + path);
  return ReadSpec(std::string(std::istreambuf_iterator<char>(in), {}), path);
}

}  // namespace

Result<MachineFolder> MachineFolder::Create(const std::string& folder, Spec spec, DriverFiles files) {
  std::error_code error;
  std::filesystem::create_directories(folder + "/root", error);
  if (error) return os::FailErrno(error.value(), "make " + folder);
  files.state = folder + "/state";
  Result<> built;
  TRY(State::Create(files.state, [&](layout::Machine& machine) { built = BuildMachine(spec, machine); }));
  if (!built) {
    ::unlink(files.state.c_str());
    return std::unexpected(std::move(built).error());
  }
  ASSIGN(const auto own, os::RealFs::Open(folder, os::RealFs::Durability::kNone));
  TRY(own->WriteAtomic("/machine.yaml", WriteSpec(spec)));
  ASSIGN(auto state, State::Open(files.state));
  MachineFolder out(folder, std::move(spec), std::move(files), std::move(state));
  TRY(out.Follow());
  TRY(out.BeginKernelLog());
  // Read first: a temporary of the loop's head would hold the state's lock while LogKernel waits for it.
  const std::vector<std::string> lines = XidLines(*out.state_->Read(), 0);
  for (const std::string& line : lines) TRY(out.LogKernel(line));
  return out;
}

Result<MachineFolder> MachineFolder::Open(const std::string& folder, DriverFiles files) {
  ASSIGN(Spec spec, ReadSpecFile(folder + "/machine.yaml"));
  files.state = folder + "/state";
  ASSIGN(auto state, State::Open(files.state));
  MachineFolder out(folder, std::move(spec), std::move(files), std::move(state));
  ASSIGN(out.shown_, out.Possible());
  TRY(out.Follow());
  return out;
}

/// Whatever another process may have shown before: all that could be there, as what it is not, so that what is wanted
/// is written and the rest goes.
Result<Tree> MachineFolder::Possible() const {
  auto all = std::make_unique<layout::Machine>();
  TRY(BuildMachine(spec_, *all));
  all->faults = 0;
  for (layout::Device& device : all->devices) {
    device.faults = 0;
    for (layout::GpuInstance& instance : device.instances) {
      instance.in_use = 1;
      for (layout::ComputeInstance& compute : instance.compute) compute.in_use = 1;
    }
  }
  Tree out;
  const Tree possible = RenderHost(spec_, *all, files_);
  for (const auto& [path, entry] : possible.entries()) out.Link(path, "");
  return out;
}

Tree MachineFolder::Render() const {
  const auto machine = state_->Read();
  return RenderHost(spec_, *machine, files_);
}

Result<> MachineFolder::Follow() {
  Tree now = Render();
  TRY(Update(root(), shown_, now));
  shown_ = std::move(now);
  return {};
}

Result<> MachineFolder::ShowPrograms(const std::string& view) const {
  ASSIGN(const Tree possible, Possible());
  return Show(possible, "/usr", root(), view);
}

/// A kernel that starts has said nothing yet.
Result<> MachineFolder::BeginKernelLog() {
  const std::string path = root() + "/dev/kmsg";
  if (!std::ofstream(path, std::ios::trunc)) return os::FailErrno(errno, "empty " + path);
  return LogKernel(fmt::format("Linux version {}", spec_.host.kernel));
}

Result<> MachineFolder::LogKernel(std::string_view text) {
  // As /dev/kmsg gives records: priority, sequence, microseconds since the boot, flags.
  const std::string path = root() + "/dev/kmsg";
  std::uint64_t since = 0;
  {
    const auto machine = state_->Read();
    since = (RealtimeNs() - machine->booted_ns) / 1000;
  }
  std::ofstream out(path, std::ios::app);
  out << fmt::format("4,{},{},-;{}\n", std::filesystem::file_size(path), since, text);
  if (!out.flush()) return os::FailErrno(errno, "write " + path);
  return {};
}

Result<> MachineFolder::Inject(const Fault& fault) {
  std::vector<std::string> lines;
  bool booted = false;
  {
    auto machine = state_->Write();
    const std::uint64_t before = machine->events, boots = machine->boots;
    TRY(machine::Inject(*machine, fault));
    lines = XidLines(*machine, before);
    booted = machine->boots != boots;
  }
  TRY(Follow());
  if (booted) TRY(BeginKernelLog());
  for (const std::string& line : lines) TRY(LogKernel(line));
  return {};
}

Result<> MachineFolder::Clear(const Fault& fault) {
  TRY(machine::Clear(*state_->Write(), fault));
  return Follow();
}

Result<> MachineFolder::ResetGpu(std::uint32_t gpu) {
  {
    auto machine = state_->Write();
    if (gpu >= machine->device_count) return Fail(Code::kInvalid, "there is no GPU " + std::to_string(gpu));
    TRY(ResetDevice(*state_, *machine, gpu));
  }
  return Follow();
}

DriverFiles OwnDriverFiles() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  DriverFiles out{.folder = (self.parent_path() / "driver").string(), .program = self.string(), .state = {}};
  if (const char* folder = std::getenv("GPUOP_DRIVER_FOLDER"); folder != nullptr && *folder != 0) out.folder = folder;
  return out;
}

Result<DriverFiles> LinkableDriverFiles(const std::string& folder, const DriverFiles& files) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return os::FailErrno(error.value(), "make " + folder);
  std::vector<fs::path> all{files.program};
  // None is a state: a machine without the driver's libraries can be made.
  for (const auto& entry : fs::directory_iterator(files.folder, error))
    if (entry.path().filename().string().starts_with("lib")) all.push_back(entry.path());
  DriverFiles out{.folder = folder, .program = {}, .state = {}};
  for (const fs::path& file : all) {
    if (file.empty()) continue;
    const std::string place = folder + "/" + file.filename().string();
    TRY(MakeSameFile(place, file));
    if (file == files.program) out.program = place;
  }
  return out;
}

}  // namespace gpuop::machine
