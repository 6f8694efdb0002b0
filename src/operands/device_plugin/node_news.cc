#include "operands/device_plugin/node_news.h"

#include <algorithm>

#include "api/chain.h"
#include "operands/node_condition.h"
#include "os/pci.h"

namespace gpuop::operands::device_plugin {
namespace {

namespace json = boost::json;

constexpr Duration kFirstDelay = std::chrono::seconds(1), kLastDelay = std::chrono::minutes(1);
constexpr std::uint16_t kNvidia = 0x10de;
constexpr std::uint32_t k3d = 0x0302, kVga = 0x0300;
/// A condition's message is for a screen.
constexpr std::size_t kMostTroubles = 4;

json::object EventOf(const NodeNews& news, const kube::Node& node, WallTime now) {
  const std::string name = node.meta.name;
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", {{"generateName", name + ".gpus-"}, {"namespace", "default"}}},
          {"involvedObject", {{"kind", "Node"}, {"apiVersion", "v1"}, {"name", name}, {"uid", name}}},
          {"type", news.healthy ? "Normal" : "Warning"},
          {"reason", news.reason},
          {"message", news.message},
          {"source", {{"component", "nvidia-device-plugin"}, {"host", name}}},
          {"firstTimestamp", FormatTime(now)},
          {"lastTimestamp", FormatTime(now)},
          {"count", 1}};
}

}  // namespace

NodeNews NewsOf(const Report& report, std::size_t expected) {
  expected = std::max(expected, report.known);
  NodeNews out;
  const std::string counts = std::to_string(report.fit) + " of " + std::to_string(expected) + " GPUs are healthy";
  if (report.fit == expected) {
    out.reason = "AllHealthy";
    out.message = counts;
    return out;
  }
  out.healthy = false;
  const auto code = expected > report.known ? api::ReasonCode::kGpuMissing : api::ReasonCode::kDeviceUnhealthy;
  out.reason = api::Find(code).name;
  out.message = counts;
  if (expected > report.known)
    out.message += "; the driver has shown " + std::to_string(report.known) + " of those on the PCI bus";
  std::size_t listed = 0;
  for (const auto& [gpu, trouble] : report.troubles) {
    if (++listed > kMostTroubles) {
      out.message += "; and others";
      break;
    }
    out.message.append("; ").append(gpu).append(": ").append(trouble);
  }
  return out;
}

std::size_t CountPciGpus(const os::Fs& host) {
  const auto devices = os::ReadPciDevices(host);
  if (!devices) return 0;
  const auto count = [&](std::uint32_t kind) {
    return static_cast<std::size_t>(std::ranges::count_if(*devices, [&](const os::PciDevice& d) {
      return d.vendor == kNvidia && d.class_code >> 8U == kind && d.driver != "vfio-pci";
    }));
  };
  const std::size_t compute = count(k3d);
  return compute > 0 ? compute : count(kVga);
}

void NodeTeller::Tell(NodeNews news) {
  strand_.Post([this, news = std::move(news)]() mutable {
    if (news == wanted_ && !behind_) return;
    wanted_ = std::move(news);
    behind_ = true;
    delay_ = kFirstDelay;
    Turn();
  });
}

void NodeTeller::Turn() {
  const std::uint64_t turn = ++turn_;
  auto written = Write(wanted_);
  if (written) {
    behind_ = false;
    return;
  }
  log_.Warn("the node could not be told", {{"reason", written.error().text}});
  strand_.PostAfter(delay_, [this, turn] {
    if (turn == turn_) Turn();
  });
  delay_ = std::min(delay_ * 2, kLastDelay);
}

Result<> NodeTeller::Write(const NodeNews& news) {
  ASSIGN(const auto client, open_());
  ASSIGN(const kube::Node node, client->Get<kube::Node>(node_));
  const bool first = kube::FindCondition(node.status.conditions, kNewsCondition) == nullptr;
  const WallTime now = strand_.executor().Wall();
  const auto patch = PlanNodeCondition(node,
                                       {.type = kNewsCondition,
                                        .status = news.healthy ? "True" : "False",
                                        .reason = news.reason,
                                        .message = news.message},
                                       now);
  if (!patch) return {};
  kube::ObjectRef ref = kube::Ref<kube::Node>(node_);
  ref.subresource = "status";
  TRY(client->Patch(ref, kube::PatchType::kStrategic, *patch));
  // A node that begins well is no news.
  if (first && news.healthy) return {};
  TRY(client->Create({"", "v1", "events", "Event"}, EventOf(news, node, now)));
  log_.Info("the node was told", {{"reason", news.reason}, {"message", news.message}});
  return {};
}

}  // namespace gpuop::operands::device_plugin
