#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop::sim {

/// Who asks (authentication's user.Info).
struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool In(std::string_view group) const {
    for (const std::string& g : groups)
      if (g == group) return true;
    return false;
  }
  /// The cluster's administrator, as `kubectl proxy` would be: system:masters may do everything.
  static User Admin() { return {"system:admin", "", {"system:masters", "system:authenticated"}, {}}; }
  static User Anonymous() { return {"system:anonymous", "", {"system:unauthenticated"}, {}}; }
  /// "system:serviceaccount:NAMESPACE:NAME".
  static User ServiceAccount(std::string_view ns, std::string_view account) {
    const std::string space(ns);
    return {"system:serviceaccount:" + space + ":" + std::string(account),
            "",
            {"system:serviceaccounts", "system:serviceaccounts:" + space, "system:authenticated"},
            {}};
  }
};

}  // namespace gpuop::sim
