#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "kube/resource.h"

namespace gpuop::kube {

/// A resource and what can be done with it.
struct ApiResource {
  Resource resource;
  std::string singular;
  std::set<std::string> verbs;
  std::vector<std::string> short_names, categories;
  std::set<std::string> subresources;  ///< "status", "scale"
  bool operator==(const ApiResource&) const = default;
};

/// Everything an API server serves, in its order of preference.
using ApiCatalogue = std::vector<ApiResource>;

/// Reads aggregated discovery (apidiscovery.k8s.io/v2: the answers to GET /api and GET /apis).
Result<ApiCatalogue> ReadAggregated(const boost::json::object& list);
/// Reads one APIResourceList (the answer to GET /apis/apps/v1).
Result<ApiCatalogue> ReadResourceList(const boost::json::object& list);

/// Maps kinds to resources and back, as the server at hand has them. Asks when first needed and again when something
/// unknown is asked for (a CRD may have come), but not more often than every `patience`. Thread-safe; calls block.
class Discovery {
 public:
  Discovery(Client client, const Clock& clock, Duration patience = std::chrono::seconds(10))
      : client_(std::move(client)), clock_(clock), patience_(patience) {}

  /// kNotFound when the server does not serve that kind. An empty version means the preferred one.
  Result<ApiResource> FindKind(std::string_view group, std::string_view version, std::string_view kind);
  /// By plural, as in URLs and RBAC rules.
  Result<ApiResource> FindPlural(std::string_view group, std::string_view version, std::string_view plural);
  /// What an object's apiVersion and kind stand for.
  Result<ApiResource> FindFor(const boost::json::object& object);
  /// Everything, asked for if it never was.
  Result<ApiCatalogue> All();
  /// Asks again.
  Result<> Refresh();

 private:
  template <class Match>
  Result<ApiResource> Find(const Match& match, const std::string& what);
  Result<ApiCatalogue> Ask();
  Result<ApiCatalogue> AskPlain();

  const Client client_;
  const Clock& clock_;
  const Duration patience_;
  Mutex mu_;
  std::optional<ApiCatalogue> known_ GUARDED_BY(mu_);
  TimePoint asked_ GUARDED_BY(mu_){};
};

}  // namespace gpuop::kube
