#include <boost/json.hpp>

#include "base/check.h"
#include "data/yaml.h"

using namespace gpuop;

/// Whatever is read is written to text that reads as the same value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto documents = data::ParseYamlStream(text, {.max_bytes = 1 << 14, .max_depth = 64, .max_expansion = 1 << 16});
  if (!documents) return 0;
  for (const auto& document : *documents) {
    const auto again = data::ParseYaml(data::ToYaml(document.value));
    GPUOP_CHECK(again && data::JsonEqual(*again, document.value));
  }
  return 0;
}
