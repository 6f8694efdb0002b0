#include "operands/nfd/sources/gunzip.h"

#include <zlib.h>

namespace gpuop::operands::nfd {

Result<std::string> Gunzip(std::string_view packed, std::size_t limit) {
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return Fail(Code::kInternal, "zlib cannot begin");
  std::string out;
  char buffer[16 * 1024];
  int state = Z_OK;
  while (state == Z_OK && out.size() <= limit) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  if (out.size() > limit)
    return Fail(Code::kTooLarge, "a packed file of more than " + std::to_string(limit) + " bytes");
  if (state != Z_STREAM_END) return Fail(Code::kInvalid, "a packed file is damaged or cut short");
  return out;
}

}  // namespace gpuop::operands::nfd
