#include "operands/toolkit/program/nri.h"

#include <gmock/gmock.h>

namespace gpuop::operands::toolkit {
namespace {

using Annotations = std::map<std::string, std::string>;

struct Case {
  const char* name;
  Annotations annotations;
  const char* ns;
  /// Joined by commas; "refused" and the code otherwise.
  std::string want;
};

std::string Devices(const Case& c) {
  const auto devices = NriDevices({.ns = c.ns, .pod = "p", .container = "main", .annotations = c.annotations},
                                  "management.nvidia.com/gpu", "gpu-operator", {"monitoring"});
  if (!devices) return devices.error().code == Code::kForbidden ? "forbidden" : "invalid";
  std::string out;
  for (const std::string& device : *devices) out += (out.empty() ? "" : ",") + device;
  return out;
}

TEST(NriDevicesTest, TheMostParticularAnnotationNamesThem) {
  for (const Case& c :
       {Case{"none", {{"other", "x"}}, "default", ""},
        {"bare",
         {{"nvidia.cdi.k8s.io", "nvidia.com/gpu=0, nvidia.com/gpu=1"}},
         "default",
         "nvidia.com/gpu=0,nvidia.com/gpu=1"},
        {"pod before bare",
         {{"nvidia.cdi.k8s.io", "nvidia.com/gpu=0"}, {"nvidia.cdi.k8s.io/pod", "nvidia.com/gpu=1"}},
         "default",
         "nvidia.com/gpu=1"},
        {"container before pod",
         {{"nvidia.cdi.k8s.io/pod", "nvidia.com/gpu=1"}, {"nvidia.cdi.k8s.io/container.main", "nvidia.com/gpu=2"}},
         "default",
         "nvidia.com/gpu=2"},
        {"another container's", {{"nvidia.cdi.k8s.io/container.other", "nvidia.com/gpu=2"}}, "default", ""},
        {"empty", {{"nvidia.cdi.k8s.io", ""}}, "default", ""},
        {"no name", {{"nvidia.cdi.k8s.io", "gpu0"}}, "default", "invalid"},
        {"management elsewhere", {{"nvidia.cdi.k8s.io", "management.nvidia.com/gpu=all"}}, "default", "forbidden"},
        {"management and others elsewhere",
         {{"nvidia.cdi.k8s.io", "nvidia.com/gpu=0,management.nvidia.com/gpu=all"}},
         "default",
         "forbidden"},
        {"management at home",
         {{"nvidia.cdi.k8s.io", "management.nvidia.com/gpu=all"}},
         "gpu-operator",
         "management.nvidia.com/gpu=all"},
        {"management where allowed",
         {{"nvidia.cdi.k8s.io", "management.nvidia.com/gpu=all"}},
         "monitoring",
         "management.nvidia.com/gpu=all"}})
    EXPECT_EQ(Devices(c), c.want) << c.name;
}

}  // namespace
}  // namespace gpuop::operands::toolkit
