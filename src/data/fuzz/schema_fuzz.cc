#include <boost/json.hpp>

#include "base/check.h"
#include "data/schema_check.h"
#include "data/schema_validate.h"
#include "data/testing/schema_from_json.h"

using namespace gpuop;

/// JSON texts with a line break between, each held to one schema. Pruning and defaulting twice is as good as once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t middle = text.find('\n');
  if (middle == std::string_view::npos) return 0;
  const data::JsonLimits limits{.max_bytes = 1 << 14, .max_depth = 32};
  static const data::SchemaPtr fixed = data::TestSchema(*data::ParseJson(
      R"({"type":"object","properties":{"a":{"type":"string","default":"x","maxLength":3},"o":{"type":"object","default":{},"properties":{"b":{"type":"integer","default":5,"minimum":1}}},"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"}}}},"m":{"type":"object","additionalProperties":{"type":"boolean","nullable":true}}}})"));
  for (const std::string_view part : {text.substr(0, middle), text.substr(middle + 1)}) {
    auto value = data::ParseJson(part, limits);
    if (!value) continue;
    (void)data::StrictErrors(*value, *fixed, {});
    (void)data::DecodeError(*value, *fixed);
    (void)data::SchemaValidator(fixed).Validate(*value, &*value);
    data::Prune(*value, *fixed);
    data::ApplyDefaults(*value, *fixed);
    data::Json again = *value;
    GPUOP_CHECK(data::Prune(again, *fixed).empty());
    data::ApplyDefaults(again, *fixed);
    GPUOP_CHECK(data::JsonEqual(again, *value));
  }
  return 0;
}
