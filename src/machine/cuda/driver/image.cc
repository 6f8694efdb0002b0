#include "machine/cuda/driver/image.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace gpuop::machine::cuda {
namespace {

constexpr std::uint32_t kFatbin = 0xba55ed50, kWrapper = 0x466243b1, kElf = 0x464c457f;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

/// The wrapper that compiled programs carry in .nvFatBinSegment.
struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* unused;
};

struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_size;
  std::uint64_t size;  ///< of what follows the header
};

struct Entry {
  std::uint16_t kind, attributes;
  std::uint32_t header_size;
  std::uint64_t size;             ///< of the payload with its padding
  std::uint32_t compressed_size;  ///< of the payload; 0: not compressed
  std::uint32_t options_offset;
  std::uint16_t minor, major;
  std::uint32_t arch;
  std::uint32_t name_offset, name_size;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t uncompressed_size;
};
static_assert(sizeof(Header) == 16 && sizeof(Entry) == 64);
constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;

Result<std::string> Unpack(const Entry& entry, std::span<const std::byte> payload) {
  const char* data = reinterpret_cast<const char*>(payload.data());
  if ((entry.flags & (kFlagLz4 | kFlagZstd)) == 0) {
    std::string text(data, payload.size());
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }
  if (entry.compressed_size > payload.size() || entry.uncompressed_size > kMostBytes)
    return Fail(Code::kInvalid, "fat binary: a compressed entry is longer than its place");
  std::string text(entry.uncompressed_size, '\0');
  bool good = false;
  if ((entry.flags & kFlagZstd) != 0)
    good = ZSTD_decompress(text.data(), text.size(), data, entry.compressed_size) == text.size();
  else
    good = LZ4_decompress_safe(data, text.data(), static_cast<int>(entry.compressed_size),
                               static_cast<int>(text.size())) == static_cast<int>(text.size());
  if (!good) return Fail(Code::kInvalid, "fat binary: an entry cannot be decompressed");
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

Result<std::string> FromFatbin(std::span<const std::byte> image, int compute) {
  Header header;
  if (image.size() < sizeof header) return Fail(Code::kInvalid, "fat binary: it ends within its header");
  std::memcpy(&header, image.data(), sizeof header);
  if (header.header_size < sizeof header || header.header_size > image.size() ||
      header.size > image.size() - header.header_size)
    return Fail(Code::kInvalid, "fat binary: it is shorter than its header says");
  std::span<const std::byte> rest = image.subspan(header.header_size, header.size);
  std::optional<Entry> best;
  std::span<const std::byte> payload;
  bool any = false;
  while (rest.size() >= sizeof(Entry)) {
    Entry entry;
    std::memcpy(&entry, rest.data(), sizeof entry);
    if (entry.header_size < sizeof entry || entry.header_size > rest.size() ||
        entry.size > rest.size() - entry.header_size)
      return Fail(Code::kInvalid, "fat binary: an entry is longer than the whole");
    const bool fits = entry.kind == kKindPtx && static_cast<int>(entry.arch) <= compute;
    any |= entry.kind == kKindPtx;
    if (fits && (!best || entry.arch > best->arch)) {
      best = entry;
      payload = rest.subspan(entry.header_size, entry.size);
    }
    rest = rest.subspan(entry.header_size + entry.size);
  }
  if (best) return Unpack(*best, payload);
  return Fail(Code::kUnsupported, any ? "fat binary: its PTX is for newer devices only"
                                      : "fat binary: it holds machine code and no PTX, which this device needs");
}

std::uint32_t MagicOf(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  return magic;
}

}  // namespace

Result<std::string> PtxOf(std::span<const std::byte> image, int compute) {
  if (image.size() < 4) return Fail(Code::kInvalid, "image: it is empty");
  const std::uint32_t magic = MagicOf(image.data());
  if (magic == kElf) return Fail(Code::kUnsupported, "image: machine code, where this device needs PTX");
  if (magic == kFatbin) return FromFatbin(image, compute);
  std::string text(reinterpret_cast<const char*>(image.data()), image.size());
  text.resize(std::min(text.size(), text.find('\0')));
  if (text.find(".version") == std::string::npos) return Fail(Code::kInvalid, "image: neither PTX nor a fat binary");
  return text;
}

Result<std::string> PtxAt(const void* image, int compute) {
  // Text may be shorter than a number: look at bytes one by one until they cannot be text any more.
  const auto* bytes = static_cast<const std::byte*>(image);
  for (std::size_t i = 0; i < 4; ++i)
    if (bytes[i] == std::byte{0}) return Fail(Code::kInvalid, "image: it is empty");
  std::uint32_t magic = MagicOf(image);
  if (magic == kWrapper) {
    Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof wrapper);
    image = wrapper.data;
    magic = MagicOf(image);
  }
  if (magic == kElf) return PtxOf({static_cast<const std::byte*>(image), 4}, compute);
  if (magic == kFatbin) {
    Header header;
    std::memcpy(&header, image, sizeof header);
    return FromFatbin({static_cast<const std::byte*>(image), header.header_size + header.size}, compute);
  }
  return PtxOf({static_cast<const std::byte*>(image), std::strlen(static_cast<const char*>(image))}, compute);
}

}  // namespace gpuop::machine::cuda
