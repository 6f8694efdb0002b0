#include "sim/node/engine/syscalls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/text.h"
#include "os/real_fs.h"
#include "os/system_error.h"

namespace gpuop::sim::node {
namespace {

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

sockaddr_in Address(const std::string& text, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, text.c_str(), &out.sin_addr);
  return out;
}

/// Names one alias of the loopback interface and gives it an address.
Result<> AddAddress(int socket, const std::string& name, const std::string& address) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  const sockaddr_in to = Address(address, 0), mask = Address("255.255.255.255", 0);
  std::memcpy(&request.ifr_addr, &to, sizeof to);
  if (::ioctl(socket, SIOCSIFADDR, &request) != 0) return os::FailErrno(errno, "give " + address + " to " + name);
  std::memcpy(&request.ifr_netmask, &mask, sizeof mask);
  if (::ioctl(socket, SIOCSIFNETMASK, &request) != 0) return os::FailErrno(errno, "netmask of " + name);
  return {};
}

}  // namespace

Result<> Mount(const std::string& source, const std::string& target, const std::string& type, unsigned long flags,
               const std::string& data) {
  if (::mount(OrNull(source), target.c_str(), OrNull(type), flags, OrNull(data)) == 0) return {};
  return os::FailErrno(errno, "mount " + (source.empty() ? type : source) + " at " + target);
}

Result<> SetPropagation(const std::string& target, unsigned long how, bool recursive) {
  if (::mount(nullptr, target.c_str(), nullptr, how | (recursive ? MS_REC : 0UL), nullptr) == 0) return {};
  return os::FailErrno(errno, "change propagation of " + target);
}

Result<os::Fd> CloneTree(const std::string& path, bool recursive) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? AT_RECURSIVE : 0U);
  os::Fd tree(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, path.c_str(), flags)));
  if (!tree.valid()) return os::FailErrno(errno, path);
  return tree;
}

Result<> AttachTree(const os::Fd& tree, const std::string& target) {
  if (::syscall(SYS_move_mount, tree.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0) return {};
  return os::FailErrno(errno, "mount at " + target);
}

Result<> SetMountFlags(const std::string& target, std::uint64_t set, bool recursive) {
  mount_attr attributes{};
  attributes.attr_set = set;
  const unsigned flags = recursive ? AT_RECURSIVE : 0;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, target.c_str(), flags, &attributes, sizeof attributes) == 0) return {};
  return os::FailErrno(errno, "change the mount at " + target);
}

Result<> PivotRoot(const std::string& root, const std::string& old_root) {
  if (::chdir(root.c_str()) != 0) return os::FailErrno(errno, root);
  if (::syscall(SYS_pivot_root, ".", old_root.c_str()) != 0) return os::FailErrno(errno, "make " + root + " the root");
  if (old_root == "." && ::umount2(".", MNT_DETACH) != 0) return os::FailErrno(errno, "leave the old root");
  return ::chdir("/") == 0 ? Result<>() : os::FailErrno(errno, "chdir /");
}

Result<pid_t> Fork(unsigned long namespaces) {
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, namespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (pid < 0) return os::FailErrno(errno, "clone");
  return pid;
}

Result<> Unshare(unsigned long namespaces, std::string_view what) {
  if (::unshare(static_cast<int>(namespaces)) == 0) return {};
  return os::FailErrno(errno, std::string("new ").append(what));
}

Result<> JoinNamespaces(const os::Fd& of, unsigned long namespaces, std::string_view what) {
  if (::setns(of.get(), static_cast<int>(namespaces)) == 0) return {};
  return os::FailErrno(errno, std::string("join ").append(what));
}

Result<os::Fd> OpenNamespace(const std::string& path) {
  os::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return os::FailErrno(errno, path);
  return fd;
}

Result<> BringUpLoopback(const std::vector<std::string>& addresses) {
  const os::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return os::FailErrno(errno, "socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) return os::FailErrno(errno, "bring up lo");
  int number = 0;
  for (const std::string& address : addresses)
    if (!address.empty()) TRY(AddAddress(socket.get(), "lo:" + std::to_string(++number), address));
  return {};
}

Result<os::Fd> ListenHere(const std::string& address, std::uint16_t port) {
  os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return os::FailErrno(errno, "socket");
  const sockaddr_in to = Address(address, port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 || ::listen(socket.get(), 128) != 0)
    return os::FailErrno(errno, "listen on " + address);
  return socket;
}

std::uint64_t OwnCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return 0;
  return data[0].permitted | static_cast<std::uint64_t>(data[1].permitted) << 32;
}

Result<> LimitCapabilities(std::uint64_t keep) {
  for (unsigned long c = 0; ::prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; ++c)
    if ((keep >> c & 1) == 0) ::prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
  keep &= OwnCapabilities();
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  data[0].permitted = data[0].effective = static_cast<std::uint32_t>(keep);
  data[1].permitted = data[1].effective = static_cast<std::uint32_t>(keep >> 32);
  if (::syscall(SYS_capset, &header, data.data()) == 0) return {};
  return os::FailErrno(errno, "give up capabilities");
}

Result<std::string> MakePlace(const std::string& root, const std::string& path, bool folder) {
  ASSIGN(const auto fs, os::RealFs::Open(root, os::RealFs::Durability::kNone));
  ASSIGN(const auto split, os::SplitPath(path));
  if (split.second.empty()) return root;
  TRY(os::MakeFolders(*fs, split.first));
  if (auto there = fs->Resolve(path); there) return root + *there;
  // What is missing, or a link to nowhere: made in its place.
  ASSIGN(std::string parent, fs->Resolve(split.first));
  if (parent == "/") parent.clear();
  const std::string place = parent + "/" + split.second;
  if (auto link = fs->ReadLink(place); link) TRY(fs->Remove(place));
  TRY(folder ? fs->MakeFolder(place) : fs->WriteAtomic(place, ""));
  return root + place;
}

}  // namespace gpuop::sim::node
