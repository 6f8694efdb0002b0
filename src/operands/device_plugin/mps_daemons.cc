#include "operands/device_plugin/mps_daemons.h"

#include "operands/device_plugin/resources.h"

namespace gpuop::operands::device_plugin {
namespace {

std::string FileOf(const std::string& resource, const char* name) { return "/mps/" + resource + "/" + name; }

}  // namespace

std::vector<std::string> MpsResources(const gpu::Inventory& gpus, const Settings& settings) {
  std::vector<std::string> out;
  if (StrategyOf(settings.sharing) != SharingStrategy::kMps) return out;
  for (const Resource& resource : PlanResources(gpus, {}, settings).resources)
    if (resource.sharing == SharingStrategy::kMps) out.push_back(resource.name);
  return out;
}

MissingDaemons FindMissingDaemons(const os::Fs& fs, const std::vector<std::string>& resources,
                                  const IsLocked& is_locked) {
  MissingDaemons out;
  for (const std::string& resource : resources) {
    const std::string started = FileOf(resource, ".started"), alive = FileOf(resource, ".alive");
    if (!os::Exists(fs, started).value_or(false))
      out[resource] = "the MPS daemon of " + resource + " has not started: there is no " + started;
    else if (!is_locked(alive).value_or(true))  // NVIDIA's has no such file
      out[resource] = "the MPS daemon of " + resource + " has ended: mps-control-daemon no longer holds " + alive;
  }
  return out;
}

MpsWatch::MpsWatch(Executor& executor, os::Watcher& watcher, const os::Fs& fs, Tell tell, IsLocked is_locked)
    : watcher_(watcher), fs_(fs), tell_(std::move(tell)), is_locked_(std::move(is_locked)), strand_(executor) {}

void MpsWatch::End() {
  {
    Lock l(mu_);
    watch_.reset();
  }
  strand_.Close();
}

Result<> MpsWatch::Follow(std::vector<std::string> resources) {
  std::vector<std::string> files;
  for (const std::string& resource : resources)
    for (const char* name : {".started", ".alive"}) files.push_back(FileOf(resource, name));
  Lock l(mu_);
  if (resources == resources_) return {};
  watch_.reset();  // its callback takes no lock
  resources_ = std::move(resources);
  strand_.Post([this] { Look(); });
  if (files.empty()) return {};
  ASSIGN(watch_, watcher_.Start(std::move(files), [this](const auto&) {
    strand_.Post([this] { Look(); });
    strand_.PostAfter(kAfterthought, [this] { Look(); });
  }));
  return {};
}

void MpsWatch::Look() {
  std::vector<std::string> resources;
  {
    Lock l(mu_);
    resources = resources_;
  }
  tell_(FindMissingDaemons(fs_, resources, is_locked_));
}

}  // namespace gpuop::operands::device_plugin
