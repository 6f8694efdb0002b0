#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/client.h"
#include "kube/types/meta.h"

namespace gpuop::sim {

/// What an event says about its object.
struct EventText {
  std::string_view type, reason;
  /// Not empty: written the way of events.k8s.io (eventTime, action, series), as the scheduler does.
  std::string_view action;
  std::string message;
};

/// Writes Events for one component. The same event again raises the count of the one that is there, at most once in
/// `kQuiet`; what comes more often is dropped. An event that cannot be written is logged and forgotten. Not
/// thread-safe.
class EventWriter {
 public:
  EventWriter(Executor& executor, kube::Client client, Log& log, std::string component, std::uint64_t seed);

  void Emit(const kube::ObjectReference& about, const EventText& text);

  static constexpr Duration kQuiet = std::chrono::seconds(5);

 private:
  struct Seen {
    std::string ns, name;
    int count = 1;
    TimePoint last{};
  };

  void Write(const kube::ObjectReference& about, const EventText& text, Seen& seen);
  void Repeat(const EventText& text, Seen& seen);

  Executor& executor_;
  kube::Client client_;
  Log& log_;
  const std::string component_;
  Rng rng_;
  std::map<std::string, Seen> seen_;
};

/// A reference to a typed object.
template <class T>
kube::ObjectReference ReferenceTo(const T& object) {
  kube::ObjectReference ref;
  ref.api_version = std::string_view(T::kResource.ApiVersion());
  ref.kind = std::string_view(T::kResource.kind);
  ref.ns = object.meta.ns;
  ref.name = object.meta.name;
  ref.uid = object.meta.uid;
  ref.resource_version = object.meta.resource_version;
  return ref;
}

}  // namespace gpuop::sim
