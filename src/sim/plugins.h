#pragma once

#include <memory>
#include <string>

#include "sim/api_server.h"
#include "sim/api_services.h"
#include "sim/auth/aggregation.h"
#include "sim/auth/authenticator.h"
#include "sim/auth/rbac.h"
#include "sim/crd/crd_controller.h"
#include "sim/crd/custom_types.h"
#include "sim/policy/eviction.h"
#include "sim/table/tables.h"

namespace gpuop::sim {

/// What surrounds the core to make it a whole API server: authorization and reviews, custom resources, Tables,
/// admission, evictions. Made after the server, once; it plugs everything in. Types are plugged in elsewhere.
class Plugins {
 public:
  struct Options {
    /// Signs service accounts' tokens; the same key after a restart keeps them good.
    std::string signing_key;
    /// The certificate authority that token Secrets carry (PEM); may be empty.
    std::string ca;
  };

  /// The server and its parts outlive it, or take no more requests.
  Plugins(ApiServer& server, Options options);

  /// Puts what every cluster has into the store: roles, bindings, priority classes, APIServices. Idempotent.
  void Bootstrap();

  /// For the doors: who sent a request.
  Authenticator& authenticator() { return authenticator_; }
  /// For the TypeSystem: what custom resources are.
  CustomTypes& custom_types() { return custom_types_; }
  const Rbac& rbac() const { return rbac_; }

 private:
  void AddAuthorization();
  void AddAdmission(const std::string& ca);

  ApiServer& server_;
  Rbac rbac_;
  Authenticator authenticator_;
  CustomTypes custom_types_;
  Tables tables_;
  RoleAggregation aggregation_;
  CrdController crds_;
  ApiServices api_services_;
  Evictions evictions_;
};

}  // namespace gpuop::sim
