#include "base/rng.h"

#include <cstdio>
#include <random>
#include <string_view>

namespace gpuop {

std::uint64_t Rng::Next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

std::uint64_t Rng::Below(std::uint64_t bound) { return bound == 0 ? 0 : Next() % bound; }

double Rng::Unit() { return static_cast<double>(Next() >> 11U) * 0x1.0p-53; }

std::string NewUuid(Rng& rng) {
  const std::uint64_t hi = (rng.Next() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t lo = (rng.Next() & ~(0xC0ULL << 56U)) | (0x80ULL << 56U);
  char out[37];
  std::snprintf(out, sizeof out, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(hi >> 32U),
                static_cast<unsigned>((hi >> 16U) & 0xFFFFU), static_cast<unsigned>(hi & 0xFFFFU),
                static_cast<unsigned>(lo >> 48U), static_cast<unsigned long long>(lo & 0xFFFFFFFFFFFFULL));
  return out;
}

std::string NameSuffix(Rng& rng, std::size_t length) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (std::size_t i = 0; i < length; ++i) out += kLetters[rng.Below(kLetters.size())];
  return out;
}

std::uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

}  // namespace gpuop
