#pragma once

#include <boost/json/object.hpp>

#include "sim/api_server.h"

namespace gpuop::sim {

/// The verbs that make or change an object: create, update, patch, on the resource and its subresources.
class Writer {
 public:
  Writer(ApiServer& server, Request& request);

  /// POST of `body`, already decoded.
  Answer<Response> Create(boost::json::object body);
  /// PUT.
  Answer<Response> Update();
  Answer<Response> Patch();

  struct Written {
    StoredPtr stored;  // null when nothing was written, or what was there has gone with this write
    boost::json::object object;
  };
  /// An update of what is there to `wanted`, whoever made that (a body, a patch, a scale).
  Answer<Written> ReplaceStored(boost::json::object wanted, const StoredPtr& existing);
  /// The stored object, parsed and in the request's version; empty when nothing is stored.
  Answer<boost::json::object> ReadStored(const StoredPtr& stored) const;

  /// The body's apiVersion and kind, where it says any, must be those of the path.
  Answer<> CheckType(const boost::json::object& body) const;
  /// Unknown and duplicate fields become a refusal or warnings, as ?fieldValidation says.
  Answer<> Report(const std::vector<std::string>& problems);

 private:
  /// The refusal of a custom resource of another kind or version than is served here.
  Answer<> WrongCustomType(std::string_view kind, std::string_view version, std::string_view name) const;
  Answer<> CheckNamespace(boost::json::object& metadata) const;
  Answer<> CheckNamespaceExists() const;
  Answer<> CheckNameOnUrl(const boost::json::object& body) const;
  Answer<> CheckPreconditions(const boost::json::object& wanted, const boost::json::object& old,
                              const StoredPtr& existing) const;
  Answer<> Validate(const boost::json::object& object, const boost::json::object* old);
  void ResetMetadata(boost::json::object& object);
  Answer<Written> CreateNamed(boost::json::object& object);
  Answer<Written> Insert(boost::json::object object);
  Answer<Written> Replace(boost::json::object wanted, boost::json::object old, const StoredPtr& existing);
  Answer<Written> Commit(boost::json::object object);
  Answer<boost::json::object> Patched(const boost::json::object* live, std::string_view media);
  Answer<> CheckPatchOptions(bool apply) const;
  Answer<> CheckAppliedType(const boost::json::object& wanted) const;
  Answer<Response> Answered(Written written, int status);

  ApiServer& server_;
  Request& request_;
  const ResourceInfo& info_;
};

}  // namespace gpuop::sim
