#include <fmt/core.h>
#include <unistd.h>

#include "machine/host/render.h"

namespace gpuop::machine {
namespace {

/// Libraries of a driver that only have to be there, by their SONAME; the file is called <stem>.<driver version>.
constexpr std::string_view kLibraries[] = {
    "libcudadebugger.so.1",
    "libnvcuvid.so.1",
    "libnvidia-allocator.so.1",
    "libnvidia-cfg.so.1",
    "libnvidia-encode.so.1",
    "libnvidia-eglcore.so",
    "libnvidia-fbc.so.1",
    "libnvidia-glcore.so",
    "libnvidia-glsi.so",
    "libnvidia-glvkspirv.so",
    "libnvidia-gpucomp.so",
    "libnvidia-ngx.so.1",
    "libnvidia-nvvm.so.4",
    "libnvidia-opencl.so.1",
    "libnvidia-opticalflow.so.1",
    "libnvidia-pkcs11-openssl3.so",
    "libnvidia-ptxjitcompiler.so.1",
    "libnvidia-rtcore.so",
    "libnvidia-tls.so",
    "libnvoptix.so.1",
    "libGLX_nvidia.so.0",
    "libEGL_nvidia.so.0",
    "libGLESv1_CM_nvidia.so.1",
    "libGLESv2_nvidia.so.2",
    "libvdpau_nvidia.so.1",
};

std::string_view Stem(std::string_view soname) { return soname.substr(0, soname.find(".so") + 3); }

/// A versioned library, and the links by which programs find it.
void Named(const std::string& folder, std::string_view soname, const std::string& version, Tree& tree) {
  const std::string file = fmt::format("{}.{}", Stem(soname), version);
  if (soname != Stem(soname)) tree.Link(folder + "/" + std::string(soname), file);
}

/// Ours, if it was built: the real file under its versioned name.
void Real(const std::string& folder, std::string_view soname, const std::string& version, const DriverFiles& files,
          Tree& tree) {
  const std::string from = files.folder + "/" + std::string(soname);
  if (::access(from.c_str(), R_OK) != 0) return;
  tree.SameAs(fmt::format("{}/{}.{}", folder, Stem(soname), version), from);
  Named(folder, soname, version, tree);
  if (soname == "libcuda.so.1") tree.Link(folder + "/libcuda.so", "libcuda.so.1");
}

void Libraries(const Spec& spec, const std::string& root, const DriverFiles& files, Tree& tree) {
  const bool arm = spec.host.architecture == Cpu::kArm64;
  const std::string& version = spec.driver.version;
  const std::string folder = root + "/usr/lib/" + std::string(LibraryTriplet(spec.host.architecture));
  for (const std::string_view soname : kLibraries) {
    tree.File(fmt::format("{}/{}.{}", folder, Stem(soname), version), EmptyLibrary(soname, arm), 0755);
    Named(folder, soname, version, tree);
  }
  for (const char* soname : {"libnvidia-ml.so.1", "libcuda.so.1"}) Real(folder, soname, version, files, tree);
#if defined(__aarch64__)
  const Cpu own = Cpu::kArm64;
#else
  const Cpu own = Cpu::kAmd64;
#endif
  // A machine of another architecture still runs programs of this one: they find the libraries where they look.
  if (own != spec.host.architecture)
    for (const char* soname : {"libnvidia-ml.so.1", "libcuda.so.1"})
      Real(root + "/usr/lib/" + std::string(LibraryTriplet(own)), soname, version, files, tree);
}

void KernelModules(const Spec& spec, const layout::Machine& machine, const std::string& root, Tree& tree) {
  const bool arm = spec.host.architecture == Cpu::kArm64;
  const bool wrong = (machine.faults & layout::kFaultModuleVermagic) != 0;
  const std::string vermagic =
      (wrong ? std::string("5.4.0-42-generic") : spec.host.kernel) + " SMP mod_unload modversions ";
  const std::string_view license = spec.driver.kernel_module == KernelModule::kOpen ? "Dual MIT/GPL" : "NVIDIA";
  const std::string folder = fmt::format("{}/usr/lib/modules/{}/updates/dkms", root, spec.host.kernel);
  for (const char* name : {"nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm", "nvidia-peermem"})
    tree.File(fmt::format("{}/{}.ko", folder, name),
              KernelModuleFile(name, spec.driver.version, vermagic, license, arm));
}

}  // namespace

void RenderDriver(const Spec& spec, const layout::Machine& machine, const DriverFiles& files, Tree& tree) {
  tree.Folder(fmt::format("/usr/lib/modules/{}", spec.host.kernel));
  if (!DriverInstalled(spec, machine)) return;
  const std::string root = spec.driver.root == "/" ? "" : spec.driver.root;
  Libraries(spec, root, files, tree);
  KernelModules(spec, machine, root, tree);
  if (!files.program.empty()) tree.SameAs(root + "/usr/bin/nvidia-smi", files.program);
  for (const char* image : {"gsp_tu10x.bin", "gsp_ga10x.bin"})
    tree.File(fmt::format("{}/usr/lib/firmware/nvidia/{}/{}", root, spec.driver.version, image),
              "GSP " + spec.driver.version + "\n");
}

}  // namespace gpuop::machine
