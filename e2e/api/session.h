#pragma once
// One scenario's conversation with an API server, written down so that two servers can be compared word for word.

#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "e2e/api/normalise.h"
#include "kube/door.h"

namespace gpuop::e2e {

using Query = std::vector<std::pair<std::string, std::string>>;

/// Opens a door for a user; an empty name is the administrator.
using DoorFactory =
    std::function<std::unique_ptr<kube::Door>(const std::string& user, const std::vector<std::string>& groups)>;

/// Lets the peer work until `done` or `limit`: waits on a wire, runs the virtual clock in process.
using Pump = std::function<bool(const std::function<bool()>& done, Duration limit)>;

/// Sends requests and writes each down with its normalised answer. Every step is one check: a server that answers
/// anything else than its peer differs in that step's text.
class Session {
 public:
  Session(DoorFactory doors, Pump pump, std::string ns);

  /// The scenario's own namespace.
  const std::string& ns() const { return ns_; }
  /// "/api/v1/namespaces/<ns>/<rest>"
  std::string Core(std::string_view rest) const;
  /// "/apis/<group version>/namespaces/<ns>/<rest>"
  std::string Apis(std::string_view group_version, std::string_view rest) const;

  /// Each sends one request, records it and returns the answer's body as it came (not normalised).
  boost::json::value Get(const std::string& path, Query query = {});
  boost::json::value Post(const std::string& path, std::string body, Query query = {});
  boost::json::value Put(const std::string& path, std::string body, Query query = {});
  boost::json::value Delete(const std::string& path, std::string body = "", Query query = {});
  boost::json::value MergePatch(const std::string& path, std::string body, Query query = {});
  boost::json::value JsonPatch(const std::string& path, std::string body, Query query = {});
  boost::json::value StrategicPatch(const std::string& path, std::string body, Query query = {});
  /// Server-side apply as `manager`.
  boost::json::value Apply(const std::string& path, std::string body, const std::string& manager, bool force = false);
  boost::json::value Send(kube::ApiRequest request);

  /// Sends requests that set the stage; nothing of them is recorded, and a refusal ends the scenario.
  boost::json::value Quietly(const std::string& method, const std::string& path, std::string body = "");

  /// Waits, for 10 s at most and without recording, until a GET of `path` is answered with 200.
  void WaitFor(const std::string& path);

  /// Later requests are sent as this user, until the next call; an empty name is the administrator again.
  void As(const std::string& user, const std::vector<std::string>& groups = {});

  /// Opens a watch, runs `act`, and records the first `count` events in order (fewer when no more come).
  void Watch(const std::string& path, Query query, std::size_t count, const std::function<void()>& act = {});

  /// Records whatever a scenario worked out itself, as one check.
  void Note(std::string_view what, std::string_view value);

  /// How many checks were recorded.
  std::size_t checks() const { return checks_; }
  /// All steps, in order.
  const std::string& transcript() const { return transcript_; }

 private:
  void Record(const std::string& title, const std::string& text);

  DoorFactory doors_;
  Pump pump_;
  std::string ns_;
  std::unique_ptr<kube::Door> door_;
  Normaliser normaliser_;
  std::string transcript_;
  std::size_t checks_ = 0;
};

/// A named conversation.
struct Scenario {
  const char* name;
  void (*run)(Session&);
};
/// For test reports.
inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

/// All scenarios in order.
std::vector<Scenario> AllScenarios();

}  // namespace gpuop::e2e
