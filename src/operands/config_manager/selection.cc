#include "operands/config_manager/selection.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::config_manager {
namespace {

constexpr const char* kDefaultName = "default";

bool Has(const std::vector<std::string>& available, const std::string& name) {
  return std::ranges::find(available, name) != available.end();
}

std::string Listed(const std::vector<std::string>& available, const std::string& folder) {
  return available.empty() ? folder + " holds none" : folder + " holds " + Join(available, ", ");
}

Result<std::string> Named(const std::string& name, const std::string& who, const std::vector<std::string>& available,
                          const Options& options) {
  if (name.find('/') != std::string::npos || name.starts_with("..") || name == "." ||
      FindControl(name) != std::string::npos)
    return Fail(Code::kInvalid, who + ": " + Quote(name) + " cannot be the name of a configuration");
  if (!Has(available, name))
    return Fail(Code::kNotFound,
                who + ": there is no configuration " + Quote(name) + "; " + Listed(available, options.source));
  return options.source + "/" + name;
}

}  // namespace

std::vector<std::string> Configurations(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  std::ranges::copy_if(names, std::back_inserter(out), [](const std::string& name) { return !name.starts_with(".."); });
  return out;
}

Result<std::string> Select(const std::optional<std::string>& label, const std::vector<std::string>& available,
                           const Options& options) {
  if (label && !label->empty())
    return Named(*label, "label " + options.label + " of node " + options.node, available, options);
  if (!options.default_config.empty()) return Named(options.default_config, "--default-config", available, options);
  for (const Fallback fallback : options.fallbacks) {
    if (fallback == Fallback::kNamed && Has(available, kDefaultName)) return options.source + "/" + kDefaultName;
    if (fallback == Fallback::kSingle && available.size() == 1) return options.source + "/" + available.front();
    if (fallback == Fallback::kEmpty) return std::string(kNothing);
  }
  return Fail(Code::kNotFound, "node " + options.node + " has no label " + options.label +
                                   ", there is no default, and no fallback names one; " +
                                   Listed(available, options.source));
}

}  // namespace gpuop::operands::config_manager
