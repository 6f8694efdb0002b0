#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim {

/// What a CustomResourceDefinition gets when it does not say so: singular and list names, conversion None, and on a
/// create a fresh status.
void DefaultCrd(boost::json::object& crd);

/// The status after a write: the storage version is among storedVersions.
void KeepStoredVersions(boost::json::object& crd);

/// What is wrong with a CustomResourceDefinition (defaulted), in the API server's words; `old` is null for a create.
/// A webhook for conversion is refused: there is nobody here to call it.
std::vector<FieldError> ValidateCrd(const boost::json::object& crd, const boost::json::object* old);

}  // namespace gpuop::sim
