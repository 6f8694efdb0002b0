#include <boost/json.hpp>

#include "base/check.h"
#include "data/json.h"

using namespace gpuop;

/// Whatever parses is written to text that parses to the same value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto value = data::ParseJsonFindingDuplicates(text, {.max_bytes = 1 << 16, .max_depth = 64});
  if (!value) return 0;
  const auto again = data::ParseJson(data::ToJson(value->value));
  GPUOP_CHECK(again && data::JsonEqual(*again, value->value));
  const auto pretty = data::ParseJson(data::ToPrettyJson(value->value));
  GPUOP_CHECK(pretty && data::JsonEqual(*pretty, value->value));
  return 0;
}
