// Nodes on which somebody else's device plugin runs.

#include "cli/gpu/why_case_test.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

PodSetup Plugin(const std::string& name, const std::string& image,
                const std::string& folder = "/var/lib/kubelet/device-plugins") {
  return {
      .name = name,
      .gpus = 0,
      .node = "dgx",
      .spec = "{volumes: [{name: sockets, hostPath: {path: " + folder + "}}]}",
      .status = "{conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: main, ready: true, image: '" +
                image + "', state: {running: {}}}]}"};
}

const PodSetup kOfChart = Plugin("nvidia-device-plugin-7xk2p", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0");

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Rivals, WhyTest,
    ::testing::Values(
        WhyCase{
            "OfNvidiasChart",
            {.operands = {{}}, .pods = {kOfChart}},
            "node/dgx",
            "",
            "TwoDevicePlugins",
            "Pod default/nvidia-device-plugin-7xk2p (nvcr.io/nvidia/k8s-device-plugin:v0.17.0) is a device plugin too"},
        WhyCase{"OfTheCloud",
                {.operands = {{}},
                 .pods = {Plugin("nvidia-gpu-device-plugin-small-x", "gke.gcr.io/nvidia-gpu-device-plugin@sha256:1")}},
                "node/dgx",
                "",
                "TwoDevicePlugins",
                "nvidia.com/gpu.deploy.device-plugin=false"},
        WhyCase{"OfAnotherVendor",
                {.operands = {{}}, .pods = {Plugin("hami-device-plugin-x", "projecthami/hami:v2.7")}},
                "node/dgx",
                "",
                "TwoDevicePlugins",
                "default/hami-device-plugin-x"},
        WhyCase{"CountsThatDifferAreToldWithIt",
                {.nodes = {{.capacity = 80, .allocatable = 80, .more_labels = "{nvidia.com/gpu.count: '8'}"}},
                 .operands = {{}},
                 .pods = {kOfChart}},
                "node/dgx",
                "",
                "ResourceCountWrong",
                "is a device plugin too"},
        WhyCase{"AloneItIsTheNodesPlugin", {.pods = {kOfChart}, .policy = false}, "node/dgx", "", "", ""},
        WhyCase{"ForNetworks",
                {.operands = {{}},
                 .pods = {Plugin("sriov-network-device-plugin-x",
                                 "nvcr.io/nvidia/mellanox/sriov-network-device-plugin:1")}},
                "node/dgx",
                "",
                "",
                ""},
        WhyCase{"ForGpusOfVirtualMachines",
                {.operands = {{}}, .pods = {Plugin("kubevirt-x", "nvcr.io/nvidia/kubevirt-gpu-device-plugin:1")}},
                "node/dgx",
                "",
                "",
                ""},
        WhyCase{"DiscoveryFromTheSameImage",
                {.operands = {{}},
                 .pods = {Plugin("gfd-x", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0", "/etc/kubernetes")}},
                "node/dgx",
                "",
                "",
                ""}),
    NameOf);

}  // namespace gpuop::cli::kubectl_gpu
