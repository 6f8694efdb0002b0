#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::operands::validator {

/// The files in /run/nvidia/validations by which Pods of a node tell each other how far it is.
class StatusFiles {
 public:
  StatusFiles(os::Fs& fs, std::string folder) : fs_(fs), folder_(std::move(folder)) {}

  /// Makes the folder, and those above it; empties it first when `cleanup_all`.
  Result<> Prepare(bool cleanup_all);
  /// Readers see the old content or the new one. Equal content is not written again.
  Result<> Write(std::string_view name, std::string_view content = {});
  /// Not an error when it is not there.
  Result<> Remove(std::string_view name);
  std::string PathOf(std::string_view name) const { return folder_ + "/" + std::string(name); }
  bool Has(std::string_view name) const;

 private:
  os::Fs& fs_;
  const std::string folder_;
};

/// What driver-ready says: where the driver is, as the host and as containers call it
/// (toolkit-cdi-validator-driver.md §5.2.6).
struct DriverPlace {
  bool host = false;
  std::string root, root_ctr, dev_root, dev_root_ctr;

  /// The file's text: variables that the toolkit's start takes over.
  std::string Text() const;
};

}  // namespace gpuop::operands::validator
