#include "sim/node/engine/container_root.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "os/system_error.h"
#include "sim/node/engine/machine_root.h"
#include "sim/node/engine/syscalls.h"

namespace gpuop::sim::node {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const std::string& path) {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

/// Every node that the machine has: all that is neither folder nor link below /dev.
std::vector<std::string> MachineNodes() {
  std::vector<std::string> out;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator("/dev", error); it != fs::recursive_directory_iterator();
       it.increment(error)) {
    if (error) break;
    const std::string path = it->path();
    if (path == "/dev/pts" || path == "/dev/shm" || path == "/dev/mqueue") it.disable_recursion_pending();
    if (!it->is_directory(error) && !it->is_symlink(error)) out.push_back(path);
  }
  return out;
}

struct OptionName {
  std::string_view name;
  unsigned long flag;
};
constexpr OptionName kFlags[] = {{"ro", MS_RDONLY},
                                 {"nosuid", MS_NOSUID},
                                 {"nodev", MS_NODEV},
                                 {"noexec", MS_NOEXEC},
                                 {"noatime", MS_NOATIME},
                                 {"relatime", MS_RELATIME},
                                 {"strictatime", MS_STRICTATIME},
                                 {"sync", MS_SYNCHRONOUS}};
constexpr OptionName kPropagations[] = {{"private", MS_PRIVATE}, {"rprivate", MS_PRIVATE}, {"slave", MS_SLAVE},
                                        {"rslave", MS_SLAVE},    {"shared", MS_SHARED},    {"rshared", MS_SHARED}};
constexpr std::string_view kPassedOver[] = {"rw", "bind", "suid", "dev", "exec", "rbind", "idmap", "ridmap", ""};

unsigned long Find(std::span<const OptionName> names, std::string_view option) {
  for (const OptionName& n : names)
    if (n.name == option) return n.flag;
  return 0;
}

std::uint64_t Attributes(unsigned long flags) {
  std::uint64_t out = 0;
  if ((flags & MS_RDONLY) != 0) out |= MOUNT_ATTR_RDONLY;
  if ((flags & MS_NOSUID) != 0) out |= MOUNT_ATTR_NOSUID;
  if ((flags & MS_NODEV) != 0) out |= MOUNT_ATTR_NODEV;
  if ((flags & MS_NOEXEC) != 0) out |= MOUNT_ATTR_NOEXEC;
  return out;
}

}  // namespace

MountOptions ReadMountOptions(const std::vector<std::string>& options) {
  MountOptions out;
  for (const std::string& option : options) {
    if (const unsigned long flag = Find(kFlags, option); flag != 0) {
      out.flags |= flag;
    } else if (const unsigned long how = Find(kPropagations, option); how != 0) {
      out.propagation = how;
    } else if (option == "rbind") {
      out.recursive = true;
    } else if (std::ranges::find(kPassedOver, option) == std::end(kPassedOver)) {
      out.data.append(out.data.empty() ? "" : ",").append(option);
    }
  }
  return out;
}

Result<ContainerRoot> ContainerRoot::Begin(const ContainerSpec& spec) {
  ContainerRoot root(spec);
  TRY(root.TakeSources());
  TRY(SetPropagation("/", MS_PRIVATE));
  root.bundle_ = kStage;
  root.path_ = std::string(kStage) + "/rootfs";
  return root;
}

Result<> ContainerRoot::TakeSources() {
  for (const MountSpec& mount : spec_->mounts) {
    if (mount.type != "bind") continue;
    auto tree = CloneTree(mount.source, ReadMountOptions(mount.options).recursive);
    if (!tree && tree.error().code == Code::kNotFound)
      return Fail(Code::kNotFound, "error mounting " + Quote(mount.source) + " to rootfs at " + Quote(mount.target) +
                                       ": mount src=" + mount.source + ", dst=" + mount.target +
                                       ", flags=MS_BIND|MS_REC: no such file or directory");
    if (!tree) return std::unexpected(std::move(tree).error());
    sources_.push_back({&mount, *std::move(tree), IsFolder(mount.source)});
  }
  // What the machine's kernel says of itself is the same in each of its containers.
  for (const char* name : {"version", "modules", "devices", "driver"})
    if (auto tree = CloneTree(std::string("/proc/") + name, true)) kernel_files_.emplace_back(name, *std::move(tree));
  std::vector<DeviceBind> nodes = spec_->devices;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"})
    nodes.push_back({std::string("/dev/") + name, std::string("/dev/") + name});
  if (spec_->all_devices)
    for (const std::string& node : MachineNodes()) nodes.push_back({node, node});
  node_mounts_.reserve(nodes.size());
  for (const DeviceBind& node : nodes) {
    const bool twice = std::ranges::any_of(node_mounts_, [&](const MountSpec& m) { return m.target == node.path; });
    if (twice) continue;
    auto tree = CloneTree(node.source, false);
    if (!tree)
      return Fail(tree.error().code, "error gathering device information while adding custom device " +
                                         Quote(node.source) + ": no such file or directory");
    node_mounts_.push_back({node.path, "bind", node.source, {}});
    nodes_.push_back({&node_mounts_.back(), *std::move(tree), false});
  }
  return {};
}

