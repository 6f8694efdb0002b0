#pragma once
// Small questions about text that several rooms ask.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop {

/// The parts of `text` between separators; an empty text is one empty part.
std::vector<std::string_view> Split(std::string_view text, char separator);
/// What stands before and after the first separator; nullopt when there is none.
std::optional<std::pair<std::string_view, std::string_view>> Cut(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
/// Without blanks, tabs and line ends at both ends.
std::string_view Trim(std::string_view text);
/// ASCII only.
std::string ToLower(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
/// In double quotes, with \" \\ \n \r \t and \u00XX escapes: one line, safe to print.
std::string Quote(std::string_view text);
/// Where the first control character (below 0x20, or 0x7f) is, or npos.
std::size_t FindControl(std::string_view text);
/// A whole decimal number; nullopt for anything else, overflow included.
std::optional<std::int64_t> ParseInt(std::string_view text);
/// A boolean as Go's strconv.ParseBool reads it (1, t, T, true, True, TRUE and their opposites).
std::optional<bool> ParseBool(std::string_view text);
/// Lower-case hexadecimal.
std::string Hex(std::string_view bytes);
/// Sixteen bytes as a UUID is written (RFC 9562 §4): "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0".
std::string UuidText(std::string_view bytes);
/// RFC 4648 §4, with padding.
std::string Base64Encode(std::string_view bytes);
/// Strict RFC 4648 §4; blanks and line ends are passed over, anything else is nullopt.
std::optional<std::string> Base64Decode(std::string_view text);
/// Whether `bytes` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsUtf8(std::string_view bytes);
/// 64-bit FNV-1a; `seed` chains calls.
std::uint64_t Hash64(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325ULL);

}  // namespace gpuop
