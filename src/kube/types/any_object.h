#pragma once

#include <boost/json/object.hpp>

#include "kube/types/meta.h"

namespace gpuop::kube {

/// An object of any kind, kept whole as text (managedFields too). For the few objects that are ours and are compared
/// with what we want; what is merely read is cached as its own compact type.
struct AnyObject {
  ObjectMeta meta;
  RawJson whole;

  static Result<AnyObject> FromJson(const boost::json::object& in);
  bool operator==(const AnyObject&) const = default;
};

}  // namespace gpuop::kube
