#include "operator/label_patch.h"

#include <boost/json.hpp>

namespace gpuop::op {

boost::json::object ValuesOf(const std::map<std::string, std::optional<std::string>>& changes) {
  boost::json::object out;
  for (const auto& [key, value] : changes) out[key] = value ? boost::json::value(*value) : boost::json::value(nullptr);
  return out;
}

}  // namespace gpuop::op
