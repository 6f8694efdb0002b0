#include "base/check.h"
#include "data/duration.h"
#include "data/formats.h"
#include "data/glob.h"
#include "data/names.h"

using namespace gpuop;

/// Durations print to what they were; globs, names and formats take anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto span = data::ParseDuration(text))
    GPUOP_CHECK(data::ParseDuration(data::FormatDuration(*span)).value() == *span);
  const std::string_view half = text.substr(0, size / 2);
  (void)data::MatchGlob(half, text.substr(size / 2));
  (void)data::MatchWildcard(half, text.substr(size / 2));
  (void)data::CheckQualifiedName(text);
  (void)data::CheckDnsLabel(text);
  for (const char* format : {"date-time", "date", "duration", "byte", "uuid", "ipv4", "ipv6", "cidr", "mac"})
    (void)data::MatchesFormat(format, text);
  return 0;
}
