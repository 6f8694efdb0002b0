#include "operands/nfd/sources/cpuid.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "operands/nfd/sources/cpuid_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gpuop::operands::nfd {
namespace {

using cpuid_table::kBits;

bool IsOn(std::uint32_t value, unsigned bit) { return (value >> bit & 1U) != 0; }

std::uint32_t Pick(const CpuidRegisters& registers, CpuidRegister which) {
  switch (which) {
    case CpuidRegister::kEax: return registers.eax;
    case CpuidRegister::kEbx: return registers.ebx;
    case CpuidRegister::kEcx: return registers.ecx;
    default: return registers.edx;
  }
}

std::string Text(std::initializer_list<std::uint32_t> registers) {
  std::string out;
  for (const std::uint32_t value : registers) {
    char bytes[4];
    std::memcpy(bytes, &value, sizeof bytes);
    out.append(bytes, sizeof bytes);
  }
  return out.substr(0, out.find('\0'));
}

std::string VendorName(const std::string& text) {
  for (const auto& [id, name] : cpuid_table::kVendors)
    if (text == id) return std::string(name);
  return {};
}

/// Asks only leaves that the processor says it has; others are zero. Each once: in a virtual machine a question leaves
/// the machine.
class Asker {
 public:
  explicit Asker(const CpuidSource& cpu)
      : cpu_(cpu), basic_(cpu.ask(0, 0).eax), extended_(cpu.ask(0x80000000, 0).eax) {}
  const CpuidRegisters& Ask(std::uint32_t leaf, std::uint32_t subleaf = 0) {
    const auto [it, is_new] = known_.try_emplace({leaf, subleaf});
    if (!is_new || leaf > (leaf >= 0x80000000 ? extended_ : basic_)) return it->second;
    if (leaf == 7 && subleaf > 0 && subleaf > Ask(7).eax) return it->second;
    return it->second = cpu_.ask(leaf, subleaf);
  }

 private:
  const CpuidSource& cpu_;
  const std::uint32_t basic_, extended_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters> known_;
};

void ReadFlags(Asker& cpu, std::uint64_t xcr0, CpuidFacts& out) {
  const std::uint32_t features = cpu.Ask(1).ecx;
  // XSAVE, OSXSAVE and AVX; then the states that the operating system keeps: SSE and AVX, and the three of AVX-512.
  const bool avx = IsOn(features, 26) && IsOn(features, 27) && IsOn(features, 28) && (xcr0 & 0x6) == 0x6;
  const bool avx512 = avx && (xcr0 & 0xe6) == 0xe6;
  for (const CpuidBit& bit : kBits) {
    if (bit.needs == CpuidNeeds::kAvx && !avx) continue;
    if (bit.needs == CpuidNeeds::kAvx512 && !avx512) continue;
    if (IsOn(Pick(cpu.Ask(bit.leaf, bit.subleaf), bit.in), bit.bit)) out.flags.emplace(bit.name);
  }
  if (IsOn(cpu.Ask(1).edx, 28) && (cpu.Ask(0xb, 0).ebx & 0xffff) > 1) out.flags.emplace("HTT");
  if (Text({cpu.Ask(0x21).ebx, cpu.Ask(0x21).edx, cpu.Ask(0x21).ecx}) == "IntelTDX    ") out.flags.emplace("TDX_GUEST");
  if (!out.flags.contains("AVX10")) return;
  const std::uint32_t avx10 = cpu.Ask(0x24).ebx;
  out.attributes["AVX10_VERSION"] = std::to_string(avx10 & 0xff);
  if (IsOn(avx10, 16)) out.flags.emplace("AVX10_128");
  if (IsOn(avx10, 17)) out.flags.emplace("AVX10_256");
  if (IsOn(avx10, 18)) out.flags.emplace("AVX10_512");
}

void ReadLevels(CpuidFacts& out) {
  for (unsigned level = 0; level < 4; ++level) {
    const auto needed = Split(cpuid_table::kLevels[level], ' ');
    if (!std::ranges::all_of(needed, [&](std::string_view flag) { return out.flags.contains(flag); })) return;
    out.flags.insert("X86_64_V" + std::to_string(level + 1));
  }
}

void ReadModel(Asker& cpu, CpuidFacts& out) {
  const CpuidRegisters vendor = cpu.Ask(0);
  out.vendor = VendorName(Text({vendor.ebx, vendor.edx, vendor.ecx}));
  const std::uint32_t signature = cpu.Ask(1).eax;
  out.family = signature >> 8 & 0xf;
  out.model = signature >> 4 & 0xf;
  if (out.family == 0x6 || out.family == 0xf) out.model |= (signature >> 16 & 0xf) << 4;
  if (out.family == 0xf) out.family += signature >> 20 & 0xff;
}

/// Intel's and AMD's control of shared caches and memory (leaves 7, 0xf, 0x10).
void ReadResourceControl(Asker& cpu, TextMap& out) {
  const auto put = [&](const char* name, bool on) {
    if (on) out[name] = "true";
  };
  const std::uint32_t has = cpu.Ask(7).ebx;
  if (IsOn(has, 12)) {
    put("RDTMON", true);
    put("RDTCMT", IsOn(cpu.Ask(0xf, 1).edx, 0));
    put("RDTMBM", IsOn(cpu.Ask(0xf, 1).edx, 1) || IsOn(cpu.Ask(0xf, 1).edx, 2));
  }
  if (!IsOn(has, 15)) return;
  const std::uint32_t kinds = cpu.Ask(0x10, 0).ebx;
  put("RDTL3CA", IsOn(kinds, 1));
  put("RDTL2CA", IsOn(kinds, 2));
  put("RDTMBA", IsOn(kinds, 3));
  if (IsOn(kinds, 1)) out["RDTL3CA_NUM_CLOSID"] = std::to_string((cpu.Ask(0x10, 1).edx & 0xffff) + 1);
}

}  // namespace

CpuidSource CpuidSource::OfThisCpu() {
  CpuidSource out;
#if defined(__x86_64__)
  out.ask = [](std::uint32_t leaf, std::uint32_t subleaf) {
    CpuidRegisters r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
  };
  if (IsOn(out.ask(1, 0).ecx, 27)) {
    std::uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    out.xcr0 = std::uint64_t{high} << 32U | low;
  }
#else
  out.ask = [](std::uint32_t, std::uint32_t) { return CpuidRegisters{}; };
#endif
  return out;
}

CpuidFacts ReadCpuid(const CpuidSource& source) {
  CpuidFacts out;
  Asker cpu(source);
  ReadModel(cpu, out);
  ReadFlags(cpu, source.xcr0, out);
  ReadLevels(out);
  ReadResourceControl(cpu, out.resource_control);
  if (out.flags.contains("HYPERVISOR")) {
    const CpuidRegisters r = source.ask(0x40000000, 0);
    out.hypervisor = VendorName(Text({r.ebx, r.ecx, r.edx}));
  }
  out.sgx = out.flags.contains("SGX") && (cpu.Ask(0x12).eax & 3U) != 0;
  return out;
}

}  // namespace gpuop::operands::nfd
