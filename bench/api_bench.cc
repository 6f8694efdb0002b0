// api_bench: requests per second and watch fan-out of an API server, over HTTP, from threads of this one process; with
// the server's processes named also what each request cost them in CPU, and their memory after each part. The figures
// mean something as ratios between two servers measured in one run on one machine; CPU also on a busy one.

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "e2e/api/wire.h"

namespace gpuop::bench {
namespace {

using std::chrono::steady_clock;

constexpr int kThreads = 4;
constexpr Duration kLimit = std::chrono::seconds(30);
constexpr int kNodes = 500;
constexpr int kWatchers = 500;
constexpr int kWatchedWrites = 40;

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "api_bench: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T OrDie(Result<T> result) {
  if (!result) Die(result.error().text);
  return *std::move(result);
}

void MustSucceed(const Result<kube::ApiResponse>& response) {
  if (!response) Die(response.error().text);
  if (response->status >= 400) Die(response->body.substr(0, 300));
}

/// What the server's processes have used, as /proc tells it.
class Usage {
 public:
  explicit Usage(std::vector<std::string> pids) : pids_(std::move(pids)) {}

  /// CPU of all of them since they began, in seconds.
  double Cpu() const {
    double ticks = 0;
    for (const std::string& pid : pids_) {
      std::ifstream in("/proc/" + pid + "/stat");
      std::string text;
      std::getline(in, text, ')');
      for (int field = 3; field <= 15 && in >> text; ++field)
        if (field >= 14) ticks += std::stod(text);
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  double RssMb() const {
    double kib = 0;
    for (const std::string& pid : pids_) {
      std::ifstream in("/proc/" + pid + "/status");
      for (std::string line; std::getline(in, line);)
        if (line.starts_with("VmRSS:")) kib += std::stod(line.substr(6));
    }
    return kib / 1024;
  }
  static double OwnCpu() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  }
  bool Known() const { return !pids_.empty(); }

 private:
  std::vector<std::string> pids_;
};

/// Prints a part's figures when it ends.
class Part {
 public:
  Part(const Usage& usage, const char* name)
      : usage_(usage), name_(name), server_(usage.Cpu()), own_(Usage::OwnCpu()) {}

  void End(double count, const char* what) const {
    const double seconds = std::chrono::duration<double>(steady_clock::now() - start_).count();
    std::printf("%-9s %8.0f %s per second; CPU of one:", name_, count / seconds, what);
    if (usage_.Known()) std::printf(" %5.0f us of the server,", (usage_.Cpu() - server_) / count * 1e6);
    std::printf(" %4.0f us here", (Usage::OwnCpu() - own_) / count * 1e6);
    if (usage_.Known()) std::printf("; server %4.0f MB", usage_.RssMb());
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  const Usage& usage_;
  const char* name_;
  steady_clock::time_point start_ = steady_clock::now();
  double server_, own_;
};

/// A Node of about 13 kB: 70 labels and 25 images, as a GPU node with feature discovery has.
std::string NodeBody(int i) {
  const std::string n = std::to_string(i);
  std::string body =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"bench-)" + n + R"(","labels":{"bench":"1")";
  for (int k = 0; k < 69; ++k)
    body += R"(,"feature.node.kubernetes.io/cpu-cpuid.FEATURE)" + std::to_string(k) + R"(":"true")";
  body += R"(}},"status":{"capacity":{"cpu":"128","memory":"1Ti","nvidia.com/gpu":"8","pods":"110"},"images":[)";
  for (int k = 0; k < 25; ++k) {
    const std::string digest(64, static_cast<char>('a' + k % 6));
    body += std::string(k == 0 ? "" : ",") + R"({"names":["registry.test/team/application-)" + std::to_string(k) +
            "@sha256:" + digest + R"(","registry.test/team/application-)" + std::to_string(k) +
            R"(:v1.2.3"],"sizeBytes":123456789})";
  }
  return body + "]}}";
}

kube::ApiRequest Patch(int i, int round) {
  return {.method = "PATCH",
          .path = "/api/v1/nodes/bench-" + std::to_string(i),
          .query = {},
          .content_type = "application/merge-patch+json",
          .body = R"({"metadata":{"annotations":{"round":")" + std::to_string(round) + R"("}}})"};
}

/// Runs `make(i)` for `count` requests on kThreads threads, each with a door of its own.
void Measure(e2e::Wire& wire, const Usage& usage, const char* name, int count,
             const std::function<kube::ApiRequest(int)>& make) {
  std::vector<std::unique_ptr<kube::Door>> doors;
  for (int t = 0; t < kThreads; ++t) doors.push_back(OrDie(wire.DoorFor("", {})));
  for (auto& door : doors) MustSucceed(door->Call(make(0), kLimit, {}));
  std::atomic<int> next{1};
  const Part part(usage, name);
  {
    std::vector<std::jthread> threads;
    for (auto& door : doors)
      threads.emplace_back([&] {
        for (int i = next++; i <= count; i = next++) MustSucceed(door->Call(make(i), kLimit, {}));
      });
  }
  part.End(count, "requests");
}

