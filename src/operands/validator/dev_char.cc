#include "operands/validator/dev_char.h"

#include <fmt/core.h>

#include "container/device_nodes.h"

namespace gpuop::operands::validator {
namespace {

/// Whether a link leads there already, however it is written ("../nvidia0").
bool LeadsTo(const os::Fs& dev_char, const std::string& link, const std::string& device) {
  const auto target = dev_char.ReadLink(link);
  if (!target) return false;
  return *target == device || "/dev" + target->substr(std::min<std::size_t>(2, target->size())) == device;
}

}  // namespace

Result<> LinkDevChar(const os::Fs& host, os::Fs& dev_char) {
  for (const container::DriverNode& node : container::AllDriverNodes(host)) {
    const std::string link = fmt::format("/{}:{}", node.device.major, node.device.minor);
    if (LeadsTo(dev_char, link, node.path)) continue;
    if (auto made = dev_char.Symlink(node.path, link); !made)
      return std::unexpected(std::move(made).error().During(
          "link " + node.path + " in /dev/char (DISABLE_DEV_CHAR_SYMLINK_CREATION=true does without)"));
  }
  return {};
}

}  // namespace gpuop::operands::validator
