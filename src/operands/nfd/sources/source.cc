#include "operands/nfd/sources/source.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::array kSources = {
    Source{"cpu", 0, false, false, FindCpu},       Source{"kernel", 0, false, false, FindKernel},
    Source{"memory", 0, false, true, FindMemory},  Source{"network", 0, false, true, FindNetwork},
    Source{"pci", 0, false, false, FindPci},       Source{"storage", 0, false, false, FindStorage},
    Source{"system", 0, false, false, FindSystem}, Source{"usb", 0, false, false, FindUsb},
    Source{"local", 20, true, true, FindLocal},    Source{"fake", 0, false, false, FindFake},
};

}  // namespace

std::span<const Source> Sources() { return kSources; }

SourceSettings SourceSettings::Default() {
  SourceSettings out;
  out.cpu.blacklist = {"AVX10", "BMI1", "BMI2",   "CLMUL", "CMOV",   "CX16",   "ERMS",   "F16C",     "HTT",
                       "LZCNT", "MMX",  "MMXEXT", "NX",    "POPCNT", "RDRAND", "RDSEED", "RDTSCP",   "SGX",
                       "SGXLC", "SSE",  "SSE2",   "SSE3",  "SSE4",   "SSE42",  "SSSE3",  "TDX_GUEST"};
  out.kernel.config_options = {"NO_HZ", "NO_HZ_IDLE", "NO_HZ_FULL", "PREEMPT"};
  out.pci = {{"03", "0b40", "12"}, {"class", "vendor"}};
  out.usb = {{"0e", "ef", "fe", "ff"}, {"class", "vendor", "device"}};
  return out;
}

bool ClassListed(std::string_view device_class, const std::vector<std::string>& classes) {
  return std::ranges::any_of(classes, [&](const std::string& c) { return device_class.starts_with(ToLower(c)); });
}

std::string DeviceLabel(const TextMap& device, const std::vector<std::string>& fields,
                        std::span<const std::string_view> known, const std::vector<std::string>& defaults) {
  const auto has = [&](const std::vector<std::string>& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
  };
  const bool any = std::ranges::any_of(known, [&](std::string_view name) { return has(fields, name); });
  std::vector<std::string> parts;
  for (const std::string_view name : known) {
    if (!has(any ? fields : defaults, name)) continue;
    const auto it = device.find(name);
    if (it != device.end()) parts.push_back(it->second);
  }
  return Join(parts, "_");
}

Found FindFake(const Question&) {
  Found out;
  out.features.flags["fake.flag"] = {"flag_1", "flag_2", "flag_3"};
  out.features.attributes["fake.attribute"] = {{"attr_1", "true"}, {"attr_2", "false"}, {"attr_3", "10"}};
  out.features.instances["fake.instance"] = {
      {{"attr_1", "true"}, {"attr_2", "false"}, {"attr_3", "10"}, {"attr_4", "foobar"}, {"name", "instance_1"}},
      {{"attr_1", "true"}, {"attr_2", "true"}, {"attr_3", "100"}, {"name", "instance_2"}},
      {{"name", "instance_3"}}};
  out.labels = {{"fakefeature1", "true"}, {"fakefeature2", "true"}, {"fakefeature3", "true"}};
  return out;
}

}  // namespace gpuop::operands::nfd
