#pragma once
// Where the sources are, for tests that read testdata/.

namespace gpuop {

/// The repository's root as it was when the build was configured, without a slash at the end. Linked into tests only.
const char* SourceDir();

}  // namespace gpuop
