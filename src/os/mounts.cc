#include "os/mounts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace gpuop::os {
namespace {

constexpr std::size_t kMountInfoLimit = 64U << 20;

template <class T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The kernel writes blank, tab, line end, backslash and '#' as three octal digits.
std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1, 3);
    const bool octal = text[i] == '\\' && digits.size() == 3 && digits[0] <= '3' &&
                       std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '7'; });
    if (!octal) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    i += 3;
  }
  return out;
}

std::vector<std::string> Options(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view option : Split(text, ',')) out.push_back(Unescape(option));
  return out;
}

std::optional<Mount> ParseLine(std::string_view line) {
  // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
  const auto words = Split(line, ' ');
  const auto dash = std::find(words.begin() + std::min<std::ptrdiff_t>(6, std::ssize(words)), words.end(), "-");
  if (words.end() - dash < 4) return std::nullopt;
  const auto id = Number<int>(words[0]), parent = Number<int>(words[1]);
  const auto device = Cut(words[2], ':');
  if (!id || !parent || !device) return std::nullopt;
  const auto major = Number<unsigned>(device->first), minor = Number<unsigned>(device->second);
  if (!major || !minor) return std::nullopt;
  Mount m{.id = *id,
          .parent = *parent,
          .major = *major,
          .minor = *minor,
          .root = Unescape(words[3]),
          .point = Unescape(words[4]),
          .options = Options(words[5]),
          .propagation = {},
          .type = Unescape(dash[1]),
          .source = Unescape(dash[2]),
          .super_options = Options(dash[3])};
  for (auto it = words.begin() + 6; it != dash; ++it) m.propagation.emplace_back(*it);
  return m;
}

}  // namespace

bool Mount::read_only() const {
  const auto has = [](const std::vector<std::string>& list) { return std::ranges::find(list, "ro") != list.end(); };
  return has(options) || has(super_options);
}

Result<std::vector<Mount>> ParseMountInfo(std::string_view text) {
  std::vector<Mount> mounts;
  std::size_t number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    auto mount = ParseLine(line);
    if (!mount) return Fail(Code::kInvalid, "mountinfo line " + std::to_string(number) + ": not a mount");
    mounts.push_back(*std::move(mount));
  }
  return mounts;
}

Result<std::vector<Mount>> ReadMounts(const Fs& fs, const std::string& path) {
  ASSIGN(const std::string text, fs.Read(path, kMountInfoLimit));
  auto mounts = ParseMountInfo(text);
  if (!mounts) return std::unexpected(std::move(mounts).error().During(path));
  return mounts;
}

const Mount* MountOf(std::span<const Mount> mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& m : mounts) {
    const bool below = path.starts_with(m.point) &&
                       (m.point.ends_with('/') || path.size() == m.point.size() || path[m.point.size()] == '/');
    // Of two at the same point the later one lies on top.
    if (below && (best == nullptr || m.point.size() >= best->point.size())) best = &m;
  }
  return best;
}

}  // namespace gpuop::os
