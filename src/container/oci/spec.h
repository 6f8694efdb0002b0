#pragma once
// Edits of an OCI runtime specification (a bundle's config.json), kept as JSON so that unknown members stay.
// Every edit answers kInvalid with the member's path when what is there is not of the type the specification says.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::container {

/// linux.devices[]
struct OciDevice {
  std::string path = {}, type = {};
  std::int64_t major = 0, minor = 0;
  std::optional<std::uint32_t> file_mode = {}, uid = {}, gid = {};
};
/// mounts[]
struct OciMount {
  std::string destination = {}, type = {}, source = {};
  std::vector<std::string> options = {};
};
/// hooks.STAGE[]
struct OciHook {
  std::string path = {};
  std::vector<std::string> args = {}, env = {};
  std::optional<std::int64_t> timeout = {};
};

/// The object or array at a dotted path, made on the way if absent or null.
Result<data::JsonObject*> OciObject(data::Json& oci, std::string_view path);
Result<data::JsonArray*> OciArray(data::Json& oci, std::string_view path);

/// The value of a variable of the container's process; the last one counts. nullopt when it has none.
std::optional<std::string> OciEnv(const data::Json& oci, std::string_view name);
/// Puts "NAME=value" in the place of the variable's first entry, drops its others, or appends it.
Result<> SetOciEnv(data::Json& oci, std::string_view entry);

/// Puts a device in the place of one with the same path, or appends it.
Result<> PutOciDevice(data::Json& oci, const OciDevice& device);
/// Lets the container's device cgroup pass `access` to a device; a rule that is there already is not repeated.
Result<> AllowOciDevice(data::Json& oci, std::string_view type, std::int64_t major, std::int64_t minor,
                        std::string_view access);

/// Appends a mount and drops those with the same destination. In a container with user id mappings a bind mount is
/// also told to map ids.
Result<> PutOciMount(data::Json& oci, const OciMount& mount);
/// Parents before children, otherwise in the order they have.
Result<> SortOciMounts(data::Json& oci);

/// Appends to a stage ("createContainer").
Result<> AddOciHook(data::Json& oci, std::string_view stage, const OciHook& hook);
/// Adds a supplementary group of the process; 0 and those that are there are passed over.
Result<> AddOciGid(data::Json& oci, std::uint32_t gid);

}  // namespace gpuop::container
