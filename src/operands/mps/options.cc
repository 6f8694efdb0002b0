#include "operands/mps/options.h"

#include "base/text.h"
#include "container/flags.h"

namespace gpuop::operands::mps {
namespace {

const std::vector<container::FlagSpec>& Flags() {
  static const std::vector<container::FlagSpec> flags = {
      {.names = {"--config-file"}, .variables = {"CONFIG_FILE"}},
      {.names = {"--mig-strategy"}, .variables = {"MIG_STRATEGY"}},
      {.names = {"--node-name"}, .variables = {"NODE_NAME"}},
      {.names = {"--driver-root-ctr-path"}, .variables = {"DRIVER_ROOT_CTR_PATH"}},
      {.names = {"--metrics-address"}, .variables = {"METRICS_ADDRESS"}},
      // Accepted, for manifests that are made for NVIDIA's program.
      {.names = {"--fail-on-init-error"}, .variables = {"FAIL_ON_INIT_ERROR"}, .otherwise = "true", .is_switch = true},
      {.names = {"--nvidia-driver-root"}, .variables = {"NVIDIA_DRIVER_ROOT"}},
      {.names = {"--mps-root"}, .variables = {"MPS_ROOT"}},
  };
  return flags;
}

}  // namespace

Result<Options> ReadOptions(const std::vector<std::string>& arguments,
                            const std::function<const char*(const char*)>& variable) {
  std::vector<std::string> words;
  ASSIGN(const container::FlagValues given, container::ParseFlags(Flags(), arguments, variable, &words));
  Options out;
  for (const std::string& word : words) {
    if (word != "mount-shm") return Fail(Code::kInvalid, "unexpected argument " + Quote(word));
    out.mount_shm = true;
  }
  out.config_file = given.Text("--config-file");
  out.mig_strategy = given.Text("--mig-strategy");
  const std::string& strategy = out.mig_strategy;
  if (!strategy.empty() && strategy != "none" && strategy != "single" && strategy != "mixed")
    return Fail(Code::kInvalid, "--mig-strategy: " + Quote(strategy) + " is not none, single or mixed");
  out.driver_root = given.Text("--driver-root-ctr-path");
  out.metrics_address = given.Text("--metrics-address");
  return out;
}

std::string Help() {
  return "mps-control-daemon [mount-shm]: runs NVIDIA's MPS daemon for each GPU resource that the settings share by "
         "it\n\n"
         "  --config-file            the device plugin's settings file (CONFIG_FILE)\n"
         "  --mig-strategy           none, single or mixed (MIG_STRATEGY)\n"
         "  --driver-root-ctr-path   where the driver is in this container (DRIVER_ROOT_CTR_PATH)\n"
         "  --metrics-address        where /metrics and /healthz are (METRICS_ADDRESS)\n"
         "  --node-name, --fail-on-init-error, --nvidia-driver-root, --mps-root: accepted, not needed\n\n"
         "mount-shm mounts the shared memory that daemon and clients meet in, and ends.\n";
}

}  // namespace gpuop::operands::mps
