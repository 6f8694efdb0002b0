#pragma once

#include <string_view>

namespace gpuop::data {

/// Whether `text` has a JSON schema string format, as far as the API server checks it: date-time, date, duration, byte,
/// uuid (3, 4, 5), ipv4, ipv6, cidr, mac, hostname, email, uri, isbn (10, 13), creditcard, ssn, hexcolor, rgbcolor,
/// bsonobjectid, k8s-short-name, k8s-long-name. True for formats that it does not check. Thread-safe.
bool MatchesFormat(std::string_view format, std::string_view text);

}  // namespace gpuop::data
