#include <algorithm>

#include "base/text.h"
#include "operands/nfd/sources/kernel_config.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

/// The release that /proc/version names: "Linux version 5.15.0-1053-nvidia (…".
std::optional<std::string> Release(const Host& host) {
  const auto line = host.Line("/proc/version");
  if (line) {
    const auto words = Split(*line, ' ');
    if (words.size() > 2) return std::string(words[2]);
  }
  return host.Line("/proc/sys/kernel/osrelease");
}

TextMap ReadVersion(const std::string& release) {
  TextMap out{{"full", release}};
  std::string_view rest = release;
  for (const char* part : {"major", "minor", "revision"}) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (end == 0) break;
    out[part] = rest.substr(0, end);
    if (end >= rest.size() || rest[end] != '.') break;
    rest.remove_prefix(end + 1);
  }
  return out;
}

TextSet LoadedModules(const std::string& text) {
  TextSet out;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view name = line.substr(0, line.find(' '));
    if (!name.empty()) out.emplace(name);
  }
  return out;
}

/// modules.builtin lists paths: "kernel/fs/ext4/ext4.ko".
void AddBuiltIn(const std::string& text, TextSet& out) {
  for (std::string_view line : Split(text, '\n')) {
    line = Trim(line);
    line = line.substr(line.rfind('/') + 1);
    const std::string_view name = line.substr(0, line.find(".ko"));
    if (name.empty()) continue;
    std::string normal(name);
    std::ranges::replace(normal, '-', '_');
    out.insert(std::move(normal));
  }
}

/// Those of sysfs that were loaded; what is built in has no initstate there.
TextSet LiveModules(const Host& host) {
  TextSet out;
  for (std::string& name : host.List("/sys/module"))
    if (host.Line("/sys/module/" + name + "/initstate") == "live") out.insert(std::move(name));
  return out;
}

void FindModules(const Host& host, const std::string& release, Features& features) {
  const auto modules = host.Read("/proc/modules");
  TextSet enabled = modules ? LoadedModules(*modules) : LiveModules(host);
  if (!modules && enabled.empty()) return;
  features.flags["kernel.loadedmodule"] = enabled;
  auto built_in = host.Read("/lib/modules/" + release + "/modules.builtin");
  if (!built_in) built_in = host.Read("/usr/lib/modules/" + release + "/modules.builtin");
  if (built_in) AddBuiltIn(*built_in, enabled);
  features.flags["kernel.enabledmodule"] = std::move(enabled);
}

}  // namespace

Found FindKernel(const Question& question) {
  Found out;
  const Host& host = question.host;
  const auto release = Release(host);
  if (release) {
    const TextMap& version = out.features.attributes["kernel.version"] = ReadVersion(*release);
    for (const auto& [part, value] : version) out.labels["version." + part] = value;
  }
  const TextMap& config = out.features.attributes["kernel.config"] =
      ReadKernelConfig(host, question.settings.kernel.config_file, release.value_or(""));
  for (std::string option : question.settings.kernel.config_options) {
    if (option.starts_with("CONFIG_")) option.erase(0, 7);
    const auto it = config.find(option);
    if (it == config.end()) continue;
    out.labels["config." + option] = it->second == "y" || it->second == "m" ? "true" : it->second;
  }
  FindModules(host, release.value_or(""), out.features);
  const auto enforce = host.Line("/sys/fs/selinux/enforce");
  out.features.attributes["kernel.selinux"]["enabled"] = enforce == "1" ? "true" : "false";
  if (enforce == "1") out.labels["selinux.enabled"] = "true";
  out.features.attributes["kernel.kvm"]["enabled"] = host.Exists("/sys/module/kvm_intel") ||
                                                             host.Exists("/sys/module/kvm_amd") ||
                                                             host.Exists("/sys/devices/virtual/misc/kvm")
                                                         ? "true"
                                                         : "false";
  return out;
}

}  // namespace gpuop::operands::nfd
