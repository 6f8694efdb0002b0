#include <algorithm>
#include <array>
#include <set>

#include "container/runtime/modify.h"

namespace gpuop::container {
namespace {

/// Which capability a file belongs to, by the beginning of its name; the first match counts.
struct Belongs {
  std::string_view prefix, capability;
};

constexpr std::array kFiles = {Belongs{"libnvidia-ml.so", "utility"},
                               Belongs{"libnvidia-cfg.so", "utility"},
                               Belongs{"libnvidia-nscq.so", "utility"},
                               Belongs{"nvidia-smi", "utility"},
                               Belongs{"nvidia-debugdump", "utility"},
                               Belongs{"nvidia-persistenced", "utility"},
                               Belongs{"libcudadebugger.so", "compute"},
                               Belongs{"libnvidia-opencl.so", "compute"},
                               Belongs{"libnvidia-compiler.so", "compute"},
                               Belongs{"nvidia.icd", "compute"},
                               Belongs{"nvidia-cuda-mps", "compute"},
                               Belongs{"libnvidia-encode.so", "video"},
                               Belongs{"libnvcuvid.so", "video"},
                               Belongs{"libnvidia-opticalflow.so", "video"},
                               Belongs{"libvdpau_nvidia.so", "video"},
                               Belongs{"libnvidia-ngx.so", "ngx"},
                               Belongs{"libEGL_nvidia.so", "graphics"},
                               Belongs{"libGLX_nvidia.so", "graphics"},
                               Belongs{"libGLESv1_CM_nvidia.so", "graphics"},
                               Belongs{"libGLESv2_nvidia.so", "graphics"},
                               Belongs{"libnvidia-eglcore.so", "graphics"},
                               Belongs{"libnvidia-glcore.so", "graphics"},
                               Belongs{"libnvidia-glsi.so", "graphics"},
                               Belongs{"libnvidia-glvkspirv.so", "graphics"},
                               Belongs{"libnvidia-rtcore.so", "graphics"},
                               Belongs{"libnvoptix.so", "graphics"},
                               Belongs{"libnvidia-fbc.so", "graphics"},
                               Belongs{"libnvidia-egl-", "graphics"},
                               Belongs{"libnvidia-vulkan-producer.so", "graphics"},
                               Belongs{"libnvidia-tls.so", "graphics"},
                               Belongs{"nvidia_icd", "graphics"},
                               Belongs{"nvidia_layers.json", "graphics"},
                               Belongs{"10_nvidia", "graphics"},
                               Belongs{"15_nvidia_gbm.json", "graphics"},
                               Belongs{"09_nvidia_wayland", "graphics"},
                               Belongs{"20_nvidia_x", "graphics"},
                               Belongs{"nvoptix.bin", "graphics"},
                               Belongs{"nvidia_drv.so", "display"},
                               Belongs{"libglxserver_nvidia.so", "display"},
                               Belongs{"10-nvidia.conf", "display"},
                               Belongs{"nvidia-drm-outputclass.conf", "display"},
                               Belongs{"nvidia-xconfig", "display"}};

std::string_view CapabilityOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const Belongs& file : kFiles)
    if (name.starts_with(file.prefix)) return file.capability;
  return {};
}

}  // namespace

void KeepCapabilities(const std::vector<std::string>& capabilities, CdiSpec& spec) {
  std::set<std::string_view> wanted(capabilities.begin(), capabilities.end());
  // What draws on a screen needs what draws.
  if (wanted.contains("display")) wanted.insert("graphics");
  std::set<std::string> gone;
  std::erase_if(spec.edits.mounts, [&](const CdiMount& mount) {
    const std::string_view capability = CapabilityOf(mount.container_path);
    const bool drop = !capability.empty() && !wanted.contains(capability);
    if (drop) gone.insert(mount.container_path);
    return drop;
  });
  // Links to what is not there go too: --link target::link beside the library.
  for (CdiHook& hook : spec.edits.hooks) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < hook.args.size(); ++i) {
      const std::size_t middle =
          i + 1 < hook.args.size() && hook.args[i] == "--link" ? hook.args[i + 1].find("::") : std::string::npos;
      if (middle == std::string::npos) {
        kept.push_back(hook.args[i]);
        continue;
      }
      const std::string_view link = std::string_view(hook.args[i + 1]).substr(middle + 2);
      const std::string_view capability = CapabilityOf(link);
      if (capability.empty() || wanted.contains(capability)) kept.insert(kept.end(), {hook.args[i], hook.args[i + 1]});
      ++i;
    }
    hook.args = std::move(kept);
  }
  std::erase_if(spec.edits.hooks,
                [](const CdiHook& hook) { return hook.args.size() == 2 && hook.args[1] == "create-symlinks"; });
}

}  // namespace gpuop::container
