#pragma once
// What `kubectl gpu` answers, as text for people and JSON for programs. Pure: facts in, a report out.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/gpu/facts.h"
#include "cli/gpu/node_view.h"
#include "cli/gpu/why.h"

namespace gpuop::cli::kubectl_gpu {

/// One answer, in both forms.
struct Report {
  std::string text;
  boost::json::object json;
  /// 0 nothing is wrong, 1 broken or degraded, 4 on its way or not proved.
  int exit_code = 0;
};

/// Words in colour, where there is a terminal to show them.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string operator()(Standing standing, std::string_view words) const;
  std::string Bold(std::string_view words) const;

 private:
  bool on_;
};

/// All nodes with GPUs on one screen, the worst first; the others are counted.
Report ReportStatus(const ClusterFacts& facts, const Paint& paint);
/// All that is known of a node; kNotFound when there is none of that name.
Result<Report> ReportNode(const ClusterFacts& facts, const std::string& name, const Paint& paint);
/// The first broken link of a node, or of a Pod.
Result<Report> ReportWhyNode(const ClusterFacts& facts, const std::string& name, const Paint& paint);
Report ReportWhyPod(const PodFacts& pod, const ClusterFacts& facts, const Paint& paint);

/// The exit code that a standing stands for.
int ExitCodeOf(Standing standing);

// Parts that several reports share.

/// The chain with the link that is meant in capitals: "host driver > TOOLKIT AND CDI > …".
std::string ChainText(api::Link link);
/// What was found, in lines: link, reason, evidence, first check.
std::string ExplainText(const Diagnosis& diagnosis, const Paint& paint);
boost::json::object ToJson(const Diagnosis& diagnosis);
/// Lines about what this user may not list, and what is not known for it; nothing when all was seen.
std::string UnseenText(const ClusterFacts& facts);
/// The same for programs: ["nodes", "pods", "clusterpolicies"], as far as they were not seen.
boost::json::array UnseenJson(const ClusterFacts& facts);
/// What is known of a node but for what is wrong with it.
boost::json::object NodeJson(const NodeView& node, Standing standing, const ClusterFacts& facts);
/// Columns as wide as their widest cell; `cells` holds rows of equal length, the first one the header. Colour codes do
/// not count.
std::string TableText(const std::vector<std::vector<std::string>>& cells);

}  // namespace gpuop::cli::kubectl_gpu
