#pragma once
// The form of a case: a situation, who is asked about, and what must be answered.

#include <string>

#include "cli/gpu/situations_test.h"

namespace gpuop::cli::kubectl_gpu {

struct WhyCase {
  const char* name;
  Situation situation;
  const char* about;    ///< the Pod or node that is asked about
  const char* symptom;  ///< of a Pod; "" for nodes
  const char* reason;   ///< "" when there is no cause
  const char* shows;    ///< stands in the text
};

/// Its cases stand in several files.
class WhyTest : public ::testing::TestWithParam<WhyCase> {};
inline std::string NameOf(const ::testing::TestParamInfo<WhyCase>& c) { return c.param.name; }

inline constexpr const char* kUnschedulable =
    "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available'}]}";
/// A Pod that is Ready.
inline constexpr const char* kUp =
    "{conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: main, ready: true, state: {running: "
    "{}}}]}";

/// Statuses of a Pod whose container waits, or ended again and again.
std::string Waiting(const char* reason, const std::string& message);
std::string Crashed(int exit_code);
/// A node whose validator found something.
NodeSetup Broken(const char* reason, const char* message);

}  // namespace gpuop::cli::kubectl_gpu
