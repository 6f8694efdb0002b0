// What every GPU container gets of the driver.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "container/elf/elf.h"
#include "container/generate/parts.h"

namespace gpuop::container {
namespace {

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// `target::link` pairs, doubles left out.
class Links {
 public:
  void Add(const std::string& target, const std::string& link) {
    const std::string pair = target + "::" + link;
    if (!seen_.insert(pair).second) return;
    args_.emplace_back("--link");
    args_.push_back(pair);
  }
  std::vector<std::string> Take() && { return std::move(args_); }
  bool empty() const { return args_.empty(); }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> args_;
};

std::vector<std::string> FindDriverLibraries(const Generation& g) {
  std::set<std::string> found;
  const auto add = [&](const std::vector<std::string>& paths) { found.insert(paths.begin(), paths.end()); };
  const std::vector<std::string> folders = g.driver.VersionFolders(g.version);
  add(g.driver.Files(folders, "*.so." + g.version));
  add(g.driver.Files(folders, "vdpau/*.so." + g.version));
  add(g.driver.Libraries("libnvidia-nvvm70.so.*"));
  if (g.feature("enable-explicit-driver-libraries"))
    for (const char* name :
         {"libEGL.so", "libGL.so", "libGLESv1_CM.so", "libGLESv2.so", "libGLX.so", "libGLdispatch.so", "libOpenCL.so",
          "libOpenGL.so", "libnvidia-api.so", "libnvidia-egl-xcb.so", "libnvidia-egl-xlib.so"})
      add(g.driver.Libraries(name));
  return {found.begin(), found.end()};
}

std::vector<std::string> FindGraphicsLibraries(const Generation& g) {
  std::set<std::string> found;
  const auto add = [&](const std::vector<std::string>& paths) { found.insert(paths.begin(), paths.end()); };
  for (const char* name : {"gbm", "wayland", "wayland2", "xcb", "xlib"})
    add(g.driver.Libraries("libnvidia-egl-" + std::string(name) + ".so.*.*"));
  add(g.driver.Libraries("libnvidia-vulkan-producer.so." + g.version));
  std::vector<std::string> xorg;
  const std::vector<std::string> modules = {"/drivers", "/extensions", "/updates/drivers", "/updates/extensions"};
  for (const std::string& folder : g.driver.VersionFolders(g.version)) {
    xorg.push_back(folder + "/nvidia/xorg");
    for (const std::string& module : modules) xorg.push_back(folder + "/xorg/modules" + module);
  }
  for (const std::string base : {"/usr/lib/xorg", "/usr/lib64/xorg", "/usr/X11R6/lib", "/usr/X11R6/lib64"})
    for (const std::string& module : modules) xorg.push_back(base + "/modules" + module);
  for (const std::string& name : {std::string("nvidia_drv.so"), "libglxserver_nvidia.so." + g.version}) {
    std::vector<std::string> candidates;
    for (const std::string& folder : xorg) candidates.push_back(folder + "/" + name);
    if (std::string path = g.driver.First(candidates); !path.empty()) found.insert(std::move(path));
  }
  return {found.begin(), found.end()};
}

void AddPrograms(const Generation& g, bool graphics, CdiEdits& edits) {
  std::vector<std::string> names = {
      "nvidia-smi",  "nvidia-debugdump", "nvidia-persistenced", "nvidia-cuda-mps-control", "nvidia-cuda-mps-server",
      "nvidia-imex", "nvidia-imex-ctl"};
  if (graphics) names.emplace_back("nvidia-xconfig");
  for (const std::string& name : names) {
    std::vector<std::string> candidates;
    for (const char* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"})
      candidates.push_back(std::string(folder) + "/" + name);
    if (const std::string path = g.driver.First(candidates); !path.empty()) AddMount(g, path, edits);
  }
}

void AddFirmware(const Generation& g, CdiEdits& edits) {
  std::vector<std::string> folders;
  if (const auto custom = g.files.host.Read("/sys/module/firmware_class/parameters/path"))
    if (const std::string path(Trim(*custom)); path.starts_with('/')) folders.push_back(path);
  for (const std::string base : {"/lib/firmware/updates", "/lib/firmware"}) {
    if (!g.machine.kernel_release.empty()) folders.push_back(base + "/" + g.machine.kernel_release);
    folders.push_back(base);
  }
  for (const std::string& path : g.driver.Files(folders, "nvidia/" + g.version + "/gsp*.bin")) AddMount(g, path, edits);
}

void AddSockets(const Generation& g, CdiEdits& edits) {
  if (g.feature("disable-ipc-discoverer")) return;
  for (const char* name : {"nvidia-persistenced", "nvidia-fabricmanager"}) {
    const std::string tail = "/" + std::string(name) + "/socket";
    const std::string path = g.driver.First({"/run" + tail, "/var/run" + tail}, true);
    if (path.empty()) continue;
    edits.mounts.push_back({.host_path = BelowRoot(g.options.driver_root, path),
                            .container_path = path,
                            .options = {"nosuid", "nodev", "rbind", "rprivate", "noexec"}});
  }
}

/// Configuration files appear below /usr/share and /etc wherever the driver's root keeps them.
void AddGraphicsConfigs(const Generation& g, CdiEdits& edits) {
  std::vector<std::string> folders = g.options.config_folders;
  if (folders.empty()) folders = {"/etc", "/usr/local/share", "/usr/share"};
  const auto add = [&](const std::string& target, const std::string& name, bool at_root) {
    std::vector<std::string> candidates;
    for (const std::string& folder : folders) candidates.push_back(folder + "/" + name);
    if (at_root) candidates.push_back("/" + name);
    if (const std::string path = g.driver.First(candidates); !path.empty())
      AddMount(g, path, edits, target + "/" + name);
  };
  for (const char* name :
       {"glvnd/egl_vendor.d/10_nvidia.json", "egl/egl_external_platform.d/15_nvidia_gbm.json",
        "egl/egl_external_platform.d/10_nvidia_wayland.json", "egl/egl_external_platform.d/09_nvidia_wayland2.json",
        "egl/egl_external_platform.d/20_nvidia_xcb.json", "egl/egl_external_platform.d/20_nvidia_xlib.json",
        "nvidia/nvoptix.bin", "X11/xorg.conf.d/10-nvidia.conf", "X11/xorg.conf.d/nvidia-drm-outputclass.conf"})
    add("/usr/share", name, false);
  for (const char* name : {"OpenCL/vendors/nvidia.icd", "vulkan/icd.d/nvidia_icd.json",
                           "vulkan/icd.d/nvidia_layers.json", "vulkan/implicit_layer.d/nvidia_layers.json",
#if defined(__aarch64__)
                           "vulkan/icd.d/nvidia_icd.aarch64.json"
#else
                           "vulkan/icd.d/nvidia_icd.x86_64.json"
#endif
       })
    add("/etc", name, std::string_view(name).starts_with("vulkan/"));
}

void AddGraphicsLinks(const Generation& g, const std::vector<std::string>& graphics, CdiEdits& edits) {
  Links links;
  for (const std::string& path : g.driver.Libraries("libnvidia-allocator.so." + g.version))
    links.Add("../libnvidia-allocator.so.1", os::FolderOf(path) + "/gbm/nvidia-drm_gbm.so");
  for (const std::string& path : graphics)
    for (const std::string name : {"libnvidia-vulkan-producer.so", "libglxserver_nvidia.so"})
      if (NameOf(path) == name + "." + g.version) links.Add(NameOf(path), os::FolderOf(path) + "/" + name);
  if (!links.empty()) AddHook(g, "create-symlinks", std::move(links).Take(), edits);
}

/// The names beside the driver's libraries by which programs load them.
void AddDriverLinks(const Generation& g, const std::vector<std::string>& libraries, CdiEdits& edits) {
  Links links;
  for (const std::string& path : libraries) {
    const std::string name = NameOf(path), folder = os::FolderOf(path) + "/";
    if (!name.ends_with("." + g.version)) continue;
    if (name.starts_with("libcuda.so.")) links.Add("libcuda.so.1", folder + "libcuda.so");
    if (name.starts_with("libGLX_nvidia.so.")) links.Add(name, folder + "libGLX_indirect.so.0");
    if (name.starts_with("libnvidia-opticalflow.so."))
      links.Add("libnvidia-opticalflow.so.1", folder + "libnvidia-opticalflow.so");
    const auto soname = ElfSoname(PartsOf(g.driver.fs(), path));
    if (!soname || soname->empty() || soname->contains('/') || FindControl(*soname) != std::string::npos) continue;
    if (*soname != name && g.driver.IsLink(folder + *soname)) links.Add(name, folder + *soname);
    const std::string plain = soname->substr(0, soname->find(".so") + 3);
    if (plain != *soname && g.driver.IsLink(folder + plain)) links.Add(*soname, folder + plain);
  }
  if (!links.empty()) AddHook(g, "create-symlinks", std::move(links).Take(), edits);
}

}  // namespace

Result<> AddDriverFiles(Generation& g, bool graphics, CdiEdits& edits) {
  const std::vector<std::string> libraries = FindDriverLibraries(g);
  const std::vector<std::string> folders = g.driver.VersionFolders(g.version);
  edits.env.push_back("NVIDIA_CTK_LIBCUDA_DIR=" + Join(folders, ":"));
  std::set<std::string> mounted(libraries.begin(), libraries.end());
  std::vector<std::string> graphics_libraries;
  if (graphics) {
    graphics_libraries = FindGraphicsLibraries(g);
    mounted.insert(graphics_libraries.begin(), graphics_libraries.end());
    AddGraphicsConfigs(g, edits);
    AddGraphicsLinks(g, graphics_libraries, edits);
  }
  for (const std::string& path : mounted) AddMount(g, path, edits);
  AddPrograms(g, graphics, edits);
  AddFirmware(g, edits);
  AddSockets(g, edits);
  AddDriverLinks(g, libraries, edits);
  AddHook(g, "enable-cuda-compat", {"--host-driver-version=" + g.version}, edits);
  AddLoaderCache(g, LibraryFolders(edits), edits);
  return {};
}

}  // namespace gpuop::container
