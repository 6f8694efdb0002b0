#pragma once

#include "kube/controller.h"
#include "sim/controllers/garbage_collector.h"

namespace gpuop::sim {

/// Empties namespaces that are being deleted and then lets them go; gives every other one its default ServiceAccount
/// and the ConfigMap with the cluster's root certificate.
class NamespaceController {
 public:
  NamespaceController(ControllerParts parts, SharedCaches& caches, ResourceList resources,
                      std::string root_certificate);
  void Start() { controller_.Start(); }

 private:
  /// What is left of one resource in a namespace.
  struct Remains {
    std::map<std::string, int> count;       ///< by "pods." (plural and group)
    std::map<std::string, int> finalizers;  ///< by finalizer
    std::int64_t longest_grace = 0;
  };

  Result<kube::Next> Reconcile(const std::string& name);
  Result<> Furnish(const std::string& ns);
  Result<kube::Next> Empty(const kube::Namespace& ns);
  Result<Remains> DeleteContent(const std::string& ns);
  Result<> WriteConditions(const kube::Namespace& ns, const Remains& remains);

  ControllerParts parts_;
  SharedCaches& caches_;
  ResourceList resources_;
  const std::string root_certificate_;
  kube::Controller controller_;
};

}  // namespace gpuop::sim
