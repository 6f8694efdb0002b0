#include "kube/types/apps.h"

#include "kube/types/read_meta.h"

namespace gpuop::kube {
Result<> ReadField(const boost::json::value& in, PodTemplate& out) {
  if (!in.is_object()) return WrongKind("an object", in);
  ASSIGN(ObjectMeta meta, ReadMeta(in.get_object()));
  out.labels = std::move(meta.labels);
  out.annotations = std::move(meta.annotations);
  return ReadField(in, out.whole);
}

}  // namespace gpuop::kube
