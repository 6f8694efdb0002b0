#include <array>

#include "machine/spec/spec.h"

namespace gpuop::machine {

using data::EnumName;

namespace layout {

std::span<const EnumName<Architecture>> NamesOf(Architecture) {
  static constexpr std::array<EnumName<Architecture>, 7> kNames{{
      {"pascal", Architecture::kPascal},
      {"volta", Architecture::kVolta},
      {"turing", Architecture::kTuring},
      {"ampere", Architecture::kAmpere},
      {"ada", Architecture::kAda},
      {"hopper", Architecture::kHopper},
      {"blackwell", Architecture::kBlackwell},
  }};
  return kNames;
}

}  // namespace layout

std::span<const EnumName<Cpu>> NamesOf(Cpu) {
  static constexpr std::array<EnumName<Cpu>, 2> kNames{{{"amd64", Cpu::kAmd64}, {"arm64", Cpu::kArm64}}};
  return kNames;
}

std::string_view KernelName(Cpu cpu) { return cpu == Cpu::kAmd64 ? "x86_64" : "aarch64"; }
std::string_view LibraryTriplet(Cpu cpu) { return cpu == Cpu::kAmd64 ? "x86_64-linux-gnu" : "aarch64-linux-gnu"; }

std::span<const EnumName<Engine>> NamesOf(Engine) {
  static constexpr std::array<EnumName<Engine>, 4> kNames{{{"containerd", Engine::kContainerd},
                                                           {"crio", Engine::kCrio},
                                                           {"docker", Engine::kDocker},
                                                           {"none", Engine::kNone}}};
  return kNames;
}

std::span<const EnumName<KernelModule>> NamesOf(KernelModule) {
  static constexpr std::array<EnumName<KernelModule>, 2> kNames{
      {{"open", KernelModule::kOpen}, {"proprietary", KernelModule::kProprietary}}};
  return kNames;
}

std::span<const EnumName<NvlinkTopology>> NamesOf(NvlinkTopology) {
  static constexpr std::array<EnumName<NvlinkTopology>, 3> kNames{
      {{"none", NvlinkTopology::kNone}, {"switch", NvlinkTopology::kSwitch}, {"peers", NvlinkTopology::kPeers}}};
  return kNames;
}

}  // namespace gpuop::machine
