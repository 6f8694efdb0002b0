#pragma once
// Where the rooms beside the core plug in: knowledge of types, who may do what, how Tables look, admission, and
// further paths and verbs. Every hook has a default that works, so the core runs without any of them.

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/request.h"
#include "sim/response.h"

namespace gpuop::sim {

/// What is known about the types of objects. The default knows nothing: JSON only, everything passes, no field
/// ownership, no apply.
class TypeSystem {
 public:
  virtual ~TypeSystem() = default;

  /// Reads a body of any supported content type (JSON, YAML, protobuf). `problems` gets what strict reading finds in
  /// the text itself, like `duplicate field "spec.x"`.
  virtual Answer<boost::json::object> Decode(const Request& request, std::string_view content_type,
                                             std::string_view body, std::vector<std::string>& problems);
  /// Drops fields that the type does not have, naming each in `problems` (`unknown field "spec.x"`), and refuses values
  /// of a wrong JSON type as decoding would. Called on what was sent and on what a patch made.
  virtual Answer<> Conform(const Request& request, boost::json::object& object, std::vector<std::string>& problems);
  /// Fills in what the API server fills in.
  virtual void Default(const Request& request, boost::json::object& object);
  /// What is wrong with `object`; `old` is null for a create. metadata's own rules are the core's.
  virtual std::vector<FieldError> Validate(const Request& request, const boost::json::object& object,
                                           const boost::json::object* old);
  /// Sets metadata.managedFields of `now` after a write that was not an apply. `old` is null for a create.
  virtual void TrackFields(const Request& request, const boost::json::object* old, boost::json::object& now);
  /// Server-side apply: `live` (null: to be created) with the applied configuration `wanted` merged in, managedFields
  /// included. Conflicts with other managers are a Status unless `force`.
  virtual Answer<boost::json::object> Apply(const Request& request, const boost::json::object* live,
                                            const boost::json::object& wanted, bool force);
  /// `object` in another version of its resource. The default rewrites apiVersion alone.
  virtual Answer<> Convert(const ResourceInfo& to, boost::json::object& object);
};

/// Rows and columns of Tables. The default shows NAME and AGE.
class TableRenderer {
 public:
  virtual ~TableRenderer() = default;
  /// The columnDefinitions array as JSON text.
  virtual std::string Columns(const ResourceInfo& resource);
  /// One row without its object: `"cells":[…]`, and `,"conditions":[…]` where the kind has any. `now` is for ages.
  virtual std::string Row(const ResourceInfo& resource, const boost::json::object& object, WallTime now);
};

/// May they? The default lets everybody do everything.
using Authorizer = std::function<Answer<>(const Attributes& attributes)>;

/// Looks at a write before it is made, and may change or refuse it. `object` is null for a delete, `old` for a create.
using Admission =
    std::function<Answer<>(Request& request, boost::json::object* object, const boost::json::object* old)>;

/// Answers one verb of one (sub)resource instead of the core: reviews, evictions, tokens.
using VerbHandler = std::function<Answer<Response>(Request& request)>;

/// Answers a path that is no resource: discovery, OpenAPI. The path begins with the prefix it was registered under.
using PathHandler = std::function<Answer<Response>(const kube::ApiRequest& request, const User& user)>;

}  // namespace gpuop::sim
