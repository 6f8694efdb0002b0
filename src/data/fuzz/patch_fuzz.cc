#include <boost/json.hpp>

#include "base/check.h"
#include "data/patch.h"
#include "data/testing/schema_from_json.h"

using namespace gpuop;

namespace {

data::SchemaPtr PatchSchema() {
  auto list = std::make_shared<data::Schema>();
  list->type = data::Type::kArray;
  list->patch_merge = true;
  list->patch_merge_key = "name";
  auto scalars = std::make_shared<data::Schema>();
  scalars->type = data::Type::kArray;
  scalars->patch_merge = true;
  auto root = std::make_shared<data::Schema>();
  root->type = data::Type::kObject;
  root->properties = {{"f", scalars, false, 0}, {"l", list, false, 0}};
  return root;
}

}  // namespace

/// Two JSON texts with a line break between: a document and a patch of any of the three kinds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t middle = text.find('\n');
  if (middle == std::string_view::npos) return 0;
  const data::JsonLimits limits{.max_bytes = 1 << 16, .max_depth = 64};
  const auto doc = data::ParseJson(text.substr(0, middle), limits);
  const auto patch = data::ParseJson(text.substr(middle + 1), limits);
  if (!doc || !patch) return 0;
  static const data::SchemaPtr schema = PatchSchema();
  (void)data::ApplyJsonPatch(*doc, *patch, {.max_operations = 100, .max_copied_bytes = 1 << 16});
  (void)data::ApplyStrategicPatch(*doc, *patch, schema.get());
  const data::Json merged = data::ApplyMergePatch(*doc, *patch);
  // A made patch leads there again, unless nulls are in the way.
  if (!data::ToJson(merged).contains("null"))
    GPUOP_CHECK(data::JsonEqual(data::ApplyMergePatch(*doc, data::MakeMergePatch(*doc, merged)), merged));
  return 0;
}
