#include "data/writer.h"

#include <boost/json.hpp>

#include "data/duration.h"

namespace gpuop::data {

Json WriteValue(const std::string& value) { return Json(value); }
Json WriteValue(bool value) { return value; }
Json WriteValue(double value) { return value; }
Json WriteValue(const Json& value) { return value; }
Json WriteValue(const Quantity& value) { return Json(value.ToString()); }
Json WriteValue(Duration value) { return Json(FormatDuration(value)); }
Json WriteValue(const IntOrString& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) return *number;
  return Json(std::get<std::string>(value.value));
}

bool IsEmptyValue(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return true;
    case boost::json::kind::bool_: return !value.get_bool();
    case boost::json::kind::int64: return value.get_int64() == 0;
    case boost::json::kind::uint64: return value.get_uint64() == 0;
    case boost::json::kind::double_: return value.get_double() == 0;
    case boost::json::kind::string: return value.get_string().empty();
    case boost::json::kind::array: return value.get_array().empty();
    case boost::json::kind::object: return value.get_object().empty();
  }
  return false;
}

}  // namespace gpuop::data
