#pragma once

#include "sim/api_server.h"
#include "sim/auth/authenticator.h"
#include "sim/auth/rbac.h"

namespace gpuop::sim {

/// Registers the reviews of authentication.k8s.io and authorization.k8s.io (TokenReview, SelfSubjectReview,
/// SubjectAccessReview and its local and self forms, SelfSubjectRulesReview) and serviceaccounts/token. All outlive
/// the server.
void AddReviews(ApiServer& server, const Rbac& rbac, Authenticator& authenticator);

/// A user as authentication.k8s.io/v1 UserInfo.
boost::json::object UserInfo(const User& user);

}  // namespace gpuop::sim
