#include "operands/mps/daemon.h"

#include <sys/xattr.h>

#include <cstdlib>
#include <optional>

#include "base/text.h"

namespace gpuop::operands::mps {
namespace {

constexpr Duration kStartLimit = std::chrono::seconds(30), kQuitLimit = std::chrono::seconds(10);
constexpr const char* kPidFile = "/nvidia-cuda-mps-control.pid";
constexpr std::string_view kContainerLabel = "system_u:object_r:container_file_t:s0";

/// Lets containers use the folder where SELinux is on.
void LabelForContainers(const os::Fs& fs, const std::string& path, Log& log) {
  if (!fs.Stat("/sys/fs/selinux/enforce")) return;
  if (::lsetxattr(path.c_str(), "security.selinux", kContainerLabel.data(), kContainerLabel.size(), 0) != 0)
    log.Warn("folder keeps its SELinux label", {{"folder", path}});
}

/// "33.0" as the daemon writes it.
std::optional<std::int64_t> WholePercent(std::string_view text) { return ParseInt(text.substr(0, text.find('.'))); }

}  // namespace

std::string Daemon::Folder() const { return os::FolderOf(plan_.pipe_folder); }

Result<std::string> Daemon::Run(std::vector<std::string> more, std::string input, bool daemon,
                                const std::stop_token& stop) {
  os::Command command;
  command.argv = {parts_.program};
  command.argv.insert(command.argv.end(), more.begin(), more.end());
  command.env = parts_.environment;
  for (auto& [name, value] : plan_.Variables()) (*command.env)[name] = value;
  command.input = std::move(input);
  command.limit = daemon ? kStartLimit : kQuitLimit;
  command.leaves_daemon = daemon;
  ASSIGN(os::Exit exit, parts_.processes.Run(command, stop));
  if (exit.ok()) return std::move(exit.out);
  return Fail(Code::kUnavailable, Join(command.argv, " ") + ": " + exit.Describe());
}

Result<> Daemon::TryStart(const std::stop_token& stop) {
  for (const SharedGpu& gpu : plan_.gpus) TRY(parts_.modes.SetExclusive(gpu.uuid, true));
  for (const std::string& folder : {plan_.pipe_folder, plan_.log_folder}) {
    TRY(os::MakeFolders(parts_.fs, folder));
    LabelForContainers(parts_.fs, folder, parts_.log);
  }
  // Left by one that was killed: nobody is to take it for ours.
  TRY(os::RemoveIfThere(parts_.fs, Folder() + "/.started"));
  ASSIGN(alive_, parts_.fs.Lock(Folder() + "/.alive"));
  TRY(Run({"-d"}, "", true, stop));
  TRY(SetShares(stop));
  return parts_.fs.WriteAtomic(Folder() + "/.started", "");
}

/// A command that is refused is no failure of the program that hands it on: it prints why. The last answer is the share
/// of threads that clients get from now on.
Result<> Daemon::SetShares(const std::stop_token& stop) {
  ASSIGN(const std::string said, Run({}, plan_.Commands() + "get_default_active_thread_percentage\n", false, stop));
  std::string last;
  for (const std::string_view line : Split(said, '\n')) {
    if (Trim(line).empty()) continue;
    last = Trim(line);
    if (!WholePercent(last))
      parts_.log.Warn("MPS daemon refuses something", {{"resource", plan_.resource}, {"says", last}});
  }
  if (const auto share = WholePercent(last); share && std::abs(*share - plan_.ThreadPercentage()) <= 1) return {};
  return Fail(Code::kUnavailable, "it was told to give each client " + std::to_string(plan_.ThreadPercentage()) +
                                      " % of the threads and says " + Quote(last));
}

Result<> Daemon::Start(std::stop_token stop) {
  auto started = TryStart(stop);
  if (!started) {
    Abandon();
    return std::unexpected(std::move(started).error().During("MPS daemon of " + plan_.resource));
  }
  WatchIt();
  parts_.log.Info("MPS daemon runs", {{"resource", plan_.resource},
                                      {"gpus", std::to_string(plan_.gpus.size())},
                                      {"clients", std::to_string(plan_.replicas)}});
  return {};
}

void Daemon::WatchIt() {
  const std::string text = parts_.fs.Read(plan_.pipe_folder + kPidFile).value_or("");
  const auto pid = ParseInt(Trim(text));
  if (!pid || *pid <= 0) {
    parts_.log.Warn("MPS daemon did not write its number: its end will not be noticed", {{"resource", plan_.resource}});
    return;
  }
  auto watch = DaemonWatch::Start(
      static_cast<int>(*pid), plan_.log_folder + "/control.log",
      {.line = [this](std::string_view line) { parts_.log.Info("MPS daemon says", {{"line", std::string(line)}}); },
       .end =
           [this] {
             parts_.log.Error("MPS daemon has ended", {{"resource", plan_.resource}});
             parts_.ended();
           }});
  if (watch)
    watch_ = *std::move(watch);
  else if (watch.error().code == Code::kNotFound)
    parts_.ended();  // it was quicker
  else
    parts_.log.Warn("MPS daemon is not watched", {{"reason", watch.error().text}});
}

void Daemon::Bear(Result<> done) {
  if (!done)
    parts_.log.Warn("MPS daemon leaves something behind",
                    {{"resource", plan_.resource}, {"reason", done.error().text}});
}

/// Until it has ended; kTimeout while clients keep it. One that never ran, or has ended, does not answer.
Result<> Daemon::Quit() {
  auto quit = Run({}, "quit\n", false, {});
  if (quit) return {};
  if (quit.error().code == Code::kTimeout) return std::unexpected(std::move(quit).error());
  parts_.log.Info("MPS daemon does not answer", {{"resource", plan_.resource}, {"reason", quit.error().text}});
  return {};
}

void Daemon::Clean() {
  watch_.reset();
  for (const SharedGpu& gpu : plan_.gpus) Bear(parts_.modes.SetExclusive(gpu.uuid, false));
  Bear(os::RemoveTree(parts_.fs, Folder()));
  alive_.reset();
}

Result<> Daemon::Stop() {
  if (!Quit())
    return Fail(Code::kUnavailable, "MPS daemon of " + plan_.resource +
                                        " ends with its last client, and takes no other: containers still use it");
  Clean();
  return {};
}

void Daemon::Abandon() {
  Bear(Quit());
  Clean();
}

}  // namespace gpuop::operands::mps
