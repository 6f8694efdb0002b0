#include "operands/validator/status_files.h"

#include <fmt/core.h>

namespace gpuop::operands::validator {

Result<> StatusFiles::Prepare(bool cleanup_all) {
  if (cleanup_all) {
    const auto names = fs_.List(folder_);
    if (!names && names.error().code != Code::kNotFound) return std::unexpected(names.error());
    if (names) {
      for (const std::string& name : *names) TRY(Remove(name));
    }
  }
  return os::MakeFolders(fs_, folder_);
}

Result<> StatusFiles::Write(std::string_view name, std::string_view content) {
  if (const auto now = fs_.Read(PathOf(name)); now && *now == content) return {};
  return fs_.WriteAtomic(PathOf(name), content);
}

Result<> StatusFiles::Remove(std::string_view name) { return os::RemoveIfThere(fs_, PathOf(name)); }

bool StatusFiles::Has(std::string_view name) const { return os::Exists(fs_, PathOf(name)).value_or(false); }

std::string DriverPlace::Text() const {
  return fmt::format(
      "IS_HOST_DRIVER={}\nNVIDIA_DRIVER_ROOT={}\nDRIVER_ROOT_CTR_PATH={}\nNVIDIA_DEV_ROOT={}\nDEV_ROOT_CTR_PATH={}\n",
      host, root, root_ctr, dev_root, dev_root_ctr);
}

}  // namespace gpuop::operands::validator
