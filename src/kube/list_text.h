#pragma once
// A list answer taken apart as text: 500 Nodes of 13 kB become 500 slices, so that one object's tree is in memory at
// a time instead of a whole page's.

#include <boost/json/object.hpp>
#include <boost/json/storage_ptr.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::kube {

/// What a List body holds. The views point into the body.
struct ListText {
  std::string resource_version;
  std::string continue_token;
  std::int64_t remaining = 0;  ///< metadata.remainingItemCount, 0 when not told
  std::vector<std::string_view> items;
};

/// Finds metadata and the items of a List in `body`. Items are only delimited: each is parsed (and may be found bad)
/// by itself. kInvalid when the body is no JSON object with an "items" array (null counts as an empty one).
Result<ListText> SplitList(std::string_view body);

/// Parses one JSON object, nested at most 512 deep. kInvalid says where it goes wrong.
Result<boost::json::object> ParseObject(std::string_view text, boost::json::storage_ptr memory = {});

/// The same but for metadata.managedFields, which is left out unread: often half of the text.
Result<boost::json::object> ParseWithoutManagedFields(std::string_view text, boost::json::storage_ptr memory = {});

}  // namespace gpuop::kube
