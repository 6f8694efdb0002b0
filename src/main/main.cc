// One program, many names: the table from a name to what it runs.

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include "cli/cleanup.h"
#include "cli/crds.h"
#include "cli/ctk/command.h"
#include "cli/gpu/command.h"
#include "cli/manage_crds.h"
#include "cli/nvidia_smi/command.h"
#include "machine/command.h"
#include "main/controller.h"
#include "operands/config_manager/command.h"
#include "operands/device_plugin/command.h"
#include "operands/driver_manager/command.h"
#include "operands/gfd/command.h"
#include "operands/launch/command.h"
#include "operands/mps/command.h"
#include "operands/nfd/gc/command.h"
#include "operands/nfd/master/command.h"
#include "operands/nfd/worker/command.h"
#include "operands/toolkit/program/command.h"
#include "operands/validator/command.h"
#include "operands/validator/compute.h"
#include "sim/command.h"
#include "sim/node/engine/machine_process.h"

namespace gpuop {
namespace {

using Args = std::span<char* const>;

struct Applet {
  const char* name;
  const char* help;
  int (*run)(Args);
};

constexpr std::array kApplets = {
    Applet{"cleanup", "delete a release's policies and wait until their traces are gone", cli::RunCleanup},
    Applet{"config-manager", "link the configuration that a node's label names, and tell a program of it",
           operands::config_manager::RunConfigManager},
    Applet{"controller", "keep GPU nodes as ClusterPolicy and NVIDIADriver say", RunController},
    Applet{"crds", "print the CustomResourceDefinitions", cli::RunCrds},
    Applet{"driver-manager", "makes room on a node for a driver container, or says what is in the way",
           operands::driver_manager::RunDriverManager},
    Applet{"gpu", "what a cluster's GPUs are worth, and what is broken first", cli::RunKubectlGpu},
    Applet{"gpu-feature-discovery", "labels that tell what GPUs a node has", operands::gfd::RunGfd},
    Applet{"gpu-operator-launch", "wait for files, then become a program, in operands' Pods",
           operands::launch::RunLaunch},
    Applet{"k8s-driver-manager", "driver-manager by another name", operands::driver_manager::RunDriverManager},
    Applet{"kubectl-gpu", "the same as gpu, as a plugin of kubectl: kubectl gpu status", cli::RunKubectlGpu},
    Applet{"machine", "a simulated GPU machine: make one, run programs on it, break it", machine::RunMachine},
    Applet{"manage-crds", "apply or delete the CustomResourceDefinitions, as the chart's hooks do", cli::RunManageCrds},
    Applet{"mps-control-daemon", "NVIDIA's MPS daemon for each GPU resource that is shared by it",
           operands::mps::RunMpsControlDaemon},
    Applet{"nfd-gc", "delete what is known of nodes that are gone", operands::nfd::RunNfdGc},
    Applet{"nfd-master", "give nodes what NodeFeature and NodeFeatureRule objects say", operands::nfd::RunNfdMaster},
    Applet{"nfd-worker", "say what a node has", operands::nfd::RunNfdWorker},
    Applet{"nvidia-ctk", "CDI specs and engine configurations by hand", cli::RunCtk},
    Applet{"nvidia-ctk-installer", "the container toolkit: runtime, hooks, CDI spec, engine's configuration",
           operands::toolkit::RunToolkit},
    Applet{"nvidia-device-plugin", "offers a node's GPUs to the kubelet", operands::device_plugin::RunDevicePlugin},
    Applet{"nvidia-toolkit", "the same by another name", operands::toolkit::RunToolkit},
    Applet{"nvidia-smi", "GPUs, MIG and what runs on them, by the driver's NVML", cli::RunNvidiaSmi},
    Applet{"nvidia-validator", "proves that driver, toolkit, CUDA and device plugin work on a node",
           operands::validator::RunValidator},
    Applet{"sim", "an embedded Kubernetes cluster on loopback", sim::RunSim},
    Applet{sim::node::kMachineApplet, "a simulated machine; started by sim", sim::node::RunMachine},
    Applet{"vectorAdd", "computes on every GPU it is given, and checks the results", operands::validator::RunVectorAdd},
};

const Applet* Find(std::string_view name) {
  const auto* it = std::ranges::find(kApplets, name, [](const Applet& a) { return std::string_view(a.name); });
  return it == kApplets.end() ? nullptr : it;
}

int Help(std::FILE* to, int status) {
  std::fputs("usage: gpu-operator <what> [options]\n\n", to);
  for (const Applet& a : kApplets) std::fprintf(to, "  %-20s %s\n", a.name, a.help);
  return status;
}

/// Runs what the link it was started by is called, or else `gpu-operator <applet> …`.
int Main(Args args) {
  std::string_view self = args.empty() ? "" : args[0];
  self.remove_prefix(self.rfind('/') + 1);  // no slash: npos + 1 is 0
  if (const Applet* a = Find(self)) return a->run(args.subspan(1));
  if (args.size() < 2) return Help(stderr, 2);
  const std::string_view asked = args[1];
  if (const Applet* a = Find(asked)) return a->run(args.subspan(2));
  if (asked == "--names") {  // for whoever makes the links, as tools/image does
    for (const Applet& a : kApplets) std::puts(a.name);
    return 0;
  }
  if (asked == "--help" || asked == "-h" || asked == "help") return Help(stdout, 0);
  std::fprintf(stderr, "gpu-operator: nothing is called %s\n", args[1]);
  return Help(stderr, 2);
}

}  // namespace
}  // namespace gpuop

int main(int argc, char** argv) { return gpuop::Main({argv, static_cast<std::size_t>(argc)}); }
