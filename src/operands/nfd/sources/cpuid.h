#pragma once
// CPUID of this machine's processors, by the names that node feature discovery's labels have.

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "operands/nfd/features.h"

namespace gpuop::operands::nfd {

/// One answer of CPUID.
struct CpuidRegisters {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// How CPUID and XGETBV(0) are asked; a test answers from a table.
struct CpuidSource {
  std::function<CpuidRegisters(std::uint32_t leaf, std::uint32_t subleaf)> ask;
  std::uint64_t xcr0 = 0;

  /// This processor; on other architectures everything is zero.
  static CpuidSource OfThisCpu();
};

/// What a processor says of itself.
struct CpuidFacts {
  /// "AVX2", "X86_64_V3", …
  TextSet flags;
  /// AVX10_VERSION and the like.
  TextMap attributes;
  /// "Intel", "AMD", …; "" when unknown.
  std::string vendor, hypervisor;
  unsigned family = 0, model = 0;
  /// Resource control: RDTMON, RDTL3CA, …
  TextMap resource_control;
  bool sgx = false;
};

/// Asks for all of it.
CpuidFacts ReadCpuid(const CpuidSource& cpu);

}  // namespace gpuop::operands::nfd
