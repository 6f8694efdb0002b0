#include "container/elf/ldcache.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace gpuop::container {
namespace {

constexpr std::string_view kOldMagic{"ld.so-1.7.0\0", 12};
constexpr std::string_view kNewMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kOldHeader = 16, kOldEntry = 12, kNewHeader = 48, kNewEntry = 24;

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = 0x0300;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = 0x0a00;
#else
constexpr std::uint32_t kArchitecture = 0x0500;
#endif

std::uint32_t Word(std::string_view bytes, std::size_t at) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<std::string> TextAt(std::string_view bytes, std::size_t at) {
  if (at >= bytes.size()) return std::nullopt;
  const std::size_t end = bytes.find('\0', at);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(bytes.substr(at, end - at));
}

}  // namespace

Result<std::vector<LdCacheEntry>> ReadLdCache(std::string_view bytes) {
  if (bytes.starts_with(kOldMagic)) {
    if (bytes.size() < kOldHeader) return Fail(Code::kInvalid, "ld.so.cache is cut short");
    const std::size_t count = Word(bytes, 12);
    // The new part follows, aligned as the C library's compiler aligns a 64-bit number.
    if (count > (bytes.size() - kOldHeader) / kOldEntry) return Fail(Code::kInvalid, "ld.so.cache is cut short");
    const std::size_t begin = (kOldHeader + count * kOldEntry + 7U) & ~std::size_t{7};
    if (begin > bytes.size()) return Fail(Code::kInvalid, "ld.so.cache holds the old format only");
    bytes.remove_prefix(begin);
  }
  if (!bytes.starts_with(kNewMagic)) return Fail(Code::kInvalid, "not an ld.so.cache of glibc");
  if (bytes.size() < kNewHeader) return Fail(Code::kInvalid, "ld.so.cache is cut short");
  const std::size_t count = Word(bytes, 20);
  if (count > (bytes.size() - kNewHeader) / kNewEntry) return Fail(Code::kInvalid, "ld.so.cache is cut short");
  std::vector<LdCacheEntry> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kNewHeader + i * kNewEntry;
    const std::uint32_t flags = Word(bytes, at);
    if ((flags & 0x1U) == 0 || (flags & 0xff00U) != kArchitecture) continue;
    const auto name = TextAt(bytes, Word(bytes, at + 4)), path = TextAt(bytes, Word(bytes, at + 8));
    if (name && path) out.push_back({*name, *path});
  }
  return out;
}

}  // namespace gpuop::container
