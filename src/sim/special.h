#pragma once
// Subresources that are neither the object nor its status: scale, binding, log, and what a hollow node cannot do.

#include "sim/api_server.h"

namespace gpuop::sim {

Answer<Response> GetScale(ApiServer& server, Request& request);
Answer<Response> UpdateScale(ApiServer& server, Request& request);
Answer<Response> PatchScale(ApiServer& server, Request& request);
/// POST pods/NAME/binding: sets spec.nodeName once, and the PodScheduled condition.
Answer<Response> BindPod(ApiServer& server, Request& request);
/// Which container's log or process a request means, and where it runs ("" while it has no node).
struct ContainerTarget {
  std::string container, node;
  /// When it was started last, as the status has it; empty: never, and then why it waits.
  std::string since, waiting;
};
/// Reads the request's pod and container parameter. NotFound, or BadRequest in the real server's words.
Answer<ContainerTarget> FindContainer(ApiServer& server, const Request& request);
/// BadRequest: it waits to start.
Answer<> CheckHasRun(const Request& request, const ContainerTarget& target);
/// GET pods/NAME/log: what a hollow container has to say, one line a second since it started.
Answer<Response> PodLog(ApiServer& server, Request& request);

}  // namespace gpuop::sim
