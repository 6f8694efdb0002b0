#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "sim/api_server.h"

namespace gpuop::sim {

/// Makes CustomResourceDefinitions work: what is established is served, names are accepted or refused, and a deleted
/// definition takes its instances along (finalizer customresourcecleanup.apiextensions.k8s.io).
///
/// Serving follows each commit at once; statuses and deletions are written by tasks on the server's executor.
class CrdController {
 public:
  /// Plugs itself into the server, which outlives it or takes no more requests.
  explicit CrdController(ApiServer& server);

 private:
  void See(const Event& event);
  void Serve(const boost::json::object& crd);
  void Withdraw(const std::string& name);
  /// Runs Sync for every definition of the group, soon.
  void Wake(std::string group);
  void SyncGroup(const std::string& group);
  void SyncNames(const boost::json::object& crd);
  void Finalize(boost::json::object crd);
  void DeleteInstances(const boost::json::object& crd, const std::string& table);
  void Write(const boost::json::object& crd, std::string_view subresource);
  Answer<Response> HandleDelete(Request& request);
  Answer<> RefuseCreateWhileTerminating(Request& request, const boost::json::object* old) const;

  ApiServer& server_;
  /// By CRD name: the versions served for it.
  std::map<std::string, std::set<std::string>, std::less<>> served_;
  /// Tables whose definition is going away, with its group.
  std::map<std::string, std::string, std::less<>> terminating_;
  /// Groups for which a task is on its way.
  std::set<std::string> woken_;
  /// Tasks hold it weakly: they do nothing once the controller is gone.
  std::shared_ptr<CrdController*> self_ = std::make_shared<CrdController*>(this);
};

}  // namespace gpuop::sim
