#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "sim/api_server.h"

namespace gpuop::sim {

/// DELETE, of one object and of a collection: preconditions, grace, finalizers, what happens to dependents.
class Deleter {
 public:
  Deleter(ApiServer& server, Request& request) : server_(server), request_(request), info_(*request.resource) {}

  /// `options` is the request's DeleteOptions object (parameters count where the body says nothing).
  Answer<Response> One(const boost::json::object& options);
  Answer<Response> Collection(const boost::json::object& options);

  /// The DeleteOptions of a request: its body, or an empty object.
  static Answer<boost::json::object> ReadOptions(ApiServer& server, Request& request);

 private:
  struct Options {
    std::optional<std::int64_t> grace;
    std::string policy;  // Foreground, Background, Orphan; empty: as the kind does
    std::string uid, revision;
  };
  struct Deleted {
    StoredPtr last;
    boost::json::object object;
    bool gone = false;
  };

  Answer<Options> Understand(const boost::json::object& options) const;
  Answer<> CheckPreconditions(const Options& options, const Stored& stored) const;
  Answer<Deleted> DeleteStored(const StoredPtr& stored, const Options& options);
  bool MarkGraceful(boost::json::object& object, const Options& options, bool& pending) const;
  bool SetFinalizers(boost::json::object& object, const Options& options) const;
  void MarkDeleting(boost::json::object& object) const;
  Answer<StoredPtr> Save(boost::json::object& object);
  Answer<Deleted> Remove(const StoredPtr& stored, boost::json::object object);
  bool DeleteNamespace(boost::json::object& object) const;

  ApiServer& server_;
  Request& request_;
  const ResourceInfo& info_;
};

}  // namespace gpuop::sim
