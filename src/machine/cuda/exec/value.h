#pragma once
// A register's 64 bits as a value of a type, and back.

#include <bit>
#include <cstdint>
#include <type_traits>

#include "machine/cuda/exec/warp.h"

namespace gpuop::machine::exec {

template <class T>
T Get(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

/// Signed values are extended, so that a wider register holds the same number.
template <class T>
std::uint64_t Put(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::uint64_t>(value);
}

/// d = Op(a), Op(a, b), Op(a, b, c) for each lane. `Op` is callable with values of T.
template <class T, auto Op>
void One(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t* a = w.Src(i.a);
  ForLanes(m, [&](int l) { d[l] = Put<T>(static_cast<T>(Op(Get<T>(a[l])))); });
}
template <class T, auto Op>
void Two(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b);
  ForLanes(m, [&](int l) { d[l] = Put<T>(static_cast<T>(Op(Get<T>(a[l]), Get<T>(b[l])))); });
}
template <class T, auto Op>
void Three(Warp& w, const Inst& i, Mask m) {
  std::uint64_t* d = w.Dst(i.d);
  const std::uint64_t *a = w.Src(i.a), *b = w.Src(i.b), *c = w.Src(i.c);
  ForLanes(m, [&](int l) { d[l] = Put<T>(static_cast<T>(Op(Get<T>(a[l]), Get<T>(b[l]), Get<T>(c[l])))); });
}

/// The handler for an integer type, with and without regard to its sign; nullptr: no such type here.
#define GPUOP_EXEC_BY_INT(NAME, SHAPE)                        \
  template <auto Op>                                          \
  Handler NAME(ptx::Type type) {                              \
    switch (type) {                                           \
      case ptx::Type::kU8: return &SHAPE<std::uint8_t, Op>;   \
      case ptx::Type::kS8: return &SHAPE<std::int8_t, Op>;    \
      case ptx::Type::kB16:                                   \
      case ptx::Type::kU16: return &SHAPE<std::uint16_t, Op>; \
      case ptx::Type::kS16: return &SHAPE<std::int16_t, Op>;  \
      case ptx::Type::kB32:                                   \
      case ptx::Type::kU32: return &SHAPE<std::uint32_t, Op>; \
      case ptx::Type::kS32: return &SHAPE<std::int32_t, Op>;  \
      case ptx::Type::kB64:                                   \
      case ptx::Type::kU64: return &SHAPE<std::uint64_t, Op>; \
      case ptx::Type::kS64: return &SHAPE<std::int64_t, Op>;  \
      default: return nullptr;                                \
    }                                                         \
  }
GPUOP_EXEC_BY_INT(OneInt, One)
GPUOP_EXEC_BY_INT(TwoInt, Two)
GPUOP_EXEC_BY_INT(ThreeInt, Three)
#undef GPUOP_EXEC_BY_INT

}  // namespace gpuop::machine::exec
