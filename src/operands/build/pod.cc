#include "operands/build/pod.h"

#include <algorithm>

namespace gpuop::operands {

void Env::Set(const EnvVar& var) {
  const auto it = std::ranges::find(vars_, var.name, &EnvVar::name);
  if (it == vars_.end()) {
    vars_.push_back(var);
  } else {
    *it = var;
  }
}

std::string_view Env::Get(std::string_view name) const {
  const auto it = std::ranges::find(vars_, name, &EnvVar::name);
  return it == vars_.end() ? std::string_view() : it->value;
}

bool Env::contains(std::string_view name) const { return std::ranges::find(vars_, name, &EnvVar::name) != vars_.end(); }

Volume* PodSpec::FindVolume(std::string_view name) {
  const auto it = std::ranges::find(volumes, name, &Volume::name);
  return it == volumes.end() ? nullptr : &*it;
}

void PodSpec::AddVolume(Volume volume) {
  if (FindVolume(volume.name) == nullptr) volumes.push_back(std::move(volume));
}

Volume HostVolume(std::string name, std::string path, std::string type) {
  return {.name = std::move(name), .host_path = HostPath{.path = std::move(path), .type = std::move(type)}};
}

Volume ConfigVolume(std::string name, std::string config_map, std::int32_t mode, std::vector<KeyToPath> items) {
  return {.name = std::move(name),
          .config_map = ConfigMapSource{.name = std::move(config_map), .items = std::move(items), .mode = mode}};
}

Volume SecretVolume(std::string name, std::string secret, std::vector<KeyToPath> items) {
  return {.name = std::move(name), .secret = SecretSource{.name = std::move(secret), .items = std::move(items)}};
}

Volume EmptyVolume(std::string name) { return {.name = std::move(name), .empty_dir = EmptyDir{}}; }

}  // namespace gpuop::operands
