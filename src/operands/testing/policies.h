#pragma once
// Policies and clusters that tests render.

#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_policy.h"
#include "operands/facts.h"
#include "operands/operand.h"

namespace gpuop::operands::testing {

/// The policy of testdata/manifests/policies/default.yaml, changed by a merge patch in YAML. Ends the process on a text
/// that is none.
api::ClusterPolicySpec PolicyWith(std::string_view patch = {});

/// Two Ubuntu nodes with containerd in namespace gpu-operator, owned by ClusterPolicy cluster-policy.
Facts UbuntuFacts();

/// A policy and a cluster as testdata/manifests/cases describes them: `policy` is a merge patch of the default one,
/// `facts` replaces parts of UbuntuFacts. Ends the process on a file that is none.
struct RenderCase {
  api::ClusterPolicySpec policy;
  Facts facts;
};
RenderCase ReadCase(const std::string& name);
/// The names of all of them.
std::vector<std::string> CaseNames();

/// The objects of all enabled states, in order; a state's error is thrown as std::runtime_error.
Objects RenderAll(const api::ClusterPolicySpec& policy, const Facts& facts);

/// The first of that kind and name, or null.
const Object* FindObject(const Objects& objects, std::string_view kind, std::string_view name);

/// All of it as YAML documents.
std::string ToYaml(const Objects& objects);

}  // namespace gpuop::operands::testing
