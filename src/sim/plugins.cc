#include "sim/plugins.h"

#include "kube/builtin/table.h"
#include "sim/admission/pod_admission.h"
#include "sim/admission/pod_security.h"
#include "sim/admission/service_addresses.h"
#include "sim/auth/default_policy.h"
#include "sim/auth/escalation.h"
#include "sim/auth/reviews.h"
#include "sim/auth/token_request.h"
#include "sim/crd/crd_rules.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

bool IsCrd(const Request& request) {
  return request.resource->group == "apiextensions.k8s.io" && request.resource->kind == "CustomResourceDefinition";
}

}  // namespace

Plugins::Plugins(ApiServer& server, Options options)
    : server_(server),
      rbac_(server.store()),
      authenticator_({server.executor(), server.rng(), server.store(), rbac_}, std::move(options.signing_key)),
      custom_types_(kube::builtin::FindType("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")),
      aggregation_(server),
      crds_(server),
      api_services_(server),
      evictions_(server) {
  server_.SetTables(tables_);
  AddReviews(server_, rbac_, authenticator_);
  AddAuthorization();
  AddAdmission(options.ca);
}

void Plugins::Bootstrap() {
  const WallTime now = server_.executor().Wall();
  EnsureDefaultPolicy(server_.store(), now, server_.rng());
  EnsurePriorityClasses(server_.store(), now, server_.rng());
  api_services_.Start();
}

void Plugins::AddAuthorization() {
  server_.SetAuthorizer([this](const Attributes& what) -> Answer<> {
    const Decision decision = rbac_.Authorize(what);
    if (decision.allowed) return {};
    return std::unexpected(ForbiddenFor(what, decision.reason));
  });
  server_.AddCheck([this](Request& request, json::object* object, const json::object* old) -> Answer<> {
    if (object == nullptr) return {};
    return CheckEscalation(rbac_, request, object, old);
  });
}

void Plugins::AddAdmission(const std::string& ca) {
  server_.AddMutation([this, ca](Request& request, json::object* object, const json::object* old) -> Answer<> {
    if (object == nullptr) return {};
    if (IsCrd(request)) {
      if (old == nullptr) object->erase("status");
      DefaultCrd(*object);
      KeepStoredVersions(*object);
    }
    const bool secret = request.resource->group.empty() && request.resource->kind == "Secret";
    if (secret && old == nullptr) FillTokenSecret(server_.store(), authenticator_, ca, *object);
    return {};
  });
  AddPodAdmission(server_);
  server_.AddCheck([](Request& request, json::object* object, const json::object* old) -> Answer<> {
    if (object == nullptr || !IsCrd(request)) return {};
    const auto errors = ValidateCrd(*object, old);
    if (errors.empty()) return {};
    return std::unexpected(Invalid(*request.resource, PeekString(*object, {"metadata", "name"}), errors));
  });
  AddPodSecurity(server_);
  AddServiceAddresses(server_);
}

}  // namespace gpuop::sim
