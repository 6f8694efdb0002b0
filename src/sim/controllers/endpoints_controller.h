#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/controller.h"
#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

/// discovery.k8s.io/v1 EndpointSlice, its lists as text.
struct EndpointSlice {
  static inline const kube::Resource kResource{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true};
  kube::ObjectMeta meta;
  kube::RawJson endpoints, ports;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("endpoints", endpoints);
    v("ports", ports);
  }
};

/// core/v1 Endpoints, as text.
struct Endpoints {
  static inline const kube::Resource kResource{"", "v1", "endpoints", "Endpoints", true};
  kube::ObjectMeta meta;
  kube::RawJson subsets;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("subsets", subsets);
  }
};

/// Who serves a Service, on which ports. Pods that resolve a named port to different numbers come in different groups.
struct EndpointGroup {
  boost::json::array ports;
  std::vector<PodPtr> pods;  ///< by name
};
/// Pure: the pods of the Service's namespace that its selector selects, that have an address and are not finished.
std::vector<EndpointGroup> EndpointGroups(const kube::Service& service, const std::vector<PodPtr>& pods);
/// The `endpoints` of a slice, and the `subsets` of the older kind.
boost::json::array SliceEndpoints(const kube::Service& service, const std::vector<PodPtr>& pods);
boost::json::array EndpointSubsets(const kube::Service& service, const std::vector<EndpointGroup>& groups);

/// Keeps EndpointSlices and Endpoints of every Service with a selector.
class EndpointsController {
 public:
  EndpointsController(ControllerParts parts, SharedCaches& caches);
  void Start();

  static constexpr std::size_t kMostInSlice = 100;

 private:
  using SlicePtr = std::shared_ptr<const EndpointSlice>;

  Result<kube::Next> Reconcile(const std::string& key);
  Result<> SyncSlices(const kube::Service& service, const std::vector<EndpointGroup>& groups);
  Result<> SyncEndpoints(const kube::Service& service, const std::vector<EndpointGroup>& groups);
  Result<> WriteSlice(const kube::Service& service, const SlicePtr& have, boost::json::array ports,
                      boost::json::array endpoints);

  ControllerParts parts_;
  SharedCaches& caches_;
  kube::Cache<EndpointSlice> slices_;
  kube::Cache<Endpoints> endpoints_;
  kube::Controller controller_;
};

}  // namespace gpuop::sim
