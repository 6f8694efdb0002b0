#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/resource.h"
#include "sim/status.h"
#include "sim/store.h"

namespace gpuop::sim {

/// What a list or watch selects by ?labelSelector= and ?fieldSelector=.
struct Filter {
  /// Null: everything.
  std::function<bool(const Stored&)> matches;
  /// The one name asked for by metadata.name=X; empty when none is. Then a list is a look-up.
  std::string name;
};

/// Reads both selectors; BadRequest in the API server's words when one is wrong or names an unknown field.
Answer<Filter> ReadFilter(const ResourceInfo& info, std::string_view label_selector, std::string_view field_selector);

}  // namespace gpuop::sim
