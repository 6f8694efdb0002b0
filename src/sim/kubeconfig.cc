#include "sim/kubeconfig.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "os/fd.h"
#include "os/system_error.h"

namespace gpuop::sim {

std::string MakeKubeconfig(const KubeconfigParts& parts) {
  std::string cluster = fmt::format("server: {}", parts.server), user = "{}";
  if (!parts.ca.empty()) cluster += fmt::format("\n    certificate-authority-data: {}", Base64Encode(parts.ca));
  if (!parts.certificate.empty())
    user = fmt::format("\n    client-certificate-data: {}\n    client-key-data: {}", Base64Encode(parts.certificate),
                       Base64Encode(parts.key));
  return fmt::format(R"(apiVersion: v1
kind: Config
current-context: gpu-operator-sim
clusters:
- name: gpu-operator-sim
  cluster:
    {}
users:
- name: gpu-operator-sim
  user: {}
contexts:
- name: gpu-operator-sim
  context:
    cluster: gpu-operator-sim
    user: gpu-operator-sim
)",
                     cluster, user);
}

Result<> WriteKubeconfig(const std::string& path, const KubeconfigParts& parts) {
  const std::string temporary = fmt::format("{}.{}", path, ::getpid());
  const std::string text = MakeKubeconfig(parts);
  const os::Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return os::FailErrno(errno, "open " + temporary);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return os::FailErrno(errno, "write " + temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return os::FailErrno(errno, "rename " + path);
  return {};
}

}  // namespace gpuop::sim
