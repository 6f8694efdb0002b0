#pragma once

#include <string_view>

namespace gpuop::kube::builtin {

/// The file types.txt beside this header, as it was at build time. Its format is in tools/schema/README.md.
std::string_view TableText();

}  // namespace gpuop::kube::builtin
