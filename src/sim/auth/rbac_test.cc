#include "sim/auth/rbac.h"

#include <boost/json/parse.hpp>

#include "sim/auth/default_policy.h"
#include "sim/auth/token.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

PolicyRule Rule(const char* text) { return PolicyRule::From(json::parse(text).as_object()); }

Attributes Ask(const char* verb, const char* group, const char* resource, const char* sub = "", const char* name = "") {
  Attributes what;
  what.verb = verb;
  what.group = group;
  what.resource = resource;
  what.subresource = sub;
  what.name = name;
  return what;
}

TEST(PolicyRuleTest, AllowsByVerbGroupResourceSubresourceAndName) {
  const PolicyRule pods = Rule(R"({"verbs":["get"],"apiGroups":[""],"resources":["pods","*/scale"]})");
  EXPECT_TRUE(Allows(pods, Ask("get", "", "pods")));
  EXPECT_FALSE(Allows(pods, Ask("list", "", "pods")));
  EXPECT_FALSE(Allows(pods, Ask("get", "apps", "pods")));
  EXPECT_FALSE(Allows(pods, Ask("get", "", "pods", "log")));
  EXPECT_TRUE(Allows(pods, Ask("get", "", "anything", "scale")));
  const PolicyRule named = Rule(R"({"verbs":["*"],"apiGroups":["*"],"resources":["nodes"],"resourceNames":["n1"]})");
  EXPECT_TRUE(Allows(named, Ask("delete", "", "nodes", "", "n1")));
  EXPECT_FALSE(Allows(named, Ask("delete", "", "nodes", "", "n2")));
  EXPECT_FALSE(Allows(named, Ask("list", "", "nodes")));
  const PolicyRule urls = Rule(R"({"verbs":["get"],"nonResourceURLs":["/healthz","/apis/*"]})");
  Attributes what;
  what.verb = "get";
  for (const auto& [path, allowed] : {std::pair{"/healthz", true},
                                      {"/healthz/x", false},
                                      {"/apis/", true},
                                      {"/apis/apps/v1", true},
                                      {"/apis", false}}) {
    what.path = path;
    EXPECT_EQ(Allows(urls, what), allowed) << path;
  }
}

TEST(PolicyRuleTest, WhatIsNotHeldIsTakenApartAndPutTogetherByResource) {
  const auto missing = Uncovered(
      {Rule(R"({"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]})")},
      {Rule(R"({"verbs":["get","list","create"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]})"),
       Rule(R"({"verbs":["get","list","create"],"apiGroups":[""],"resources":["pods"]})")});
  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(Describe(missing[0]), R"({APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "create"]})");
  EXPECT_EQ(Describe(missing[1]),
            R"({APIGroups:["rbac.authorization.k8s.io"], Resources:["roles"], Verbs:["get" "list"]})");
  EXPECT_TRUE(Uncovered({Rule(R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})")}, missing).empty());
}

class RbacTest : public testing::Test {
 protected:
  RbacTest() { EnsureDefaultPolicy(store, FakeClock::kStart, rng); }

  void Put(std::string_view table, const char* text) {
    json::object object = json::parse(text).as_object();
    ASSERT_TRUE(store.Put(table, object));
  }
  Decision Decide(User user, Attributes what, const char* ns = "") {
    what.user = std::move(user);
    what.ns = ns;
    return rbac.Authorize(what);
  }

  Store store;
  Rng rng{1};
  Rbac rbac{store};
};

TEST_F(RbacTest, DefaultRolesLetEverybodyLookAroundAndNobodyElseIn) {
  Attributes discovery;
  discovery.verb = "get";
  discovery.path = "/apis/apps/v1";
  User someone{"someone", "", {"system:authenticated"}, {}};
  EXPECT_EQ(Decide(someone, discovery).reason,
            "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group "
            "\"system:authenticated\"");
  EXPECT_FALSE(Decide(User::Anonymous(), discovery).allowed);
  EXPECT_TRUE(Decide(someone, Ask("create", "authorization.k8s.io", "selfsubjectaccessreviews")).allowed);
  EXPECT_FALSE(Decide(someone, Ask("list", "", "nodes")).allowed);
  EXPECT_TRUE(Decide(User::Admin(), Ask("list", "", "nodes")).allowed);
}

TEST_F(RbacTest, AggregatedRolesComeComplete) {
  const auto view = rbac.Resolve("ClusterRole", "view", ""), admin = rbac.Resolve("ClusterRole", "admin", "");
  ASSERT_TRUE(view && admin);
  EXPECT_GT(view->size(), 5U);
  EXPECT_TRUE(Uncovered(*admin, *view).empty());
  EXPECT_FALSE(Uncovered(*view, *admin).empty());
}

TEST_F(RbacTest, FollowsBindingsAsTheyComeAndGo) {
  const User low = User::ServiceAccount("space", "low");
  Put("rbac.authorization.k8s.io/rolebindings",
      R"({"metadata":{"name":"b","namespace":"space"},"roleRef":{"kind":"ClusterRole","name":"view"},
          "subjects":[{"kind":"ServiceAccount","name":"low","namespace":"space"}]})");
  EXPECT_EQ(Decide(low, Ask("list", "", "pods"), "space").reason,
            "RBAC: allowed by RoleBinding \"b/space\" of ClusterRole \"view\" to ServiceAccount \"low/space\"");
  EXPECT_FALSE(Decide(low, Ask("list", "", "pods"), "other").allowed);
  EXPECT_FALSE(Decide(low, Ask("list", "", "secrets"), "space").allowed);
  ASSERT_TRUE(store.Delete("rbac.authorization.k8s.io/rolebindings", "space", "b"));
  EXPECT_FALSE(Decide(low, Ask("list", "", "pods"), "space").allowed);
}

TEST_F(RbacTest, ABindingToAMissingRoleIsTheReasonGiven) {
  Put("rbac.authorization.k8s.io/clusterrolebindings",
      R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"nope"},"subjects":[{"kind":"User","name":"u"}]})");
  const Decision d = Decide({"u", "", {}, {}}, Ask("get", "", "pods"));
  EXPECT_FALSE(d.allowed);
  EXPECT_EQ(d.reason, "RBAC: clusterrole.rbac.authorization.k8s.io \"nope\" not found");
}

TEST(ForbiddenForTest, SaysWhoMayNotDoWhatWhere) {
  Attributes what = Ask("list", "", "nodes");
  what.user.name = "x";
  EXPECT_EQ(ForbiddenFor(what).message,
            R"(nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the cluster scope)");
  what = Ask("get", "", "pods", "log", "p");
  what.user.name = "x";
  what.ns = "space";
  EXPECT_EQ(
      ForbiddenFor(what).message,
      R"(pods "p" is forbidden: User "x" cannot get resource "pods/log" in API group "" in the namespace "space")");
  Attributes path;
  path.user.name = "x";
  path.verb = "get";
  path.path = "/metrics";
  EXPECT_EQ(ForbiddenFor(path).message, R"(forbidden: User "x" cannot get path "/metrics")");
}

TEST(TokenSignerTest, BelievesOnlyItsOwnUnchangedTokens) {
  const TokenSigner signer("a key of at least thirty-two bytes!"), other("another key of thirty-two bytes!!!");
  const std::string token = signer.Sign({{"sub", "me"}});
  ASSERT_TRUE(signer.Verify(token));
  EXPECT_EQ(PeekString(*signer.Verify(token), {"sub"}), "me");
  EXPECT_FALSE(other.Verify(token));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(signer.Verify(changed)) << i;
  }
  for (const char* bad : {"", ".", "..", "a.b.c", "no dots"}) EXPECT_FALSE(signer.Verify(bad)) << bad;
}

}  // namespace
}  // namespace gpuop::sim
