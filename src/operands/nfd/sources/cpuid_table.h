#pragma once
// Which bit of CPUID is which flag (Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E).

#include <cstdint>
#include <string_view>

namespace gpuop::operands::nfd {

/// Where an answer stands.
enum class CpuidRegister : std::uint8_t { kEax, kEbx, kEcx, kEdx };

/// What the operating system must have switched on for it.
enum class CpuidNeeds : std::uint8_t { kNothing, kAvx, kAvx512 };

/// One flag, and the bit that is it.
struct CpuidBit {
  std::uint32_t leaf, subleaf;
  CpuidRegister in;
  std::uint8_t bit;
  std::string_view name;
  CpuidNeeds needs = CpuidNeeds::kNothing;
};

namespace cpuid_table {

using enum CpuidRegister;
using enum CpuidNeeds;

inline constexpr std::uint32_t k1 = 0x80000001, k7 = 0x80000007, k8 = 0x80000008, kSvm = 0x8000000a, kEnc = 0x8000001f;

inline constexpr CpuidBit kBits[] = {
    {1, 0, kEdx, 0, "X87"},
    {1, 0, kEdx, 8, "CMPXCHG8"},
    {1, 0, kEdx, 11, "SYSEE"},
    {1, 0, kEdx, 15, "CMOV"},
    {1, 0, kEdx, 23, "MMX"},
    {1, 0, kEdx, 24, "FXSR"},
    {1, 0, kEdx, 25, "SSE"},
    {1, 0, kEdx, 25, "MMXEXT"},
    {1, 0, kEdx, 26, "SSE2"},
    {1, 0, kEcx, 0, "SSE3"},
    {1, 0, kEcx, 1, "CLMUL"},
    {1, 0, kEcx, 5, "VMX"},
    {1, 0, kEcx, 9, "SSSE3"},
    {1, 0, kEcx, 12, "FMA3", kAvx},
    {1, 0, kEcx, 13, "CX16"},
    {1, 0, kEcx, 19, "SSE4"},
    {1, 0, kEcx, 20, "SSE42"},
    {1, 0, kEcx, 22, "MOVBE"},
    {1, 0, kEcx, 23, "POPCNT"},
    {1, 0, kEcx, 25, "AESNI"},
    {1, 0, kEcx, 26, "XSAVE"},
    {1, 0, kEcx, 27, "OSXSAVE"},
    {1, 0, kEcx, 28, "AVX", kAvx},
    {1, 0, kEcx, 29, "F16C"},
    {1, 0, kEcx, 30, "RDRAND"},
    {1, 0, kEcx, 31, "HYPERVISOR"},

    {7, 0, kEbx, 2, "SGX"},
    {7, 0, kEbx, 3, "BMI1"},
    {7, 0, kEbx, 4, "HLE"},
    {7, 0, kEbx, 5, "AVX2", kAvx},
    {7, 0, kEbx, 8, "BMI2"},
    {7, 0, kEbx, 9, "ERMS"},
    {7, 0, kEbx, 11, "RTM"},
    {7, 0, kEbx, 14, "MPX"},
    {7, 0, kEbx, 18, "RDSEED"},
    {7, 0, kEbx, 19, "ADX"},
    {7, 0, kEbx, 29, "SHA"},
    {7, 0, kEbx, 16, "AVX512F", kAvx512},
    {7, 0, kEbx, 17, "AVX512DQ", kAvx512},
    {7, 0, kEbx, 21, "AVX512IFMA", kAvx512},
    {7, 0, kEbx, 26, "AVX512PF", kAvx512},
    {7, 0, kEbx, 27, "AVX512ER", kAvx512},
    {7, 0, kEbx, 28, "AVX512CD", kAvx512},
    {7, 0, kEbx, 30, "AVX512BW", kAvx512},
    {7, 0, kEbx, 31, "AVX512VL", kAvx512},
    {7, 0, kEcx, 1, "AVX512VBMI", kAvx512},
    {7, 0, kEcx, 5, "WAITPKG"},
    {7, 0, kEcx, 6, "AVX512VBMI2", kAvx512},
    {7, 0, kEcx, 7, "CETSS"},
    {7, 0, kEcx, 8, "GFNI"},
    {7, 0, kEcx, 9, "VAES"},
    {7, 0, kEcx, 10, "VPCLMULQDQ"},
    {7, 0, kEcx, 11, "AVX512VNNI", kAvx512},
    {7, 0, kEcx, 12, "AVX512BITALG", kAvx512},
    {7, 0, kEcx, 13, "TME"},
    {7, 0, kEcx, 14, "AVX512VPOPCNTDQ", kAvx512},
    {7, 0, kEcx, 23, "KEYLOCKER"},
    {7, 0, kEcx, 25, "CLDEMOTE"},
    {7, 0, kEcx, 27, "MOVDIRI"},
    {7, 0, kEcx, 28, "MOVDIR64B"},
    {7, 0, kEcx, 29, "ENQCMD"},
    {7, 0, kEcx, 30, "SGXLC"},
    {7, 0, kEdx, 4, "FSRM"},
    {7, 0, kEdx, 8, "AVX512VP2INTERSECT", kAvx512},
    {7, 0, kEdx, 9, "SRBDS_CTRL"},
    {7, 0, kEdx, 10, "MD_CLEAR"},
    {7, 0, kEdx, 11, "RTM_ALWAYS_ABORT"},
    {7, 0, kEdx, 14, "SERIALIZE"},
    {7, 0, kEdx, 15, "HYBRID_CPU"},
    {7, 0, kEdx, 16, "TSXLDTRK"},
    {7, 0, kEdx, 18, "PCONFIG"},
    {7, 0, kEdx, 20, "CETIBT"},
    {7, 0, kEdx, 22, "AMXBF16", kAvx512},
    {7, 0, kEdx, 23, "AVX512FP16", kAvx512},
    {7, 0, kEdx, 24, "AMXTILE", kAvx512},
    {7, 0, kEdx, 25, "AMXINT8", kAvx512},
    {7, 0, kEdx, 26, "IBPB"},
    {7, 0, kEdx, 27, "STIBP"},
    {7, 0, kEdx, 28, "FLUSH_L1D"},
    {7, 0, kEdx, 29, "IA32_ARCH_CAP"},
    {7, 0, kEdx, 30, "IA32_CORE_CAP"},
    {7, 0, kEdx, 31, "SPEC_CTRL_SSBD"},

    {7, 1, kEax, 4, "AVXVNNI", kAvx},
    {7, 1, kEax, 5, "AVX512BF16", kAvx512},
    {7, 1, kEax, 7, "CMPCCXADD"},
    {7, 1, kEax, 10, "MOVSB_ZL"},
    {7, 1, kEax, 11, "STOSB_SHORT"},
    {7, 1, kEax, 12, "CMPSB_SCADBS_SHORT"},
    {7, 1, kEax, 19, "WRMSRNS"},
    {7, 1, kEax, 21, "AMXFP16", kAvx512},
    {7, 1, kEax, 22, "HRESET"},
    {7, 1, kEax, 23, "AVXIFMA", kAvx},
    {7, 1, kEax, 26, "LAM"},
    {7, 1, kEax, 27, "MSRLIST"},
    {7, 1, kEdx, 4, "AVXVNNIINT8", kAvx},
    {7, 1, kEdx, 5, "AVXNECONVERT", kAvx},
    {7, 1, kEdx, 8, "AMXCOMPLEX", kAvx512},
    {7, 1, kEdx, 10, "AVXVNNIINT16", kAvx},
    {7, 1, kEdx, 14, "PREFETCHI"},
    {7, 1, kEdx, 18, "CET_SSS"},
    {7, 1, kEdx, 19, "AVX10", kAvx512},
    {7, 1, kEdx, 21, "APX_F"},
    {7, 2, kEdx, 0, "PSFD"},
    {7, 2, kEdx, 1, "IDPRED_CTRL"},
    {7, 2, kEdx, 2, "RRSBA_CTRL"},
    {7, 2, kEdx, 3, "DDPD_U"},
    {7, 2, kEdx, 4, "BHI_CTRL"},
    {7, 2, kEdx, 5, "MCDT_NO"},
    {0xd, 1, kEax, 0, "XSAVEOPT"},
    {0xd, 1, kEax, 1, "XSAVEC"},
    {0xd, 1, kEax, 2, "XGETBV1"},
    {0xd, 1, kEax, 3, "XSAVES"},

    {k1, 0, kEcx, 0, "LAHF"},
    {k1, 0, kEcx, 2, "SVM"},
    {k1, 0, kEcx, 5, "LZCNT"},
    {k1, 0, kEcx, 5, "POPCNT"},
    {k1, 0, kEcx, 6, "SSE4A"},
    {k1, 0, kEcx, 10, "IBS"},
    {k1, 0, kEcx, 11, "XOP", kAvx},
    {k1, 0, kEcx, 16, "FMA4", kAvx},
    {k1, 0, kEcx, 21, "TBM"},
    {k1, 0, kEdx, 11, "SYSCALL"},
    {k1, 0, kEdx, 20, "NX"},
    {k1, 0, kEdx, 22, "MMXEXT"},
    {k1, 0, kEdx, 25, "FXSROPT"},
    {k1, 0, kEdx, 27, "RDTSCP"},
    {k1, 0, kEdx, 30, "AMD3DNOWEXT"},
    {k1, 0, kEdx, 31, "AMD3DNOW"},
    {k7, 0, kEbx, 0, "MCAOVERFLOW"},
    {k7, 0, kEbx, 1, "SUCCOR"},
    {k7, 0, kEbx, 2, "HWA"},
    {k8, 0, kEbx, 0, "CLZERO"},
    {k8, 0, kEbx, 3, "INVLPGB"},
    {k8, 0, kEbx, 4, "RDPRU"},
    {k8, 0, kEbx, 8, "MCOMMIT"},
    {k8, 0, kEbx, 9, "WBNOINVD"},
    {k8, 0, kEbx, 12, "IBPB"},
    {k8, 0, kEbx, 13, "INT_WBINVD"},
    {k8, 0, kEbx, 14, "IBRS"},
    {k8, 0, kEbx, 15, "STIBP"},
    {k8, 0, kEbx, 17, "STIBP_ALWAYSON"},
    {k8, 0, kEbx, 18, "IBRS_PREFERRED"},
    {k8, 0, kEbx, 19, "IBRS_PROVIDES_SMP"},
    {k8, 0, kEbx, 24, "SPEC_CTRL_SSBD"},
    {kSvm, 0, kEdx, 0, "SVMNP"},
    {kSvm, 0, kEdx, 1, "LBRVIRT"},
    {kSvm, 0, kEdx, 2, "SVML"},
    {kSvm, 0, kEdx, 3, "NRIPS"},
    {kSvm, 0, kEdx, 4, "TSCRATEMSR"},
    {kSvm, 0, kEdx, 5, "VMCBCLEAN"},
    {kSvm, 0, kEdx, 6, "SVMFBASID"},
    {kSvm, 0, kEdx, 7, "SVMDA"},
    {kSvm, 0, kEdx, 10, "SVMPF"},
    {kSvm, 0, kEdx, 12, "SVMPFT"},
    {kEnc, 0, kEax, 0, "SME"},
    {kEnc, 0, kEax, 1, "SEV"},
    {kEnc, 0, kEax, 2, "VM_PAGE_FLUSH"},
    {kEnc, 0, kEax, 3, "SEV_ES"},
    {kEnc, 0, kEax, 4, "SEV_SNP"},
    {kEnc, 0, kEax, 5, "VMPL"},
    {kEnc, 0, kEax, 10, "SME_COHERENT"},
    {kEnc, 0, kEax, 11, "SEV_64BIT"},
    {kEnc, 0, kEax, 12, "SEV_RESTRICTED"},
    {kEnc, 0, kEax, 13, "SEV_ALTERNATIVE"},
    {kEnc, 0, kEax, 14, "SEV_DEBUGSWAP"},
    {kEnc, 0, kEax, 16, "VTE"},
};

/// What must be there for an x86-64 level (x86-64 psABI), each on top of the one before.
inline constexpr std::string_view kLevels[4] = {
    "CMOV CMPXCHG8 X87 FXSR MMX SYSCALL SSE SSE2",
    "CX16 LAHF POPCNT SSE3 SSE4 SSE42 SSSE3",
    "AVX AVX2 BMI1 BMI2 F16C FMA3 LZCNT MOVBE OSXSAVE",
    "AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL",
};

/// Vendor texts of leaf 0, and of a hypervisor's leaf 0x40000000.
inline constexpr std::pair<std::string_view, std::string_view> kVendors[] = {
    {"GenuineIntel", "Intel"}, {"AuthenticAMD", "AMD"},       {"AMDisbetter!", "AMD"},       {"HygonGenuine", "Hygon"},
    {"CentaurHauls", "VIA"},   {"GenuineTMx86", "Transmeta"}, {"TransmetaCPU", "Transmeta"}, {"Geode by NSC", "NSC"},
    {"VIA VIA VIA ", "VIA"},   {"SiS SiS SiS ", "SiS"},       {"Genuine  RDC", "RDC"},       {"KVMKVMKVM", "KVM"},
    {"Linux KVM Hv", "KVM"},   {"Microsoft Hv", "MSVM"},      {"VMwareVMware", "VMware"},    {"XenVMMXenVMM", "XenHVM"},
    {"bhyve bhyve ", "Bhyve"}, {"TCGTCGTCGTCG", "QEMU"},      {"ACRNACRNACRN", "ACRN"},      {"QNXQVMBSQG", "QNX"},
    {"SRESRESRESRE", "SRE"},   {"Apple VZ", "Apple"},
};

}  // namespace cpuid_table
}  // namespace gpuop::operands::nfd
