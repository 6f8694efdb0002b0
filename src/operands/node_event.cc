#include "operands/node_event.h"

#include <fmt/core.h>

#include "data/json.h"
#include "kube/types/core.h"

namespace gpuop::operands {

Result<> WriteNodeEvent(const kube::Client& client, const kube::Node& node, const NodeNews& news, WallTime now) {
  using data::JsonObject;
  // Events of what has no namespace are kept in this one.
  constexpr const char* kNodeEvents = "default";
  const std::string& name = node.meta.name;
  const JsonObject event{
      {"metadata",
       JsonObject{{"name", fmt::format("{}.{:x}", name, now.time_since_epoch().count())}, {"namespace", kNodeEvents}}},
      {"involvedObject", JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", name}, {"uid", node.meta.uid}}},
      {"reason", news.reason},
      {"message", news.message},
      {"type", news.warning ? "Warning" : "Normal"},
      {"source", JsonObject{{"component", news.program}, {"host", name}}},
      {"reportingComponent", news.program},
      {"reportingInstance", name},
      {"firstTimestamp", FormatTime(now)},
      {"lastTimestamp", FormatTime(now)},
      {"count", 1}};
  TRY(client.Create(kube::ResourceOf<kube::Event>(), event));
  return {};
}

}  // namespace gpuop::operands
