// What a peer may put into messages and headers.
#include <cstdint>
#include <cstdlib>

#include "net/grpc/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuop::net;
  const std::string text(reinterpret_cast<const char*>(data), size);
  MessageReader reader(100);
  std::string again;
  const std::size_t cut = size == 0 ? 1 : data[0] % 16 + 1U;
  bool refused = false;
  for (std::size_t at = 0; at < size && !refused; at += cut) {
    reader.Feed(std::string_view(text).substr(at, cut));
    for (;;) {
      const auto next = reader.Next();
      refused = !next;
      if (!next || !*next) break;
      again += FrameMessage(**next);
    }
  }
  // What was taken is what came.
  if (!text.starts_with(again)) std::abort();
  if (DecodeStatusText(EncodeStatusText(text)) != text) std::abort();
  static_cast<void>(DecodeStatusText(text));
  if (const auto limit = ParseTimeout(text); limit && ParseTimeout(FormatTimeout(*limit)) < *limit) std::abort();
  return 0;
}
