#include "operands/nfd/master/node_writer.h"

#include "operands/nfd/master/records.h"

namespace gpuop::operands::nfd {

Result<> WriteNode(const kube::Client& client, const std::string& node, NodePatch patch, const NodeSettings& settings) {
  Result<> status;
  if (patch.status) {
    const auto answer = client.Patch({NodeRecord::kResource, {}, node, "status"}, kube::PatchType::kMerge,
                                     *patch.status, {.only_metadata = true});
    if (!answer) {
      status = std::unexpected(Error(answer.error()).During("extended resources of node " + node));
      if (patch.node)
        if (auto* metadata = patch.node->if_contains("metadata"))
          if (auto* annotations = metadata->get_object().if_contains("annotations"))
            annotations->get_object().erase(ResourcesNote(settings));
    }
  }
  if (patch.node) {
    const auto answer = client.Patch({NodeRecord::kResource, {}, node, {}}, kube::PatchType::kMerge, *patch.node,
                                     {.only_metadata = true});
    if (!answer) return std::unexpected(Error(answer.error()).During("node " + node));
  }
  return status;
}

}  // namespace gpuop::operands::nfd
