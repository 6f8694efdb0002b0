#include "sim/auth/impersonation.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::sim {
namespace {

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAccount = "system:serviceaccount:";
constexpr std::string_view kNode = "system:node:";

std::string GoList(const std::vector<std::string>& texts) {
  std::string out = "[]string";
  for (const std::string& text : texts) out.append(out.ends_with('g') ? "{" : ", ").append(Quote(text));
  return texts.empty() ? out + "(nil)" : out + "}";
}

/// What was asked to be, in the real server's words for it.
std::string GoText(const Credentials& as) {
  std::string extra;
  for (const auto& [key, values] : as.as_extra)
    extra.append(extra.empty() ? "{" : ", ").append(Quote(key)).append(":").append(GoList(values));
  return "&user.DefaultInfo{Name:\"\", UID:" + Quote(as.as_uid) + ", Groups:" + GoList(as.as_groups) +
         ", Extra:map[string][]string" + (extra.empty() ? "(nil)" : extra + "}") + "}";
}

/// One attempt to be somebody: by a mode of today, or (mode "") by the verb that allows it for everything.
class Attempt {
 public:
  Attempt(const Rbac& rbac, const User& user, const Credentials& as, std::string_view mode)
      : rbac_(rbac), user_(user), as_(as), mode_(mode) {}

  /// Whether what is asked for may be asked for by somebody who is another in this mode.
  Answer<> MayAsk(Attributes asked) const {
    if (mode_.empty()) return {};
    asked.user = user_;
    asked.verb = "impersonate-on:" + mode_ + ":" + asked.verb;
    return Check(asked);
  }

  /// The one to be, if that is allowed.
  Answer<User> Be() const {
    User other{as_.as_user, as_.as_uid, as_.as_groups, as_.as_extra};
    TRY(CheckName(other));
    if (!as_.as_uid.empty()) TRY(Check(Whom(kAuthentication, "uids", as_.as_uid)));
    TRY(CheckGroups());
    TRY(CheckExtra());
    const bool anonymous = other.name == "system:anonymous", outside = other.In("system:unauthenticated");
    const char* group = anonymous ? "system:unauthenticated" : "system:authenticated";
    if (!other.In(group) && !(outside && !anonymous)) other.groups.emplace_back(group);
    return other;
  }

 private:
  Answer<> CheckName(User& other) const {
    Attributes who = Whom(UserGroup(), "users", as_.as_user);
    const std::string_view name = as_.as_user;
    if (const auto account = name.starts_with(kAccount) ? Cut(name.substr(kAccount.size()), ':') : std::nullopt) {
      who.resource = "serviceaccounts";
      who.ns = account->first;
      who.name = account->second;
      if (other.groups.empty()) other.groups = User::ServiceAccount(account->first, account->second).groups;
    } else if (!mode_.empty() && name.starts_with(kNode)) {
      who.resource = "nodes";
      who.name = name.substr(kNode.size());
      other.groups = {"system:nodes"};
    }
    return Check(who);
  }

  Answer<> CheckGroups() const {
    Attributes what = Whom(UserGroup(), "groups", "");
    const auto asks_for = [&](std::string_view group) {
      return std::ranges::find(as_.as_groups, group) != as_.as_groups.end();
    };
    if (!mode_.empty() && asks_for(""))
      return std::unexpected(ForbiddenFor(what, "impersonating the empty string group is not allowed"));
    if (!mode_.empty() && asks_for("system:masters")) {
      what.name = "system:masters";
      return std::unexpected(ForbiddenFor(what, "impersonating the system:masters group is not allowed"));
    }
    for (const std::string& group : as_.as_groups) {
      what.name = group;
      TRY(Check(what));
    }
    return {};
  }

  Answer<> CheckExtra() const {
    Attributes what = Whom(kAuthentication, "userextras", "");
    for (const auto& [key, values] : as_.as_extra)
      if (!mode_.empty() && (!key.contains('/') || key.starts_with('/') || key.ends_with('/')))
        return std::unexpected(ForbiddenFor(
            what, "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: " + Quote(key) +
                      ": must be a domain-prefixed path (such as \"acme.io/foo\")"));
    for (const auto& [key, values] : as_.as_extra)
      for (const std::string& value : values) {
        what.subresource = key;
        what.name = value;
        TRY(Check(what));
      }
    return {};
  }

  std::string_view UserGroup() const { return mode_.empty() ? std::string_view() : kAuthentication; }

  Attributes Whom(std::string_view group, std::string_view resource, std::string_view name) const {
    Attributes what;
    what.user = user_;
    what.verb = mode_.empty() ? "impersonate" : "impersonate:" + mode_;
    what.group = group;
    what.version = group.empty() ? "" : "v1";
    what.resource = resource;
    what.name = name;
    return what;
  }

  Answer<> Check(const Attributes& what) const {
    const Decision decision = rbac_.Authorize(what);
    if (!decision.allowed) return std::unexpected(ForbiddenFor(what, decision.reason));
    return {};
  }

  const Rbac& rbac_;
  const User& user_;
  const Credentials& as_;
  std::string mode_;
};

/// The mode that is made for whom to be; "": none. A node and a service account are what they are: only by name.
std::string_view ModeFor(const Credentials& as) {
  const std::string_view name = as.as_user;
  const bool node = name.starts_with(kNode);
  const bool account = name.starts_with(kAccount) && Cut(name.substr(kAccount.size()), ':').has_value();
  if (!node && !account) return "user-info";
  if (!as.as_uid.empty() || !as.as_groups.empty() || !as.as_extra.empty()) return "";
  return node ? "arbitrary-node" : "serviceaccount";
}

}  // namespace

Answer<User> Impersonate(const Rbac& rbac, User user, const Credentials& as, const Attributes& asked) {
  const bool wishes = !as.as_user.empty() || !as.as_uid.empty() || !as.as_groups.empty() || !as.as_extra.empty();
  if (!wishes) return user;
  if (as.as_user.empty())
    return std::unexpected(BadRequest("requested " + GoText(as) + " without impersonating a user name"));
  const auto attempt = [&](std::string_view mode) -> Answer<User> {
    const Attempt one(rbac, user, as, mode);
    TRY(one.MayAsk(asked));
    return one.Be();
  };
  const std::string_view mode = ModeFor(as);
  Answer<User> other = attempt(mode);
  if (other || mode.empty()) return other;
  if (Answer<User> of_old = attempt("")) return of_old;
  return other;
}

}  // namespace gpuop::sim
