#include "kube/types/any_object.h"

#include <boost/json.hpp>

#include "kube/types/read_meta.h"

namespace gpuop::kube {

Result<AnyObject> AnyObject::FromJson(const boost::json::object& in) {
  ASSIGN(ObjectMeta meta, ReadMeta(in));
  AnyObject out{std::move(meta), {boost::json::serialize(in)}};
  out.whole.text.shrink_to_fit();
  return out;
}

}  // namespace gpuop::kube