/// Counts events that carry the bench's own writes.
class Counter final : public kube::StreamSink {
 public:
  explicit Counter(std::atomic<long>& events) : events_(events) {}
  void OnData(std::string_view piece) override {
    if (piece.starts_with(R"({"type":"MODIFIED")")) ++events_;
  }
  void OnEnd(Result<> why, std::optional<Duration>) override {
    if (!why) std::fprintf(stderr, "api_bench: a watch ended: %s\n", why.error().text.c_str());
  }

 private:
  std::atomic<long>& events_;
};

void MeasureFanOut(e2e::Wire& wire, const Usage& usage) {
  std::atomic<long> events{0};
  auto door = OrDie(wire.DoorFor("", {}));
  std::vector<std::unique_ptr<kube::Door>> doors;
  std::vector<std::unique_ptr<kube::Stream>> streams;
  // A door's pool has a bound of its own, hence several.
  for (int w = 0; w < kWatchers; ++w) {
    if (w % 100 == 0) doors.push_back(OrDie(wire.DoorFor("", {})));
    streams.push_back(doors.back()->Open({.path = "/api/v1/nodes",
                                          .query = {{"watch", "true"}, {"fieldSelector", "metadata.name=bench-1"}},
                                          .content_type = "",
                                          .body = ""},
                                         std::make_shared<Counter>(events)));
  }
  std::mutex mu;
  std::condition_variable never;
  auto wait = [&](Duration span) {
    std::unique_lock lock(mu);
    never.wait_for(lock, span);
  };
  // Write until every watch is heard, so that connecting is not measured.
  for (int round = 0; events < kWatchers && round < 200; ++round) {
    MustSucceed(door->Call(Patch(1, 100000 + round), kLimit, {}));
    wait(std::chrono::milliseconds(100));
  }
  wait(std::chrono::seconds(1));
  events = 0;
  const long wanted = static_cast<long>(kWatchers) * kWatchedWrites;
  const Part part(usage, "watch 500");
  for (int i = 0; i < kWatchedWrites; ++i) MustSucceed(door->Call(Patch(1, 200000 + i), kLimit, {}));
  const auto give_up = steady_clock::now() + std::chrono::seconds(60);
  while (events < wanted && steady_clock::now() < give_up) wait(std::chrono::milliseconds(1));
  if (events < wanted)
    Die("only " + std::to_string(events.load()) + " of " + std::to_string(wanted) + " watch events came");
  part.End(static_cast<double>(wanted), "events");
}

int Main(const std::string& kubeconfig, bool watches_alone, const Usage& usage) {
  auto wire = OrDie(e2e::Wire::FromKubeconfig(kubeconfig));
  {
    auto door = OrDie(wire->DoorFor("", {}));
    for (int i = 0; i < (watches_alone ? 2 : kNodes); ++i)
      MustSucceed(door->Call({.method = "POST",
                              .path = "/api/v1/nodes",
                              .query = {},
                              .content_type = "application/json",
                              .body = NodeBody(i)},
                             kLimit, {}));
  }
  if (watches_alone) return MeasureFanOut(*wire, usage), 0;
  Measure(*wire, usage, "GET", 4000, [](int i) {
    return kube::ApiRequest{
        .path = "/api/v1/nodes/bench-" + std::to_string(i % kNodes), .query = {}, .content_type = "", .body = ""};
  });
  Measure(*wire, usage, "LIST 500", 40, [](int) {
    return kube::ApiRequest{.path = "/api/v1/nodes", .query = {{"limit", "500"}}, .content_type = "", .body = ""};
  });
  Measure(*wire, usage, "PATCH", 2000, [](int i) { return Patch(i % kNodes, i); });
  Measure(*wire, usage, "apply", 2000, [](int i) {
    const std::string name = "bench-" + std::to_string(i % kNodes);
    return kube::ApiRequest{.method = "PATCH",
                            .path = "/api/v1/nodes/" + name,
                            .query = {{"fieldManager", "bench"}, {"force", "true"}},
                            .content_type = "application/apply-patch+yaml",
                            .body = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
                                    R"(","labels":{"applied":")" + std::to_string(i) + R"("}}})"};
  });
  MeasureFanOut(*wire, usage);
  return 0;
}

}  // namespace
}  // namespace gpuop::bench

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool watches_alone = std::erase(words, "--watches") > 0;
  if (words.empty())
    return std::fputs("usage: api_bench [--watches] KUBECONFIG [PID...]    (the server's processes)\n", stderr), 2;
  const std::string kubeconfig = words.front();
  words.erase(words.begin());
  return gpuop::bench::Main(kubeconfig, watches_alone, gpuop::bench::Usage(std::move(words)));
}
