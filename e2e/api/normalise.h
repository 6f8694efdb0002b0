#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>

namespace gpuop::e2e {

/// Replaces what differs from run to run (uids, resource versions, times, generated names, addresses) by names that
/// keep what matters: the same uid or version gets the same name for as long as the Normaliser lives.
class Normaliser {
 public:
  /// Learns the uids and versions in `body` and returns it printed, one field a line, keys sorted.
  std::string Body(const boost::json::value& body);
  /// Replaces learnt uids and versions inside a text.
  std::string Text(std::string text) const;

 private:
  boost::json::value Walk(const boost::json::value& in, std::string_view key, bool list_metadata);
  std::string Scalar(std::string_view key, std::string_view text, bool list_metadata);
  std::string Known(std::map<std::string, std::string>& names, std::string_view prefix, std::string_view text);

  std::map<std::string, std::string> uids_, versions_;
  std::map<std::string, std::string> generated_;
};

}  // namespace gpuop::e2e
