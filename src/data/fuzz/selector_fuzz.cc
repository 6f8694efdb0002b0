#include "base/check.h"
#include "data/field_selector.h"
#include "data/label_selector.h"

using namespace gpuop;

/// A selector's text reads as the same selector.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto labels = data::LabelSelector::Parse(text)) {
    const auto again = data::LabelSelector::Parse(labels->ToString());
    GPUOP_CHECK(again && *again == *labels);
    (void)labels->Matches({{"a", "b"}, {"x", "5"}});
  }
  if (const auto fields = data::FieldSelector::Parse(text)) {
    const auto again = data::FieldSelector::Parse(fields->ToString());
    GPUOP_CHECK(again && again->terms().size() == fields->terms().size());
  }
  return 0;
}
