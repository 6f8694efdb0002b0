#pragma once
// Why a Pod does not do its GPU work: one of five symptoms, its cause along the chain, and what shows it. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/gpu/facts.h"
#include "cli/gpu/node_view.h"
#include "cli/gpu/pod_trouble.h"

namespace gpuop::cli::kubectl_gpu {

/// What a person sees of a Pod.
enum class Symptom {
  kNone,
  kPending,
  kNotCreated,  ///< a container cannot be created
  kCudaFails,   ///< it runs, or ran, and CUDA fails
  kWrongCount,  ///< the wrong number of GPUs or another MIG profile
  kNowAndThen,  ///< errors now and then, restarts
};
/// "the Pod is Pending", for people.
std::string_view Words(Symptom symptom);
/// "Pending", for programs.
std::string_view Name(Symptom symptom);

struct Why {
  Symptom symptom = Symptom::kNone;
  Standing standing = Standing::kFit;
  /// Nothing when all is well, or nothing is known to be wrong.
  std::optional<Diagnosis> cause = {};
  /// What else is wrong and may hold the Pod up next.
  std::vector<Diagnosis> others = {};
  /// Nodes, in words, where the question is which node takes the Pod.
  std::vector<std::string> nodes = {};
};

Why WhyPod(const PodFacts& pod, const ClusterFacts& facts, const std::vector<NodeView>& nodes);

/// The Pod's share of WhyPod that asks where it could run: it is not bound to a node.
Why WhyPending(const PodFacts& pod, const ClusterFacts& facts, const std::vector<NodeView>& nodes);

/// What a text of the kubelet or the engine about a container that cannot be created means; nullopt: nothing that has
/// to do with GPUs.
std::optional<api::ReasonCode> ReadEngineError(std::string_view text);
/// What a program's last words say about CUDA; `line` is set to the line that says it.
std::optional<api::ReasonCode> ReadProgramError(std::string_view log, std::string& line);

/// What the Pod asks for that a device plugin offers.
kube::Amounts GpusOf(const kube::Pod& pod);
/// "4 nvidia.com/gpu, 1 nvidia.com/mig-1g.5gb"
std::string TextOf(const kube::Amounts& gpus);

}  // namespace gpuop::cli::kubectl_gpu
