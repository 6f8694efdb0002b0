#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::container {

/// One library that the dynamic loader knows.
struct LdCacheEntry {
  /// What programs ask for: "libcuda.so.1".
  std::string name;
  std::string path;
  bool operator==(const LdCacheEntry&) const = default;
};

/// The 64-bit libraries of this machine's architecture in an ld.so.cache of glibc, in its order; of several paths with
/// one name the first stands first. All three formats: old (ld.so-1.7.0), new (glibc-ld.so.cache1.1), and the new one
/// inside the old. kInvalid when it is none; entries that point outside the file are passed over.
Result<std::vector<LdCacheEntry>> ReadLdCache(std::string_view bytes);

}  // namespace gpuop::container
