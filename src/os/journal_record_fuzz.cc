// Whatever the bytes, reading a journal ends well; what can be read is written back as it was.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "os/journal_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (auto record = gpuop::os::ReadJournalRecord(text)) GPUOP_CHECK(gpuop::os::WriteJournalRecord(*record) == text);
  // A fuzzer does not find checksums: give it the right one.
  if (!text.ends_with('\n')) text += '\n';
  char sum[32];
  std::snprintf(sum, sizeof sum, "sum %016llx\n", static_cast<unsigned long long>(gpuop::Hash64(text)));
  text += sum;
  if (auto record = gpuop::os::ReadJournalRecord(text)) GPUOP_CHECK(gpuop::os::WriteJournalRecord(*record) == text);
  return 0;
}
