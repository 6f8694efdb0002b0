#include "e2e/api/wire.h"

#include "os/real_fs.h"

namespace gpuop::e2e {

Result<std::unique_ptr<Wire>> Wire::FromKubeconfig(const std::string& path) {
  std::unique_ptr<Wire> wire(new Wire);
  ASSIGN(wire->fs_, os::RealFs::Open("/"));
  ASSIGN(wire->config_, kube::FindConfig(*wire->fs_, {.kubeconfig = path}));
  wire->io_.Start();
  return wire;
}

Result<std::unique_ptr<kube::Door>> Wire::DoorFor(const std::string& user, const std::vector<std::string>& groups) {
  kube::ApiConfig config = config_;
  if (!user.empty()) config.impersonation = {.user = user, .groups = groups};
  ASSIGN(std::unique_ptr<kube::HttpDoor> door,
         kube::HttpDoor::Make(io_, workers_, *fs_, processes_, std::move(config)));
  return std::unique_ptr<kube::Door>(std::move(door));
}

}  // namespace gpuop::e2e
