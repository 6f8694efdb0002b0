#include "operator/driver_pod.h"

#include <boost/json.hpp>

#include "operator/object_shape.h"

namespace gpuop::op {
namespace {

struct Waiting {
  Interned reason;
  template <class V>
  void Visit(V& v) {
    v("reason", reason);
  }
};

struct ContainerState {
  Waiting waiting;
  template <class V>
  void Visit(V& v) {
    v("waiting", waiting);
  }
};

struct ContainerStatus {
  Interned image;
  ContainerState state;
  template <class V>
  void Visit(V& v) {
    v("image", image);
    v("state", state);
  }
};

struct Spec {
  Interned node;
  template <class V>
  void Visit(V& v) {
    v("nodeName", node);
  }
};

struct Status {
  Interned phase;
  std::vector<ContainerStatus> init, containers;
  template <class V>
  void Visit(V& v) {
    v("phase", phase);
    v("initContainerStatuses", init);
    v("containerStatuses", containers);
  }
};

using Slim = ObjectShape<Spec, Status>;

Interned MissingImage(const std::vector<ContainerStatus>& list) {
  for (const ContainerStatus& c : list)
    if (c.state.waiting.reason == "ErrImagePull" || c.state.waiting.reason == "ImagePullBackOff") return c.image;
  return {};
}

}  // namespace

Result<DriverPod> DriverPod::FromJson(const boost::json::object& in) {
  ASSIGN(Slim slim, kube::Decode<Slim>(in));
  DriverPod out{std::move(slim.meta), slim.spec.node, slim.status.phase, MissingImage(slim.status.containers)};
  out.missing_is_driver = !out.missing_image.empty();
  if (!out.missing_is_driver) out.missing_image = MissingImage(slim.status.init);
  out.meta.annotations = {};
  out.meta.labels = {};
  return out;
}

}  // namespace gpuop::op
