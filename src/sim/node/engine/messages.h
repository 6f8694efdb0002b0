#pragma once
// What the kubelet's side and a machine's process say to each other: JSON texts over a SOCK_SEQPACKET socket, with file
// descriptors beside them (unix(7), SCM_RIGHTS).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/field.h"
#include "os/fd.h"

namespace gpuop::sim::node {

/// One mount of a container, as in an OCI runtime specification: type "bind" (source is a path of the machine), "proc",
/// "tmpfs", "devpts" …, with mount(8)'s options.
struct MountSpec {
  std::string target, type, source;
  std::vector<std::string> options;

  template <class V>
  void Visit(V& v) {
    v("target", target);
    v("type", type);
    v("source", source);
    v("options", options);
  }
  bool operator==(const MountSpec&) const = default;
};

/// A node that a container gets: the file `source` of the machine, whatever it is, shows at `path`.
struct DeviceBind {
  std::string path, source;

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("source", source);
  }
  bool operator==(const DeviceBind&) const = default;
};

/// A program that runs while a container is made (OCI runtime specification 1.2, "POSIX-platform Hooks").
struct HookSpec {
  std::string stage, path;
  std::vector<std::string> args, env;
  std::int64_t timeout = 0;  ///< seconds; 0: none

  template <class V>
  void Visit(V& v) {
    v("stage", stage);
    v("path", path);
    v("args", args);
    v("env", env);
    v("timeout", timeout);
  }
  bool operator==(const HookSpec&) const = default;
};

/// What a container's root file system is made of. Paths are those of the real machine.
struct RootSpec {
  /// A folder that nothing changes: writes go into memory. Empty: the programs of the real machine (/usr and what links
  /// into it, and a minimal /etc).
  std::string folder;
  /// Links in /usr/local/bin, each called by a name, to `program`.
  std::vector<std::string> names;
  std::string program;

  template <class V>
  void Visit(V& v) {
    v("folder", folder);
    v("names", names);
    v("program", program);
  }
  bool operator==(const RootSpec&) const = default;
};

/// Who a process runs as.
struct UserSpec {
  std::uint32_t uid = 0, gid = 0;
  std::vector<std::uint32_t> groups;
  /// Bit n: capability n (capabilities(7)).
  std::uint64_t capabilities = 0;
  bool no_new_privileges = false;

  template <class V>
  void Visit(V& v) {
    v("uid", uid);
    v("gid", gid);
    v("groups", groups);
    v("capabilities", capabilities);
    v("noNewPrivileges", no_new_privileges);
  }
  bool operator==(const UserSpec&) const = default;
};

/// A process in a container: its own, or one beside it.
struct ProcessSpec {
  std::vector<std::string> argv, env;  ///< env: "NAME=value"
  std::string folder = "/";
  UserSpec user;
  bool terminal = false;

  template <class V>
  void Visit(V& v) {
    v("argv", argv);
    v("env", env);
    v("folder", folder);
    v("user", user);
    v("terminal", terminal);
  }
  bool operator==(const ProcessSpec&) const = default;
};

/// A Pod's shared namespaces.
struct SandboxSpec {
  std::string id, hostname, address;
  bool host_network = false, host_ipc = false, host_pid = false, shared_pid = false;

  template <class V>
  void Visit(V& v) {
    v("id", id);
    v("hostname", hostname);
    v("address", address);
    v("hostNetwork", host_network);
    v("hostIPC", host_ipc);
    v("hostPID", host_pid);
    v("sharedPID", shared_pid);
  }
  bool operator==(const SandboxSpec&) const = default;
};

struct ContainerSpec {
  std::string id, sandbox;
  RootSpec root;
  ProcessSpec process;
  std::vector<MountSpec> mounts;
  std::vector<DeviceBind> devices;
  std::vector<HookSpec> hooks;
  bool all_devices = false;  ///< privileged: every node that the machine has now
  bool read_only_root = false;
  /// The program is of another architecture: starting it fails as the kernel makes it fail.
  bool wrong_architecture = false;
  /// Where its output goes on the machine, in the container runtime interface's format.
  std::string log;
  /// The OCI specification, for hooks.
  std::string oci;

  template <class V>
  void Visit(V& v) {
    v("id", id);
    v("sandbox", sandbox);
    v("root", root);
    v("process", process);
    v("mounts", mounts);
    v("devices", devices);
    v("hooks", hooks);
    v("allDevices", all_devices);
    v("readOnlyRoot", read_only_root);
    v("wrongArchitecture", wrong_architecture);
    v("log", log);
    v("oci", oci);
  }
  bool operator==(const ContainerSpec&) const = default;
};

/// To the machine. `verb` says which of the members count.
struct EngineRequest {
  std::int64_t id = 0;
  /// "sandbox" (sandbox), "remove" (target: a sandbox), "start" (container), "exec" (target: a container, name: what
  /// the process is called; descriptors: stdin, stdout, stderr, or for a terminal none), "signal" (target: a process,
  /// signal), "socket" (target: a sandbox; answers with a TCP socket in its network), "engine" (name: what the
  /// machine's container engine is called as a process; programs on the machine talk to it).
  std::string verb;
  std::string target, name;
  std::int64_t signal = 0;
  /// Of "exec" without descriptors: the notice of the process's end carries the first bytes of its output, as many as
  /// this; the rest is read and forgotten.
  std::int64_t keep = 0;
  std::optional<SandboxSpec> sandbox;
  std::optional<ContainerSpec> container;
  std::optional<ProcessSpec> process;

  template <class V>
  void Visit(V& v) {
    v("id", id);
    v("verb", verb);
    v("target", target);
    v("name", name);
    v("signal", signal);
    v("keep", keep);
    v("sandbox", sandbox);
    v("container", container);
    v("process", process);
  }
};

/// From the machine.
struct EngineNotice {
  /// The request that it answers; 0: "ready" (once, after the machine's view is made) or "exited".
  std::int64_t id = 0;
  std::string event;
  /// Of an answer: empty when all went well, else the engine's words, and whether the program was the trouble.
  std::string error;
  /// Which process exited, and how: as wait(2) tells.
  std::string target;
  std::int64_t status = 0;
  std::int64_t pid = 0;
  /// What was kept of its output, in base64.
  std::string output{};

  template <class V>
  void Visit(V& v) {
    v("id", id);
    v("event", event);
    v("error", error);
    v("target", target);
    v("status", status);
    v("pid", pid);
    v("output", output);
  }
};

/// A text and the descriptors that came with it.
struct Packet {
  std::string text;
  std::vector<os::Fd> fds;
};

/// A packet may be this long.
inline constexpr std::size_t kMaxPacket = 192U << 10;

/// Sends one packet; blocks while the socket is full. kTooLarge for a long text, kUnavailable when nobody listens.
Result<> SendPacket(int socket, std::string_view text, const std::vector<int>& fds = {});
/// Takes one packet; an empty text when the other side has gone, nullopt when there is none now.
Result<std::optional<Packet>> ReceivePacket(int socket);

}  // namespace gpuop::sim::node
