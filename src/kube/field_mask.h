#pragma once
// Objects of which only some fields are wanted: the rest is passed over as text and never parsed.

#include <boost/json/object.hpp>
#include <boost/json/storage_ptr.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::kube {

/// Names fields by their paths, "status.conditions.type"; a path goes through each element of an array, and what it
/// ends at is wanted as a whole.
class FieldMask {
 public:
  FieldMask(std::initializer_list<std::string_view> paths);

  /// Parses an object's wanted fields. kInvalid when the text is no JSON object; what is not wanted is not judged.
  Result<boost::json::object> Parse(std::string_view text, boost::json::storage_ptr memory = {}) const;

 private:
  friend class MaskedText;
  struct Node {
    /// With its quotes, as it stands in the text.
    std::string key = {};
    /// None: all of it is wanted.
    std::vector<Node> fields = {};
  };
  Node root_;
};

}  // namespace gpuop::kube
