#include "container/runtime/config.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "data/reader.h"
#include "data/toml.h"

namespace gpuop::container {

Result<RuntimeConfig> ReadRuntimeConfig(std::string_view text) {
  ASSIGN(const data::Json value, data::ParseToml(text));
  ASSIGN(RuntimeConfig config, data::ReadAs<RuntimeConfig>(value));
  if (!config.cli.ldconfig.empty() && !config.cli.ldconfig.starts_with('@') &&
      !config.features.allow_ldconfig_from_container)
    return Fail(Code::kInvalid,
                "nvidia-container-cli.ldconfig: must begin with @ (a path of the host) unless "
                "features.allow-ldconfig-from-container is on");
  return config;
}

std::string RuntimeConfigPath() {
  if (const char* path = std::getenv("NVIDIA_CTK_CONFIG_FILE_PATH"); path != nullptr && *path != '\0') return path;
  std::array<char, 4096> self{};
  if (const ssize_t n = ::readlink("/proc/self/exe", self.data(), self.size()); n > 0 && n < std::ssize(self)) {
    const std::string program(self.data(), static_cast<std::size_t>(n));
    std::string beside = program.substr(0, program.rfind('/')) + "/.config/nvidia-container-runtime/config.toml";
    if (::access(beside.c_str(), R_OK) == 0) return beside;
  }
  const char* folder = std::getenv("XDG_CONFIG_HOME");
  return std::string(folder != nullptr && *folder != '\0' ? folder : "/etc") + "/nvidia-container-runtime/config.toml";
}

}  // namespace gpuop::container
