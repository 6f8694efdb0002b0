// Whatever a server sends, taking it apart neither crashes nor reads beyond it.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/list_text.h"
#include "kube/resource.h"
#include "kube/status.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuop;
  using namespace gpuop::kube;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto list = SplitList(text)) {
    for (const std::string_view item : list->items) {
      // Every item is a piece of the body.
      GPUOP_CHECK(item.data() >= text.data() && item.data() + item.size() <= text.data() + text.size());
      const auto object = ParseObject(item);
      if (!object) continue;
      if (const auto pod = Decode<Pod>(*object)) static_cast<void>(pod->ready());
      if (const auto node = Decode<Node>(*object)) GPUOP_CHECK(!DiffersBeyondHeartbeat(*node, *node));
    }
  }
  if (const auto path = ParsePath(text); path && !path->plural.empty())
    static_cast<void>(PathOf({{path->group, path->version, path->plural, {}, true}, path->ns, path->name, {}}));
  static_cast<void>(ReadStatus(ApiResponse{500, "application/json", std::string(text), {}}));
  return 0;
}
