#include "base/check.h"
#include "net/detail/message_parser.h"

// Any bytes, cut anywhere: no crash, and the cut makes no difference to the body.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using gpuop::net::detail::MessageParser;
  if (size < 2) return 0;
  const std::size_t cut = data[0];
  const auto kind = data[1] % 2 == 0 ? MessageParser::Kind::kRequest : MessageParser::Kind::kResponse;
  const std::string_view all(reinterpret_cast<const char*>(data + 2), size - 2);
  std::string bodies[2];
  bool done[2];
  for (int round = 0; round < 2; ++round) {
    MessageParser parser(kind, 4096);
    MessageParser::OnBody on_body = [&](std::string_view b) { bodies[round].append(b); };
    std::string in;
    bool broken = false;
    const auto feed = [&](std::string_view bytes) {
      in.append(bytes);
      while (!broken && !in.empty() && !parser.Done()) {
        auto taken = parser.Feed(in, on_body);
        broken = !taken;
        if (broken || *taken == 0) break;
        in.erase(0, *taken);
      }
    };
    if (round == 0) {
      feed(all);
    } else {
      for (std::size_t at = 0; at < all.size(); at += cut + 1) feed(all.substr(at, cut + 1));
    }
    done[round] = parser.Done();
  }
  GPUOP_CHECK(done[0] == done[1]);
  if (done[0]) GPUOP_CHECK(bodies[0] == bodies[1]);
  return 0;
}
