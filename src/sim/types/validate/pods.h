#pragma once

#include <set>
#include <string>

#include "sim/types/defaults/fill.h"
#include "sim/types/validate/findings.h"

namespace gpuop::sim::types {

/// A Pod's spec. `in_template`: of a workload's template.
void CheckPodSpec(Findings& out, const Object& spec, const Path& at);
/// What of a Pod's spec may not change once it exists.
void CheckPodUpdate(Findings& out, const Object& now, const Object& old, const Path& at);

/// What containers may refer to.
struct PodContext {
  std::set<std::string, std::less<>> volumes, claims;
  bool host_network = false;
};
enum class ContainerRole : std::uint8_t { kMain, kInit, kEphemeral };

/// Containers of one list. `names` collects their names over all lists.
void CheckContainers(Findings& out, const Object& spec, const char* list, ContainerRole role, const PodContext& context,
                     std::set<std::string, std::less<>>& names, const Path& at);
/// Volumes; the answer is their names.
std::set<std::string, std::less<>> CheckVolumes(Findings& out, const Object& spec, const Path& at);
void CheckProbes(Findings& out, const Object& container, ContainerRole role, const Path& at);
void CheckEnvironment(Findings& out, const Object& container, const Path& at);
/// Affinity, tolerations, spreading, node selector.
void CheckScheduling(Findings& out, const Object& spec, const Path& at);

}  // namespace gpuop::sim::types
