#pragma once

#include <span>

namespace gpuop::container {

/// `nvidia-container-runtime`, and with a suffix of its name `.cdi` and `.legacy`: stands between an engine and its
/// low-level runtime. `args` are the whole command line. Of a `create` the bundle's config.json is changed; then the
/// low-level runtime takes this process's place, so on success this does not return.
int RunContainerRuntime(std::span<char* const> args);

}  // namespace gpuop::container
