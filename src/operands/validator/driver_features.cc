#include "operands/validator/driver_features.h"

#include <array>

#include "data/yaml.h"
#include "operands/host/host_check.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

struct Feature {
  std::string_view variable, component, module;
  api::ReasonCode missing;
};
constexpr std::array kFeatures = std::to_array<Feature>({
    {"GDS_ENABLED", "nvidia-fs", "nvidia_fs", kFilesystemModuleMissing},
    {"GDRCOPY_ENABLED", "gdrcopy", "gdrdrv", kFilesystemModuleMissing},
    {"GPU_DIRECT_RDMA_ENABLED", "nvidia-peermem", "nvidia_peermem", kNetworkModuleMissing},
});

}  // namespace

std::optional<api::Finding> CheckModule(const os::Fs& host, std::string_view component) {
  for (const Feature& feature : kFeatures)
    if (feature.component == component && !host::ModuleLoaded(host, feature.module))
      return api::Finding{feature.missing, "the module " + std::string(feature.module) + " is not loaded"};
  return std::nullopt;
}

std::optional<api::Finding> CheckFeatures(const os::Fs& host, const os::Fs& own, const std::string& file) {
  const auto text = own.Read(file);
  if (!text) return api::Finding{kDriverNotReady, text.error().text};
  const auto yaml = data::ParseYaml(*text);
  if (!yaml) return api::Finding{kDriverNotReady, file + ": " + yaml.error().text};
  if (yaml->is_null()) return std::nullopt;
  const data::JsonObject* const switches = yaml->if_object();
  if (switches == nullptr) return api::Finding{kDriverNotReady, file + ": expected lines of NAME: true or false"};
  for (const auto& [name, value] : *switches)
    if (!value.is_bool())
      return api::Finding{kDriverNotReady, file + ": " + std::string(name) + " is neither true nor false"};
  for (const Feature& feature : kFeatures)
    if (data::BoolOr(*switches, feature.variable))
      if (auto found = CheckModule(host, feature.component)) return found;
  return std::nullopt;
}

}  // namespace gpuop::operands::validator
