#include "machine/cuda/ptx/types.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace gpuop::machine::ptx {
namespace {

struct Row {
  Type type;
  std::string_view name;
  std::uint32_t size;
  bool is_signed = false, is_float = false;
};

constexpr std::array kRows = {
    Row{Type::kPred, ".pred", 0},
    Row{Type::kB8, ".b8", 1},
    Row{Type::kB16, ".b16", 2},
    Row{Type::kB32, ".b32", 4},
    Row{Type::kB64, ".b64", 8},
    Row{Type::kB128, ".b128", 16},
    Row{Type::kU8, ".u8", 1},
    Row{Type::kU16, ".u16", 2},
    Row{Type::kU32, ".u32", 4},
    Row{Type::kU64, ".u64", 8},
    Row{Type::kS8, ".s8", 1, true},
    Row{Type::kS16, ".s16", 2, true},
    Row{Type::kS32, ".s32", 4, true},
    Row{Type::kS64, ".s64", 8, true},
    Row{Type::kF16, ".f16", 2, false, true},
    Row{Type::kF16x2, ".f16x2", 4, false, true},
    Row{Type::kBf16, ".bf16", 2, false, true},
    Row{Type::kBf16x2, ".bf16x2", 4, false, true},
    Row{Type::kTf32, ".tf32", 4, false, true},
    Row{Type::kE4m3x2, ".e4m3x2", 2},
    Row{Type::kE5m2x2, ".e5m2x2", 2},
    Row{Type::kF32, ".f32", 4, false, true},
    Row{Type::kF32x2, ".f32x2", 8, false, true},
    Row{Type::kF64, ".f64", 8, false, true},
    Row{Type::kU16x2, ".u16x2", 4},
    Row{Type::kS16x2, ".s16x2", 4, true},
};

const Row& RowOf(Type type) {
  static constexpr Row kNothing{Type::kNone, "", 0};
  const auto* row = std::ranges::find(kRows, type, &Row::type);
  return row == kRows.end() ? kNothing : *row;
}

}  // namespace

std::optional<Type> TypeNamed(std::string_view word) {
  const auto* row = std::ranges::find(kRows, word, &Row::name);
  if (row == kRows.end()) return std::nullopt;
  return row->type;
}
std::string_view TypeName(Type type) { return RowOf(type).name; }
std::uint32_t SizeOf(Type type) { return RowOf(type).size; }
bool IsSigned(Type type) { return RowOf(type).is_signed; }
bool IsFloat(Type type) { return RowOf(type).is_float; }

std::optional<Space> SpaceNamed(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, Space>, 9> kSpaces = {{
      {".reg", Space::kReg},
      {".global", Space::kGlobal},
      {".const", Space::kConst},
      {".shared", Space::kShared},
      {".shared::cta", Space::kShared},
      {".local", Space::kLocal},
      {".param", Space::kParam},
      {".param::entry", Space::kParam},
      {".param::func", Space::kParam},
  }};
  for (const auto& [name, space] : kSpaces)
    if (name == word) return space;
  return std::nullopt;
}

}  // namespace gpuop::machine::ptx