Result<> ContainerRoot::MakeBase() {
  TRY(Mount("tmpfs", kStage, "tmpfs", 0, "mode=0755"));
  const std::string upper = bundle_ + "/upper", work = bundle_ + "/work";
  for (const std::string& folder : {path_, upper, work})
    if (::mkdir(folder.c_str(), 0755) != 0) return os::FailErrno(errno, folder);
  if (spec_->root.folder.empty()) {
    // A mount of its own, as a root has to be.
    TRY(Mount(path_, path_, "", MS_BIND));
    TRY(LendPrograms(kRealRoot, path_, bundle_ + "/lent"));
    for (const char* name : {"/run", "/var", "/root", "/opt", "/mnt"}) ::mkdir((path_ + name).c_str(), 0755);
    ::mkdir((path_ + "/tmp").c_str(), 0755);
    ::chmod((path_ + "/tmp").c_str(), 01777);
    if (::symlink("/run", (path_ + "/var/run").c_str()) != 0) return os::FailErrno(errno, "/var/run");
    return {};
  }
  const std::string options =
      "lowerdir=" + (kRealRoot + spec_->root.folder) + ",upperdir=" + upper + ",workdir=" + work;
  if (Mount("overlay", path_, "overlay", 0, options)) return {};
  return Mount("overlay", path_, "overlay", 0, options + ",userxattr");
}

Result<> ContainerRoot::MakeNames() {
  if (spec_->root.program.empty()) return {};
  constexpr const char* kProgram = "/usr/local/bin/gpu-operator";
  // Small programs of their own, for hosts and for containers of other images; as far as they were built.
  constexpr std::array kFiles = {"gpu-operator-launch", "nvidia-cdi-hook", "nvidia-container-runtime"};
  const std::string program = kRealRoot + spec_->root.program;
  ASSIGN(const std::string at, MakePlace(path_, kProgram, false));
  TRY(Mount(program, at, "", MS_BIND));
  const auto link = [this](const std::string& target, const std::string& at_name) -> Result<> {
    const std::string where = path_ + at_name;
    if (::symlink(target.c_str(), where.c_str()) != 0 && errno != EEXIST) return os::FailErrno(errno, where);
    return {};
  };
  // As images of this program have it: every name beside it, and in /usr/bin where most manifests look.
  const auto built = [&](const std::string& name) { return program.substr(0, program.rfind('/') + 1) + name; };
  const auto is_file = [&](const std::string& name) {
    return std::ranges::find(kFiles, name) != kFiles.end() && ::access(built(name).c_str(), X_OK) == 0;
  };
  for (const std::string& name : spec_->root.names)
    for (const char* folder : {"/usr/local/bin/", "/usr/bin/"})
      if (!is_file(name)) TRY(link(kProgram, folder + name));
  for (const std::string name : kFiles) {
    const std::string from = built(name);
    if (!is_file(name)) continue;
    ASSIGN(const std::string to, MakePlace(path_, "/usr/local/bin/" + name, false));
    TRY(Mount(from, to, "", MS_BIND));
    TRY(link("/usr/local/bin/" + name, "/usr/bin/" + name));
  }
  return {};
}

Result<> ContainerRoot::MakeDev() {
  ASSIGN(const std::string dev, MakePlace(path_, "/dev", true));
  TRY(Mount("tmpfs", dev, "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=755,size=65536k"));
  for (const auto& [name, target] : {std::pair("ptmx", "pts/ptmx"),
                                     {"fd", "/proc/self/fd"},
                                     {"stdin", "/proc/self/fd/0"},
                                     {"stdout", "/proc/self/fd/1"},
                                     {"stderr", "/proc/self/fd/2"}})
    if (::symlink(target, (dev + "/" + name).c_str()) != 0) return os::FailErrno(errno, dev + "/" + name);
  for (const char* name : {"pts", "shm", "mqueue"}) ::mkdir((dev + "/" + name).c_str(), 0755);
  for (const Source& node : nodes_) TRY(Bind(node));
  return {};
}

Result<> ContainerRoot::Bind(const Source& source) {
  const MountSpec& mount = *source.mount;
  ASSIGN(const std::string at, MakePlace(path_, mount.target, source.folder));
  TRY(AttachTree(source.tree, at));
  const MountOptions options = ReadMountOptions(mount.options);
  if (const std::uint64_t set = Attributes(options.flags); set != 0) TRY(SetMountFlags(at, set, options.recursive));
  const unsigned long how = options.propagation == 0 ? MS_PRIVATE : options.propagation;
  // A clone of a shared mount is its peer already.
  return how == MS_SHARED ? Result<>() : SetPropagation(at, how);
}

Result<> ContainerRoot::MakeMount(const MountSpec& mount, const Source* source) {
  if (source != nullptr) return Bind(*source);
  const MountOptions options = ReadMountOptions(mount.options);
  ASSIGN(const std::string at, MakePlace(path_, mount.target, true));
  auto made = Mount(mount.source.empty() ? mount.type : mount.source, at, mount.type, options.flags, options.data);
  if (!made && mount.type == "devpts") return Mount("/dev/pts", at, "", MS_BIND);
  if (made && mount.type == "proc")
    for (const auto& [name, tree] : kernel_files_)
      if (::access((at + "/" + name).c_str(), F_OK) == 0) TRY(AttachTree(tree, at + "/" + name));
  return made;
}

Result<> ContainerRoot::Build() {
  TRY(MakeBase());
  TRY(MakeNames());
  TRY(MakeDev());
  for (const MountSpec& mount : spec_->mounts) {
    const auto own = std::ranges::find(sources_, &mount, &Source::mount);
    TRY(MakeMount(mount, own == sources_.end() ? nullptr : &*own));
  }
  if (!spec_->oci.empty()) std::ofstream(bundle_ + "/config.json") << spec_->oci;
  return {};
}

Result<> ContainerRoot::Enter() {
  if (spec_->read_only_root) TRY(SetMountFlags(path_, MOUNT_ATTR_RDONLY, false));
  return PivotRoot(path_, ".");
}

}  // namespace gpuop::sim::node
