// How much a cache of 10,000 Nodes of 13 kB costs: time to sync, memory of the whole process after it and at its peak,
// and what a heartbeat of every Node costs. Exit status 1 when a limit is broken.

#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <future>
#include <string>

#include "base/log.h"
#include "base/text.h"
#include "base/thread_executor.h"
#include "kube/cache.h"
#include "kube/controller.h"
#include "kube/types/node.h"

namespace gpuop::kube {
namespace {

constexpr int kNodes = 10'000;
constexpr double kLimitMb = 96;
constexpr double kPeakLimitMb = 128;

/// A Node as a kubelet and node feature discovery make it: 70 labels, of which a few differ on every node, conditions,
/// images and managedFields that nobody here reads.
std::string NodeText(int number, int heartbeat) {
  const std::string name = "gpu-node-" + std::to_string(number);
  std::string out = R"({"metadata":{"name":")" + name + R"(","uid":"0f5a3c1e-7a54-4f0e-9d3b-)" +
                    std::to_string(100'000'000'000 + number) + R"(","resourceVersion":")" +
                    std::to_string(1'000'000 + heartbeat * kNodes + number) +
                    R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{)";
  for (int i = 0; i < 64; ++i)
    out += "\"feature.node.kubernetes.io/cpu-cpuid.FEATURE" + std::to_string(i) + "\":\"true\",";
  out += R"("kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","nvidia.com/gpu.count":"8",)";
  out += R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB","topology.kubernetes.io/zone":"zone-)" +
         std::to_string(number % 5) + R"(","kubernetes.io/hostname":")" + name + "\"},";
  out += R"("annotations":{"node.alpha.kubernetes.io/ttl":"0","csi.volume.kubernetes.io/nodeid":"{\"csi\":\")" + name +
         R"(\"}"},"managedFields":[)";
  for (int i = 0; i < 4; ++i) {
    out += i == 0 ? "" : ",";
    out += R"({"manager":"kubelet","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{)";
    for (int k = 0; k < 22; ++k)
      out +=
          (k == 0 ? "\"f:" : ",\"f:") + std::string("feature.node.kubernetes.io/field") + std::to_string(k) + "\":{}";
    out += "}}}";
  }
  out += R"(]},"spec":{"providerID":"cloud:///)" + name + R"("},"status":{"capacity":{"cpu":"128","memory":"1Ti",)";
  out += R"("nvidia.com/gpu":"8"},"allocatable":{"cpu":"128","memory":"1Ti","nvidia.com/gpu":"8"},"conditions":[)";
  for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
    out += std::string(type) == "MemoryPressure" ? "" : ",";
    out +=
        R"({"type":")" + std::string(type) + R"(","status":"False","lastHeartbeatTime":"2026-01-01T00:)" +
        (heartbeat < 10 ? "0" : "") + std::to_string(heartbeat) +
        R"(:00Z","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"KubeletHasSufficient","message":"all is well"})";
  }
  out += R"(],"addresses":[{"type":"InternalIP","address":"10.0.)" + std::to_string(number / 250) + "." +
         std::to_string(number % 250) + R"("}],"nodeInfo":{"kernelVersion":"6.8.0","architecture":"amd64"},"images":[)";
  for (int i = 0; i < 28; ++i) {
    out += i == 0 ? "" : ",";
    out +=
        R"({"names":["registry.example.com/team/image-)" + std::to_string(i) +
        R"(@sha256:0123456789abcdef0123456789abcdef0123456789abcdef","registry.example.com/image:1"],"sizeBytes":9})";
  }
  return out + "]}}";
}

/// Makes the answers as they are asked for, so that no server's memory is in the figures.
class NodeDoor final : public Door {
 public:
  Result<ApiResponse> Call(const ApiRequest& request, Duration, std::stop_token) override {
    int from = 0;
    int limit = kNodes;
    for (const auto& [name, value] : request.query) {
      if (name == "continue") from = static_cast<int>(ParseInt(value).value_or(0));
      if (name == "limit") limit = static_cast<int>(ParseInt(value).value_or(kNodes));
    }
    const int to = std::min(from + limit, kNodes);
    std::string body = R"({"kind":"NodeList","metadata":{"resourceVersion":"1000000")";
    if (to < kNodes) body += R"(,"continue":")" + std::to_string(to) + "\"";
    body += R"(},"items":[)";
    for (int i = from; i < to; ++i) body += (i == from ? "" : ",") + NodeText(i, 0);
    body += "]}";
    return ApiResponse{200, "application/json", std::move(body), {}};
  }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::shared_ptr<StreamSink> sink) override {
    opened_.set_value(std::move(sink));
    return std::make_unique<Stream>();
  }
  std::shared_ptr<StreamSink> WaitForWatch() { return opened_.get_future().get(); }

 private:
  std::promise<std::shared_ptr<StreamSink>> opened_;
};

double RssMb() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

double PeakMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double Since(TimePoint begin) { return std::chrono::duration<double>(SystemClock().Now() - begin).count(); }

int Run() {
  const double node_kb = static_cast<double>(NodeText(1234, 0).size()) / 1000;
  FakeLog log;
  NodeDoor door;
  ThreadExecutor executor(2);
  const TimePoint begin = executor.Now();
  Cache<Node> nodes(executor, Client(door));
  Controller controller(executor, log, {.name = "bench"}, [](const std::string&) -> Result<Next> { return Next{}; });
  std::atomic<int> heard = 0;
  std::promise<void> beaten;
  nodes.OnChange([&](const Change<Node>&) {
    if (++heard == 2 * kNodes) beaten.set_value();
  });
  controller.Watch<Node>(
      nodes, [](const Change<Node>& c) { return !c.old || !c.now || DiffersBeyondHeartbeat(*c.old, *c.now); });
  std::promise<void> synced;
  nodes.OnSynced([&] { synced.set_value(); });
  nodes.Start();
  synced.get_future().wait();
  const double sync_s = Since(begin);
  const double rss = RssMb();
  const double peak = PeakMb();

  const auto sink = door.WaitForWatch();
  const TimePoint beat = executor.Now();
  for (int i = 0; i < kNodes; ++i) sink->OnData(R"({"type":"MODIFIED","object":)" + NodeText(i, 1) + "}");
  beaten.get_future().wait();
  const double beat_s = Since(beat);
  const std::size_t reconciles = controller.queue().Depth() - kNodes;  // never started: the first ones all wait

  std::printf("nodes %d of %.1f kB\nsync %.2f s\nrss after sync %.1f MB\npeak rss %.1f MB\n", kNodes, node_kb, sync_s,
              rss, peak);
  std::printf("heartbeat of all %.2f s, reconciles %zu, rss %.1f MB\n", beat_s, reconciles, RssMb());
  const bool good = nodes.size() == kNodes && rss <= kLimitMb && peak <= kPeakLimitMb && reconciles == 0;
  std::printf("%s\n", good ? "ok" : "OVER THE LIMIT");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace gpuop::kube

int main() { return gpuop::kube::Run(); }
