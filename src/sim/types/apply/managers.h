#pragma once
// metadata.managedFields: who set which fields, in which version, when.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"
#include "sim/types/apply/field_set.h"

namespace gpuop::sim::types {

enum class Operation : std::uint8_t { kApply, kUpdate };

/// What tells one manager's entry from another's. Appliers have one entry whatever the version.
struct ManagerId {
  std::string manager;
  Operation operation = Operation::kUpdate;
  /// Empty for appliers.
  std::string api_version;
  std::string subresource;

  auto operator<=>(const ManagerId&) const = default;
  /// As conflict messages print it: `"kubectl" using apps/v1`.
  std::string Text() const;
};

struct ManagedSet {
  FieldSet fields;
  std::string api_version;
  /// RFC 3339, or empty.
  std::string time;
};

/// The entries of one object.
using Managers = std::map<ManagerId, ManagedSet>;

/// Reads the list; kInvalid when an entry is not what the server accepts.
Result<Managers> ParseManagers(const boost::json::value& list);
/// The list, appliers first, then by time and name.
boost::json::array WriteManagers(const Managers& managers);

/// Puts all but the ten newest updaters together under the name "ancient-changes".
void CapUpdaters(Managers& managers);

}  // namespace gpuop::sim::types
