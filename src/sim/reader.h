#pragma once

#include "sim/api_server.h"
#include "sim/list_options.h"

namespace gpuop::sim {

/// The verbs that change nothing: get and list.
class Reader {
 public:
  Reader(ApiServer& server, const Request& request) : server_(server), request_(request), info_(*request.resource) {}

  Answer<Response> Get();
  Answer<Response> List();

 private:
  Answer<Page> Collect(const ListOptions& options, std::uint64_t& revision) const;
  Answer<Page> ListOne(const ListOptions& options) const;
  Answer<Page> Continue(const ListOptions& options, std::uint64_t& revision) const;
  Store::Query QueryOf(const ListOptions& options) const;

  ApiServer& server_;
  const Request& request_;
  const ResourceInfo& info_;
};

}  // namespace gpuop::sim
