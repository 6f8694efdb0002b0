#include "base/check.h"
#include "kube/config/config.h"

// What is read and written again is read the same; selecting a context never crashes.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gpuop::kube;
  auto config = ParseKubeconfig({reinterpret_cast<const char*>(data), size}, "/f/config");
  if (!config) return 0;
  const std::string text = WriteKubeconfig(*config);
  auto again = ParseKubeconfig(text, "/f/config");
  // An exec plugin without a command, and an auth-provider, are not written.
  if (again) GPUOP_CHECK(WriteKubeconfig(*again) == text);
  const auto selected = SelectContext(*config, "", [](const std::string&) { return std::string(); });
  if (!selected) GPUOP_CHECK(!selected.error().text.empty());
  return 0;
}
