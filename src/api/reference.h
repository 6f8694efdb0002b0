#pragma once

#include <string>

#include "api/crd.h"

namespace gpuop::api {

/// A resource's fields as a page for people (Markdown): one row for each field, with its path, type, default and
/// meaning. What every object has (apiVersion, kind, metadata) is left out. The same definition gives the same bytes.
std::string ReferencePage(const Definition& definition);

}  // namespace gpuop::api
