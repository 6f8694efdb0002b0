#pragma once

#include <string>

namespace gpuop::operands::testing {

/// Expects `text` to be what testdata/manifests/golden/NAME.yaml holds. With GPUOP_RENEW=1 in the environment the file
/// is written anew instead.
void CompareWithGolden(const std::string& name, const std::string& text);

}  // namespace gpuop::operands::testing
