#include "operands/nfd/gates.h"

#include "base/text.h"

namespace gpuop::operands::nfd {

Result<FeatureGates> ReadGates(const std::string& text) {
  FeatureGates out;
  for (const std::string_view item : Split(text, ',')) {
    if (Trim(item).empty()) continue;
    const auto cut = Cut(Trim(item), '=');
    const auto on = cut ? ParseBool(cut->second) : std::nullopt;
    if (!on) return Fail(Code::kInvalid, "-feature-gates: expected Name=true or Name=false, got " + Quote(item));
    if (cut->first == "NodeFeatureGroupAPI") out.node_feature_groups = *on;
    if (cut->first == "DisableAutoPrefix") out.disable_auto_prefix = *on;
  }
  return out;
}

}  // namespace gpuop::operands::nfd
