#include "kube/api_door.h"

#include "kube/config/config.h"

namespace gpuop::kube {

Result<std::unique_ptr<ApiDoor>> ApiDoor::Open(const os::Fs& fs, ApiConfig config, std::size_t workers) {
  std::unique_ptr<ApiDoor> api(new ApiDoor(workers));
  api->io_.Start();
  ASSIGN(api->door_, HttpDoor::Make(api->io_, api->workers_, fs, api->processes_, std::move(config)));
  return api;
}

Result<std::unique_ptr<ApiDoor>> ApiDoor::Open(const os::Fs& fs, const std::string& kubeconfig, std::string program,
                                               std::size_t workers) {
  ASSIGN(ApiConfig config, FindConfig(fs, {.kubeconfig = kubeconfig}));
  config.user_agent = std::move(program);
  return Open(fs, std::move(config), workers);
}

Client ApiDoor::MakeClient(std::stop_token stop) {
  return Client(*door_, {.field_manager = door_->config().user_agent, .wait = BlockingWait, .stop = std::move(stop)});
}

std::shared_ptr<const Client> HoldClient(std::unique_ptr<ApiDoor> api, std::stop_token stop) {
  struct Held {
    std::unique_ptr<ApiDoor> api;
    Client client;
  };
  const Client client = api->MakeClient(std::move(stop));
  const auto held = std::make_shared<const Held>(std::move(api), client);
  return {held, &held->client};
}

}  // namespace gpuop::kube
