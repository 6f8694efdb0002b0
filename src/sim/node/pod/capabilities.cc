#include "sim/node/pod/capabilities.h"

#include <array>

namespace gpuop::sim::node {
namespace {

// In the order of their numbers (capabilities(7), linux/capability.h).
constexpr std::array<std::string_view, 41> kNames = {"CHOWN",
                                                     "DAC_OVERRIDE",
                                                     "DAC_READ_SEARCH",
                                                     "FOWNER",
                                                     "FSETID",
                                                     "KILL",
                                                     "SETGID",
                                                     "SETUID",
                                                     "SETPCAP",
                                                     "LINUX_IMMUTABLE",
                                                     "NET_BIND_SERVICE",
                                                     "NET_BROADCAST",
                                                     "NET_ADMIN",
                                                     "NET_RAW",
                                                     "IPC_LOCK",
                                                     "IPC_OWNER",
                                                     "SYS_MODULE",
                                                     "SYS_RAWIO",
                                                     "SYS_CHROOT",
                                                     "SYS_PTRACE",
                                                     "SYS_PACCT",
                                                     "SYS_ADMIN",
                                                     "SYS_BOOT",
                                                     "SYS_NICE",
                                                     "SYS_RESOURCE",
                                                     "SYS_TIME",
                                                     "SYS_TTY_CONFIG",
                                                     "MKNOD",
                                                     "LEASE",
                                                     "AUDIT_WRITE",
                                                     "AUDIT_CONTROL",
                                                     "SETFCAP",
                                                     "MAC_OVERRIDE",
                                                     "MAC_ADMIN",
                                                     "SYSLOG",
                                                     "WAKE_ALARM",
                                                     "BLOCK_SUSPEND",
                                                     "AUDIT_READ",
                                                     "PERFMON",
                                                     "BPF",
                                                     "CHECKPOINT_RESTORE"};
constexpr std::string_view kDefaults[] = {
    "CHOWN",  "DAC_OVERRIDE", "FSETID",  "FOWNER",           "MKNOD",      "NET_RAW", "SETGID",
    "SETUID", "SETFCAP",      "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL",    "AUDIT_WRITE"};

}  // namespace

std::uint64_t CapabilityBit(std::string_view name) {
  if (name.starts_with("CAP_")) name.remove_prefix(4);
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return 1ULL << i;
  return 0;
}

std::uint64_t DefaultCapabilities() {
  std::uint64_t out = 0;
  for (const std::string_view name : kDefaults) out |= CapabilityBit(name);
  return out;
}

std::uint64_t AllCapabilities() { return (1ULL << kNames.size()) - 1; }

std::vector<std::string> CapabilityNames(std::uint64_t bits) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if ((bits >> i & 1) != 0) out.push_back("CAP_" + std::string(kNames[i]));
  return out;
}

}  // namespace gpuop::sim::node
