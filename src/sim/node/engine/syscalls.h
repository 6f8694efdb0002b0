#pragma once
// The system calls that make namespaces and mounts, with errors that say what was tried.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace gpuop::sim::node {

/// mount(2). Empty texts are passed as null.
Result<> Mount(const std::string& source, const std::string& target, const std::string& type, unsigned long flags,
               const std::string& data = {});
/// Changes how mounts at and below `target` propagate: MS_PRIVATE, MS_SLAVE, MS_SHARED, MS_UNBINDABLE.
Result<> SetPropagation(const std::string& target, unsigned long how, bool recursive = true);
/// A mount of `path` that is nowhere yet (open_tree(2)): with its submounts when `recursive`, and still a peer of the
/// original where that is shared.
Result<os::Fd> CloneTree(const std::string& path, bool recursive);
/// Puts a tree from CloneTree at `target` (move_mount(2)).
Result<> AttachTree(const os::Fd& tree, const std::string& target);
/// Sets MOUNT_ATTR_* flags on everything at and below `target` (mount_setattr(2)).
Result<> SetMountFlags(const std::string& target, std::uint64_t set, bool recursive);
/// Makes `root` the root and leaves the old one at `root`'s `old_root` (pivot_root(2)); "." for both: it goes.
Result<> PivotRoot(const std::string& root, const std::string& old_root);

/// fork(2) into new namespaces (CLONE_NEW…). Only in a process with one thread. 0 in the child.
Result<pid_t> Fork(unsigned long namespaces);
Result<> Unshare(unsigned long namespaces, std::string_view what);
Result<> JoinNamespaces(const os::Fd& of, unsigned long namespaces, std::string_view what);
Result<os::Fd> OpenNamespace(const std::string& path);

/// Brings up the loopback interface of this network namespace, with these IPv4 addresses besides 127.0.0.1.
Result<> BringUpLoopback(const std::vector<std::string>& addresses);
/// A TCP socket that listens on an IPv4 address of this network namespace.
Result<os::Fd> ListenHere(const std::string& address, std::uint16_t port);

/// Gives up capabilities that are not in `keep`, for good.
Result<> LimitCapabilities(std::uint64_t keep);
/// All that this process may have.
std::uint64_t OwnCapabilities();

/// Makes an empty file, or a folder, with all folders above it, below `root` (links cannot lead out of it), unless
/// something is there. Returns the path without links, `root` included.
Result<std::string> MakePlace(const std::string& root, const std::string& path, bool folder);

}  // namespace gpuop::sim::node
