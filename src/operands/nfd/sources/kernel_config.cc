#include "operands/nfd/sources/kernel_config.h"

#include "base/text.h"
#include "operands/nfd/sources/gunzip.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::size_t kMaxConfig = 4U << 20U;

}  // namespace

TextMap ParseKernelConfig(std::string_view text) {
  TextMap out;
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.starts_with("CONFIG_")) continue;
    const auto cut = Cut(line.substr(7), '=');
    if (!cut) continue;
    std::string_view value = Trim(cut->second);
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    out.insert_or_assign(std::string(cut->first), std::string(value));
  }
  return out;
}

TextMap ReadKernelConfig(const Host& host, const std::string& file, const std::string& release) {
  std::vector<std::string> places = {"/proc/config.gz",
                                     "/boot/config-" + release,
                                     "/boot/config",
                                     "/usr/lib/modules/" + release + "/config",
                                     "/lib/modules/" + release + "/config",
                                     "/usr/lib/ostree-boot/config-" + release,
                                     "/usr/lib/kernel/config-" + release,
                                     "/usr/src/linux-headers-" + release + "/.config",
                                     "/lib/modules/" + release + "/build/.config"};
  if (!file.empty()) places.insert(places.begin(), file);
  for (const std::string& place : places) {
    auto text = host.Read(place, kMaxConfig);
    if (!text) continue;
    if (text->starts_with("\x1f\x8b")) text = Gunzip(*text, kMaxConfig);
    if (text) return ParseKernelConfig(*text);
  }
  return {};
}

}  // namespace gpuop::operands::nfd
