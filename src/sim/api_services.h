#pragma once
// APIServices: the groups and versions that are served, as objects that people look at. They are for looking alone:
// what names a Service is kept and never called.

#include <memory>

#include "sim/api_server.h"

namespace gpuop::sim {

/// Keeps an APIService for each served group and version, as the real server's aggregator does: built-in ones from the
/// start, those of custom resources as they come and go. What somebody else made is left alone.
class ApiServices {
 public:
  explicit ApiServices(ApiServer& server);
  ApiServices(const ApiServices&) = delete;
  ApiServices& operator=(const ApiServices&) = delete;

  /// Writes what is missing, from now on after every change of what is served too.
  void Start();

 private:
  void Sync();

  ApiServer& server_;
  bool started_ = false, scheduled_ = false;
  std::shared_ptr<ApiServices*> self_;  // empties when this goes
};

}  // namespace gpuop::sim
