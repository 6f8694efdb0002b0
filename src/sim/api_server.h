#pragma once
// The API server's core: requests in, answers out, as plain function calls on one thread. Doors (HTTP, in-process)
// stand in front of it; controllers and the scheduler are clients like any other.

#include <boost/json/object.hpp>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/executor.h"
#include "base/rng.h"
#include "sim/encode.h"
#include "sim/hooks.h"
#include "sim/request.h"
#include "sim/resource.h"
#include "sim/response.h"
#include "sim/store.h"

namespace gpuop::sim {

class OpenWatch;

/// Takes a watch's events. Calls come one at a time from tasks on the executor, never from inside ApiServer::Open.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  /// One event: a JSON document and a line end, shared with every other watch that sends the same. False: no more for
  /// now; call Watch::Resume when there is room. A watch that stays behind until its history is gone is cut.
  virtual bool OnEvent(const Text& event) = 0;
  /// The watch is over (its time is up, it was cut, or an ERROR event was its last). Nothing follows.
  virtual void OnEnd() = 0;
};

/// An open watch. Destroying it ends it; no sink call comes after that.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void Resume() = 0;
};

/// Not thread-safe: one thread owns the server, its store and its registry, and runs the executor's tasks.
class ApiServer {
 public:
  /// What it stands on; all outlive the server.
  struct Parts {
    Executor& executor;
    Rng& rng;
    Store& store;
    Registry& registry;
  };

  explicit ApiServer(Parts parts);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Answers one request. A watch is refused here: see Open.
  Response Handle(const kube::ApiRequest& request, const User& user);
  /// Whether the request asks for a stream (?watch=true, or the old /watch/ paths) and so belongs to Open.
  static bool IsWatch(const kube::ApiRequest& request);
  /// Opens a watch, or says why not.
  std::expected<std::unique_ptr<Watch>, Response> Open(const kube::ApiRequest& request, const User& user,
                                                       std::shared_ptr<WatchSink> sink);
  /// Ends every open watch without a word, as a connection that breaks (a fault to inject). The number of those ended.
  std::size_t DropWatches();
  std::size_t open_watches() const;

  // What plugs in. The objects passed outlive the server.
  void SetTypes(TypeSystem& types) { types_ = &types; }
  void SetTables(TableRenderer& tables) { tables_ = &tables; }
  void SetAuthorizer(Authorizer authorizer) { authorizer_ = std::move(authorizer); }
  const Authorizer& authorizer() const { return authorizer_; }
  /// Mutating admission runs in the order of registration after defaulting, validating admission after validation.
  void AddMutation(Admission admission) { mutations_.push_back(std::move(admission)); }
  void AddCheck(Admission admission) { checks_.push_back(std::move(admission)); }
  /// Takes over `verb` of a resource; `subresource` is empty for the resource itself. Any version of the group.
  void SetHandler(std::string_view group, std::string_view plural, std::string_view subresource, std::string_view verb,
                  VerbHandler handler);
  /// Takes over every path under `prefix`; the longest prefix wins.
  void AddPath(std::string prefix, PathHandler handler);

  // For the parts of the core that carry a request out.
  TypeSystem& types() { return *types_; }
  TableRenderer& tables() { return *tables_; }
  /// Runs mutating or validating admission.
  Answer<> Mutate(Request& request, boost::json::object* object, const boost::json::object* old);
  Answer<> Check(Request& request, boost::json::object* object, const boost::json::object* old);
  Encoder EncoderFor(const Request& request, const Form& form);
  /// The resource in the version that its table keeps; `info` itself where that is the same.
  ResourcePtr StorageOf(const ResourcePtr& info) const;

  // For handlers that stand on the core's own verbs. `body` is the object or the options, already decoded.
  Answer<Response> Create(Request& request, boost::json::object body);
  /// As DELETE with these DeleteOptions.
  Answer<Response> Delete(Request& request, const boost::json::object& options);
  /// The object asked for, parsed and in the request's version. NotFound when it is not there.
  Answer<boost::json::object> Read(const Request& request) const;
  /// Reads the request's body by the TypeSystem, fieldValidation applied.
  Answer<boost::json::object> DecodeBody(Request& request);

  Executor& executor() { return parts_.executor; }
  Rng& rng() { return parts_.rng; }
  Store& store() { return parts_.store; }
  Registry& registry() { return parts_.registry; }

 private:
  friend class OpenWatch;

  Answer<Response> Route(const kube::ApiRequest& request, const User& user);
  Answer<Response> Dispatch(Request& request);
  Answer<Response> RunSubresource(Request& request);
  Answer<Request> Admitted(const kube::ApiRequest& request, const User& user);
  Answer<Response> PlainPath(const kube::ApiRequest& request, const User& user);
  Answer<std::unique_ptr<Watch>> OpenOne(const kube::ApiRequest& request, const User& user,
                                         std::shared_ptr<WatchSink> sink);
  void Committed(std::string_view table, const Event& event);
  Text EventText(const Event& event);

  Parts parts_;
  TypeSystem default_types_;
  TableRenderer default_tables_;
  TypeSystem* types_ = &default_types_;
  TableRenderer* tables_ = &default_tables_;
  Authorizer authorizer_;
  std::vector<Admission> mutations_, checks_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, VerbHandler> handlers_;
  std::map<std::string, PathHandler, std::less<>> paths_;
  std::map<std::string, std::list<OpenWatch*>, std::less<>> watches_;  // by table, oldest first
  std::deque<Text> recent_;  // event texts kept for the next watch that sends the same
  std::size_t recent_bytes_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace gpuop::sim
