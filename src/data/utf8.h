#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuop::data {

/// One character off the front of `text`, which is not empty: a UTF-8 sequence, or U+FFFD for a byte that begins none.
inline char32_t TakeRune(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  char32_t rune = length == 1 ? first : first & (0x7fU >> length);
  std::size_t used = 1;
  for (; used < length && used < text.size(); ++used) {
    const auto byte = static_cast<unsigned char>(text[used]);
    if ((byte & 0xc0U) != 0x80) break;
    rune = rune << 6U | (byte & 0x3fU);
  }
  if (used != length || (length == 1 && first >= 0x80)) {
    rune = 0xfffd;
    used = 1;
  }
  text.remove_prefix(used);
  return rune;
}

/// Appends a character in UTF-8.
inline void AppendRune(std::string& out, char32_t rune) {
  const auto put = [&](unsigned lead, unsigned bits) { out += static_cast<char>(lead | bits); };
  if (rune < 0x80) return put(0, rune);
  if (rune < 0x800) {
    put(0xc0, rune >> 6U);
  } else if (rune < 0x10000) {
    put(0xe0, rune >> 12U);
    put(0x80, (rune >> 6U) & 0x3fU);
  } else {
    put(0xf0, (rune >> 18U) & 7U);
    put(0x80, (rune >> 12U) & 0x3fU);
    put(0x80, (rune >> 6U) & 0x3fU);
  }
  put(0x80, rune & 0x3fU);
}

/// How many characters a text has, as Go counts them.
inline std::size_t CountRunes(std::string_view text) {
  std::size_t n = 0;
  for (; !text.empty(); ++n) TakeRune(text);
  return n;
}

}  // namespace gpuop::data
