// What the device plugin costs: usage: device_plugin_cost PROGRAM [IDLE SECONDS [REPLICAS]]
// Starts `PROGRAM nvidia-device-plugin` on a simulated DGX A100 and plays its kubelet: time from exec to registration,
// memory and CPU at rest, Allocate and GetPreferredAllocation one after another. Ends with status 1 when a limit of
// docs/benchmarks.md is broken by a release build.

#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "base/thread_executor.h"
#include "kube/kubelet/device_plugin.pb.h"
#include "net/grpc/client.h"
#include "net/grpc/server.h"
#include "os/temp_folder.h"

namespace gpuop {
namespace {

namespace api = kube::deviceplugin;
namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kSockets = "/var/lib/kubelet/device-plugins";

int RunProgram(const std::vector<std::string>& words) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  return pid;
}

/// The process whose command line holds `mark` and which is the plugin itself, not what started it.
int FindPlugin(const std::string& mark) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = ParseInt(entry.path().filename().string());
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (pid && text.contains(mark) && !text.contains(std::string("machine") + '\0' + "run"))
      return static_cast<int>(*pid);
  }
  return 0;
}

/// Kilobytes of a line of /proc/PID/status.
long StatusKib(int pid, const std::string& key) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::strtol(line.c_str() + key.size(), nullptr, 10);
  return 0;
}

/// Nanoseconds of CPU that all threads have used, from the scheduler.
double CpuSeconds(int pid) {
  double out = 0;
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    std::ifstream in(task.path() / "schedstat");
    double ns = 0;
    in >> ns;
    out += ns / 1e9;
  }
  return out;
}

struct Kubelet {
  std::mutex mu;
  std::condition_variable changed;
  bool registered = false;
  SteadyClock::time_point at;

  net::GrpcMethods Methods() {
    net::GrpcMethods methods;
    methods["/v1beta1.Registration/Register"] = net::GrpcUnary([this](const std::string&, auto) -> Result<std::string> {
      const std::scoped_lock lock(mu);
      registered = true;
      at = SteadyClock::now();
      changed.notify_all();
      return std::string();
    });
    return methods;
  }
};

/// `count` calls one after another: calls per second, and the server's CPU for each.
std::pair<double, double> Measure(net::GrpcClient& client, int pid, const std::string& method,
                                  const std::string& request, int count) {
  const double cpu = CpuSeconds(pid);
  const auto begin = SteadyClock::now();
  for (int i = 0; i < count; ++i)
    if (auto answer = client.Call("/v1beta1.DevicePlugin/" + method, request, std::chrono::seconds(10)); !answer) {
      fmt::print(stderr, "{}: {}\n", method, answer.error().text);
      std::exit(2);
    }
  const std::chrono::duration<double> took = SteadyClock::now() - begin;
  return {count / took.count(), (CpuSeconds(pid) - cpu) / count * 1e6};
}

int Run(const std::string& program, int idle_s, int replicas) {
  const auto folder = os::TempFolder::Make("/tmp");
  const std::string machine = folder->path() + "/m", sockets = machine + "/root" + kSockets;
  int status = 0;
  ::waitpid(RunProgram({program, "machine", "create", machine, "dgx-a100"}), &status, 0);
  fs::create_directories(sockets);
  std::ofstream(fs::path(machine) / "root" / "run/settings.yaml")
      << "version: v1\n"
      << (replicas > 1
              ? fmt::format("sharing: {{timeSlicing: {{resources: [{{name: gpu, replicas: {}}}]}}}}\n", replicas)
              : "");
  Kubelet kubelet;
  ThreadExecutor executor(1);
  auto server = net::GrpcServer::Start({.path = sockets + "/kubelet.sock"}, kubelet.Methods(), executor);
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().text);
    return 2;
  }
  const auto begin = SteadyClock::now();
  const int runner =
      RunProgram({program, "machine", "run", machine, "--", program, "nvidia-device-plugin", "--driver-root-ctr-path=/",
                  "--config-file=/run/settings.yaml", "--pass-device-specs"});
  {
    std::unique_lock lock(kubelet.mu);
    if (!kubelet.changed.wait_for(lock, std::chrono::seconds(20), [&] { return kubelet.registered; })) return 2;
  }
  const std::chrono::duration<double, std::milli> start = kubelet.at - begin;
  const int pid = FindPlugin("--driver-root-ctr-path=/");
  net::GrpcClient client(sockets + "/nvidia-gpu.sock");
  api::ListAndWatchResponse list;
  std::jthread watcher([&](const std::stop_token& stop) {
    static_cast<void>(net::GrpcClient(sockets + "/nvidia-gpu.sock")
                          .Stream(
                              "/v1beta1.DevicePlugin/ListAndWatch", "",
                              [&](const std::string& bytes) {
                                const std::scoped_lock lock(kubelet.mu);
                                list.ParseFromString(bytes);
                                kubelet.changed.notify_all();
                                return true;
                              },
                              std::nullopt, stop));
  });
  {
    std::unique_lock lock(kubelet.mu);
    kubelet.changed.wait_for(lock, std::chrono::seconds(20), [&] { return list.devices_size() > 0; });
  }
  const double before = CpuSeconds(pid);
  std::this_thread::sleep_for(std::chrono::seconds(idle_s));
  const double idle = CpuSeconds(pid) - before;
  const long rss = StatusKib(pid, "VmRSS:"), anonymous = StatusKib(pid, "RssAnon:");
  api::AllocateRequest allocate;
  allocate.add_container_requests()->add_devices_ids(list.devices(0).id());
  api::PreferredAllocationRequest preferred;
  auto* const one = preferred.add_container_requests();
  for (const auto& device : list.devices()) one->add_available_deviceids(device.id());
  one->set_allocation_size(4);
  const auto [calls, cpu] = Measure(client, pid, "Allocate", allocate.SerializeAsString(), 20000);
  const auto [choices, choice_cpu] =
      Measure(client, pid, "GetPreferredAllocation", preferred.SerializeAsString(), 5000);
  const long after = StatusKib(pid, "VmRSS:");
  fmt::print(
      "{} devices: registered after {:.1f} ms (with the machine's own start); at rest {} kB RSS, {} kB anonymous, {} "
      "threads, "
      "{:.4f} s of CPU in {} s; Allocate {:.0f} calls/s, {:.0f} us of CPU each; GetPreferredAllocation {:.0f} calls/s, "
      "{:.0f} us; then {} kB RSS\n",
      list.devices_size(), start.count(), rss, anonymous, StatusKib(pid, "Threads:"), idle, idle_s, calls, cpu, choices,
      choice_cpu, after);
  ::kill(pid, SIGTERM);
  ::waitpid(runner, &status, 0);
  watcher.request_stop();
  return rss <= 12 * 1024 && cpu <= 50 && idle / idle_s * 300 <= 0.01 ? 0 : 1;
}

}  // namespace
}  // namespace gpuop

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: device_plugin_cost PROGRAM [IDLE SECONDS [REPLICAS]]\n");
    return 2;
  }
  return gpuop::Run(std::filesystem::absolute(argv[1]), argc > 2 ? std::atoi(argv[2]) : 30,
                    argc > 3 ? std::atoi(argv[3]) : 1);
}
