#include "container/generate/generate.h"

namespace gpuop::container {
namespace {

void Move(std::string& path, const RootTransform& t) {
  std::string_view from = t.from;
  while (from.size() > 1 && from.ends_with('/')) from.remove_suffix(1);
  if (from == "/") {
    if (path.starts_with('/')) path = (t.to == "/" ? "" : t.to) + path;
    return;
  }
  if (path != from && !(path.starts_with(from) && path[from.size()] == '/')) return;
  const std::string rest = path.substr(from.size());
  path = t.to == "/" && !rest.empty() ? rest : t.to + rest;
}

/// Programs of createContainer run in the host's root and see the container's in their arguments; those of
/// startContainer run inside.
void Move(CdiHook& hook, const RootTransform& t) {
  const bool inside = hook.hook_name == "startContainer";
  const bool arguments_inside = inside || hook.hook_name == "createContainer";
  if (t.host && !inside) Move(hook.path, t);
  if (t.host != arguments_inside)
    for (std::string& argument : hook.args) Move(argument, t);
}

void Move(CdiEdits& edits, const RootTransform& t) {
  for (CdiDeviceNode& node : edits.device_nodes) {
    if (t.host) {
      if (node.host_path.empty()) node.host_path = node.path;
      Move(node.host_path, t);
      if (node.host_path == node.path) node.host_path.clear();
    } else {
      Move(node.path, t);
    }
  }
  for (CdiMount& mount : edits.mounts) Move(t.host ? mount.host_path : mount.container_path, t);
  for (CdiHook& hook : edits.hooks) Move(hook, t);
}

}  // namespace

void TransformRoot(CdiSpec& spec, const RootTransform& transform) {
  Move(spec.edits, transform);
  for (CdiDevice& device : spec.devices) Move(device.edits, transform);
  if (CdiVersionBefore(spec.version, MinimumCdiVersion(spec).version)) spec.version = MinimumCdiVersion(spec).version;
}

}  // namespace gpuop::container
