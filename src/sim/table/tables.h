#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/hooks.h"
#include "sim/table/json_path.h"

namespace gpuop::sim {

/// Tables as the real API server renders them: built-in kinds by their own columns, custom resources by
/// additionalPrinterColumns, everything else by name and time of creation.
class Tables final : public TableRenderer {
 public:
  std::string Columns(const ResourceInfo& resource) override;
  std::string Row(const ResourceInfo& resource, const boost::json::object& object, WallTime now) override;

 private:
  boost::json::value CustomCell(const PrinterColumn& column, const boost::json::value& object, WallTime now);

  /// Parsed once; nullopt for paths that are none.
  std::map<std::string, std::optional<JsonPath>, std::less<>> paths_;
};

}  // namespace gpuop::sim
