// The types of Pods are many and their writers long: they are instantiated here, once.

#include "data/writer.h"
#include "operands/build/kinds.h"
#include "operands/build/object_json.h"

namespace gpuop::operands {

Object ToObject(const DaemonSet& in) {
  data::JsonObject spec;
  spec["selector"] = data::WriteValue(in.selector);
  spec["template"] = data::WriteValue(in.pod);
  spec["updateStrategy"] = data::WriteValue(in.strategy);
  return MakeObject({"apps", "v1", "daemonsets", "DaemonSet", true}, in.meta, {{"spec", std::move(spec)}});
}

Object ToObject(const Deployment& in) {
  data::JsonObject spec;
  spec["replicas"] = in.replicas;
  spec["selector"] = data::WriteValue(in.selector);
  spec["template"] = data::WriteValue(in.pod);
  return MakeObject({"apps", "v1", "deployments", "Deployment", true}, in.meta, {{"spec", std::move(spec)}});
}

}  // namespace gpuop::operands
