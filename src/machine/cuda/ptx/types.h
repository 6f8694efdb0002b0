#pragma once
// PTX's fundamental types and state spaces (PTX ISA §5).

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuop::machine::ptx {

enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kTf32,
  kE4m3x2,
  kE5m2x2,
  kF32,
  kF32x2,
  kF64,
  kU16x2,
  kS16x2,
};

/// The type that ".f32" names; nullopt when it names none that we know.
std::optional<Type> TypeNamed(std::string_view word);
/// ".f32"
std::string_view TypeName(Type type);
/// Bytes that a value takes in memory; a predicate takes none (0).
std::uint32_t SizeOf(Type type);
bool IsSigned(Type type);
/// Whether it is one of .f16 .f16x2 .bf16 .bf16x2 .tf32 .f32 .f32x2 .f64.
bool IsFloat(Type type);

enum class Space : std::uint8_t { kGeneric, kReg, kGlobal, kConst, kShared, kLocal, kParam };
/// The space that ".global" (or ".shared::cta", ".param::entry" …) names.
std::optional<Space> SpaceNamed(std::string_view word);

}  // namespace gpuop::machine::ptx
