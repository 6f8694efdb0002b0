#pragma once

#include "kube/resource.h"

namespace gpuop::operands {

/// Role, or ClusterRole.
const kube::Resource& RoleKind(bool namespaced);
/// RoleBinding, or ClusterRoleBinding.
const kube::Resource& BindingKind(bool namespaced);

}  // namespace gpuop::operands
