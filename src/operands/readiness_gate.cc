#include "operands/readiness_gate.h"

#include <utility>

#include "kube/decode.h"

namespace gpuop::operands {
namespace {

namespace json = boost::json;

kube::CacheOptions OneNode(const std::string& name, const ReadinessGate::Parts& parts) {
  return {.field_selector = "metadata.name=" + name, .seed = parts.seed, .log = &parts.log, .metrics = parts.metrics};
}

kube::Controller::Options Turns(const ReadinessGate::Parts& parts) {
  return {.name = "readiness-gate",
          .back_off = {.first = std::chrono::milliseconds(50), .longest = std::chrono::seconds(5)},
          .seed = parts.seed,
          .metrics = parts.metrics};
}

}  // namespace

ReadinessGate::ReadinessGate(Parts parts, std::string node, GateSettings settings)
    : node_(std::move(node)),
      settings_(std::move(settings)),
      executor_(parts.executor),
      client_(parts.client),
      log_(parts.log),
      cache_(parts.executor, parts.client, OneNode(node_, parts)),
      controller_(parts.executor, parts.log, Turns(parts), [this](const std::string&) { return Turn(); }) {
  if (parts.metrics != nullptr) {
    open_ = &parts.metrics->gauge("gpu_operator_readiness_gate_open",
                                  "1 while the node's devices are allocatable as the plugin offers them.");
    writes_ = &parts.metrics->counter("gpu_operator_readiness_gate_writes_total",
                                      "Writes of the node's taint and condition.");
  }
  controller_.Watch(cache_);
}

ReadinessGate::~ReadinessGate() = default;

void ReadinessGate::Start() {
  controller_.Start();
  cache_.Start();
}

void ReadinessGate::Set(Advertised advertised) {
  {
    Lock l(mu_);
    if (facts_.advertised == advertised) return;
    if (advertised.live && !facts_.advertised.live) facts_.live_since = executor_.Wall();
    facts_.advertised = std::move(advertised);
  }
  controller_.Add(node_);
}

bool ReadinessGate::End(Duration limit) {
  {
    Lock l(mu_);
    facts_.ending = true;
  }
  controller_.Add(node_);
  Lock l(mu_);
  return ended_.wait_for(mu_, limit, [this]() REQUIRES(mu_) { return end_written_; });
}

GateVerdict ReadinessGate::verdict() const {
  Lock l(mu_);
  return verdict_;
}

std::shared_ptr<const kube::Node> ReadinessGate::Seen() const {
  auto cached = cache_.Get(node_);
  if (cached && written_ && cached->meta.resource_version == written_over_) return written_;
  return cached;
}

void ReadinessGate::Remember(const kube::Node& before, const json::object& after) {
  auto node = kube::Decode<kube::Node>(after);
  if (!node) return;  // the watch will tell
  if (written_ == nullptr || written_.get() != &before) written_over_ = before.meta.resource_version;
  written_ = std::make_shared<const kube::Node>(*std::move(node));
}

Result<> ReadinessGate::Write(const kube::Node& node, const GateVerdict& verdict) {
  const GateWrites writes = PlanGate(node, verdict, settings_, executor_.Wall());
  kube::ObjectRef ref = kube::Ref<kube::Node>(node_);
  const auto send = [&](kube::PatchType type, const json::value& patch) -> Result<> {
    const auto before = Seen();
    ASSIGN(const json::object after, client_.Patch(ref, type, patch));
    if (writes_ != nullptr) writes_->Add();
    if (before) Remember(*before, after);
    return {};
  };
  if (writes.taint) TRY(send(kube::PatchType::kJson, *writes.taint));
  ref.subresource = "status";
  if (writes.condition) TRY(send(kube::PatchType::kStrategic, *writes.condition));
  return {};
}

void ReadinessGate::Tell(const GateVerdict& verdict) {
  Lock l(mu_);
  if (verdict_.reason == verdict.reason && verdict_.message == verdict.message) return;
  verdict_ = verdict;
  if (open_ != nullptr) open_->Set(verdict.open ? 1 : 0);
  log_.Info(verdict.open ? "the node's GPUs can be had" : "the node's GPUs cannot be had",
            {{"node", node_}, {"reason", verdict.reason}, {"message", verdict.message}});
}

Result<kube::Next> ReadinessGate::Turn() {
  const auto node = Seen();
  if (node == nullptr) return kube::Next{};  // not registered yet; the watch tells when it is
  GateFacts facts;
  {
    Lock l(mu_);
    facts = facts_;
  }
  const GateVerdict verdict = Judge(*node, facts);
  Tell(verdict);
  if (auto written = Write(*node, verdict); !written)
    return std::unexpected(std::move(written).error().During("node " + node_));
  if (facts.ending) {
    Lock l(mu_);
    end_written_ = true;
    ended_.notify_all();
  }
  return kube::Next{};
}

}  // namespace gpuop::operands
