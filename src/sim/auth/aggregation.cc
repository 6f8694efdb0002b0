#include "sim/auth/aggregation.h"

#include <boost/json/parse.hpp>
#include <vector>

#include "data/json.h"
#include "sim/auth/default_policy.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kTable = "rbac.authorization.k8s.io/clusterroles";

User Myself() {
  User user = User::ServiceAccount("kube-system", "clusterrole-aggregation-controller");
  user.groups.emplace_back("system:masters");
  return user;
}

}  // namespace

RoleAggregation::RoleAggregation(ApiServer& server) : server_(server) {
  server_.store().Observe([weak = std::weak_ptr(self_)](std::string_view table, const Event&) {
    if (table != kTable) return;
    if (const auto self = weak.lock()) (*self)->Wake();
  });
  Wake();
}

void RoleAggregation::Wake() {
  if (woken_) return;
  woken_ = true;
  server_.executor().Post([weak = std::weak_ptr(self_)] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    (*self)->woken_ = false;
    (*self)->Sync();
  });
}

void RoleAggregation::Sync() {
  std::vector<json::object> roles;
  for (const StoredPtr& stored : server_.store().List(kTable, {}).items)
    roles.push_back(json::parse(stored->json).as_object());
  std::vector<const json::object*> all;
  for (const json::object& role : roles) all.push_back(&role);
  for (json::object& role : roles) {
    if (Peek(role, {"aggregationRule"}) == nullptr) continue;
    json::array wanted = AggregatedRules(role, all);
    if (wanted == PeekArray(role, {"rules"})) continue;
    role["rules"] = std::move(wanted);
    const std::string name(PeekString(role, {"metadata", "name"}));
    // The write wakes this again, so that what is collected from collected roles follows.
    (void)server_.Handle({.method = "PUT",
                          .path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/" + name,
                          .query = {},
                          .content_type = "application/json",
                          .body = data::ToJson(json::value(role))},
                         Myself());
  }
}

}  // namespace gpuop::sim
