#include "data/schema.h"

#include <algorithm>

namespace gpuop::data {

const Property* Schema::Find(std::string_view field) const {
  const auto it =
      std::ranges::lower_bound(properties, field, {}, [](const Property& p) { return std::string_view(p.name); });
  return it == properties.end() || it->name != field ? nullptr : &*it;
}

}  // namespace gpuop::data
