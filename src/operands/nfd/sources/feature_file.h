#pragma once
// Feature files: what administrators and other programs say of a node (NFD's local source).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "operands/nfd/features.h"

namespace gpuop::operands::nfd {

inline constexpr const char* kFeaturesFolder = "/etc/kubernetes/node-feature-discovery/features.d";
/// A longer file is passed over.
inline constexpr std::size_t kMaxFeatureFile = 65536;
/// What all files may have together: the API server takes no larger objects.
inline constexpr std::size_t kMaxFeatureFiles = 512 * 1024;

/// What feature files say so far.
struct LocalFeatures {
  TextMap labels, features;
  /// When the first of the lines that count now ends to count.
  std::optional<WallTime> until;
};

/// Takes in one file's text: lines "key=value" or "key" (for "true"), "#" for comments, and the directives
/// "# +expiry-time=", "# +no-feature" and "# +no-label". What it says comes over what is there. The answer is what was
/// not understood, for the log.
std::vector<std::string> AddFeatureFile(std::string_view text, WallTime now, LocalFeatures& out);

}  // namespace gpuop::operands::nfd
