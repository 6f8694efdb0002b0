#pragma once
// What we ask of ELF files (System V ABI, 64-bit little-endian), read part by part: libraries can be hundreds of MiB.
// Any bytes may be given; what is no such file gives kInvalid.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::container {

/// At most `size` bytes from `offset` on; fewer at the end.
using PartReader = std::function<Result<std::string>(std::uint64_t offset, std::size_t size)>;
PartReader PartsOf(const os::Fs& fs, const std::string& path);
/// `bytes` must outlive the reader.
PartReader PartsOf(std::string_view bytes);

/// DT_SONAME, "" when the library has none.
Result<std::string> ElfSoname(const PartReader& read);
/// The description of the first note in the section `section` whose owner is `owner`; nullopt when there is none.
Result<std::optional<std::string>> ElfNote(const PartReader& read, std::string_view section, std::string_view owner);

}  // namespace gpuop::container
