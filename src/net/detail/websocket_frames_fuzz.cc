#include "base/check.h"
#include "net/detail/websocket_frames.h"

// A head that is read says how it was written: written again it is read the same.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gpuop::net::detail;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto head = ReadFrameHead(bytes);
  if (!head || !*head) return 0;
  GPUOP_CHECK((*head)->head_size <= size);
  if ((*head)->payload_size > size - (*head)->head_size) return 0;
  std::string payload(bytes.substr((*head)->head_size, (*head)->payload_size));
  if ((*head)->mask) ApplyMask(payload, *(*head)->mask);
  const std::string again = WriteFrame((*head)->opcode, payload, (*head)->mask);
  const auto back = ReadFrameHead(again);
  GPUOP_CHECK(back && *back && (*back)->payload_size == (*head)->payload_size && (*back)->mask == (*head)->mask);
  return 0;
}
