#include "base/check.h"
#include "data/quantity.h"

using namespace gpuop;

/// A quantity's canonical text reads as the same amount, as far as there is a suffix for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto quantity = data::Quantity::Parse({reinterpret_cast<const char*>(bytes), size});
  if (!quantity) return 0;
  const std::string text = quantity->ToString();
  const auto again = data::Quantity::Parse(text);
  GPUOP_CHECK(again);
  const bool has_suffix = *quantity < data::Quantity::Of(INT64_MAX) && *quantity > data::Quantity::Of(INT64_MIN);
  if (has_suffix) GPUOP_CHECK(*again == *quantity);
  (void)(*quantity + *again);
  (void)(*quantity - *again);
  return 0;
}
