#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim {

/// Checks one part of a CRD version. `prefix` is "spec." or "spec.versions[1].".
using VersionCheck = void (*)(const boost::json::object& version, const std::string& prefix,
                              std::vector<FieldError>& errors);

void CheckVersionSchema(const boost::json::object& version, const std::string& prefix, std::vector<FieldError>& errors);
void CheckSubresources(const boost::json::object& version, const std::string& prefix, std::vector<FieldError>& errors);
void CheckColumns(const boost::json::object& version, const std::string& prefix, std::vector<FieldError>& errors);
void CheckSelectable(const boost::json::object& version, const std::string& prefix, std::vector<FieldError>& errors);

/// The parts in the order in which they are checked, by the field that holds them.
inline constexpr std::pair<std::string_view, VersionCheck> kVersionParts[] = {
    {"schema", CheckVersionSchema},
    {"subresources", CheckSubresources},
    {"additionalPrinterColumns", CheckColumns},
    {"selectableFields", CheckSelectable},
};

/// The property that a simple path (".spec.size") leads to in a schema, or null.
const boost::json::object* SchemaAt(const boost::json::object& schema, std::string_view path);

}  // namespace gpuop::sim
