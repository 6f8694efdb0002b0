#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "machine/cuda/driver/device.h"

namespace gpuop::machine::cuda {
namespace {

/// What differs between architectures (CUDA programming guide, "technical specifications per compute capability").
struct Architecture {
  int compute;
  int threads_per_sm, blocks_per_sm, shared_per_sm, shared_optin, ratio;
};
constexpr std::array kArchitectures = {
    Architecture{60, 2048, 32, 64 << 10, 48 << 10, 2},    Architecture{61, 2048, 32, 96 << 10, 48 << 10, 32},
    Architecture{70, 2048, 32, 96 << 10, 96 << 10, 2},    Architecture{75, 1024, 16, 64 << 10, 64 << 10, 32},
    Architecture{80, 2048, 32, 164 << 10, 163 << 10, 2},  Architecture{86, 1536, 16, 100 << 10, 99 << 10, 64},
    Architecture{89, 1536, 24, 100 << 10, 99 << 10, 64},  Architecture{90, 2048, 32, 228 << 10, 227 << 10, 2},
    Architecture{100, 2048, 32, 228 << 10, 227 << 10, 2}, Architecture{103, 2048, 32, 228 << 10, 227 << 10, 64},
    Architecture{120, 1536, 24, 100 << 10, 99 << 10, 64},
};

const Architecture& ArchitectureOf(int compute) {
  const auto* it = std::ranges::upper_bound(kArchitectures, compute, {}, &Architecture::compute);
  return it == kArchitectures.begin() ? *it : *(it - 1);
}

/// The same on every device of the architectures that are simulated.
constexpr std::array<std::pair<int, int>, 72> kFixed = {{
    {1, 1024},     {2, 1024},     {3, 1024},    {4, 64},          {5, 2147483647}, {6, 65535},   {7, 65535},
    {8, 48 << 10}, {9, 64 << 10}, {10, 32},     {11, 2147483647}, {12, 65536},     {14, 512},    {15, 1},
    {17, 0},       {19, 1},       {21, 131072}, {22, 131072},     {23, 65536},     {24, 16384},  {25, 16384},
    {26, 16384},   {27, 32768},   {28, 32768},  {29, 2048},       {30, 512},       {31, 1},      {35, 0},
    {41, 1},       {42, 32768},   {43, 2048},   {51, 32},         {52, 32768},     {55, 32768},  {56, 131072},
    {57, 65536},   {58, 16384},   {59, 16384},  {60, 16384},      {69, 268435456}, {70, 131072}, {71, 65000},
    {72, 2097120}, {73, 32768},   {74, 32768},  {77, 32768},      {78, 1},         {79, 1},      {80, 1},
    {82, 65536},   {83, 1},       {84, 0},      {85, 0},          {88, 0},         {89, 1},      {90, 1},
    {91, 1},       {92, 0},       {93, 0},      {94, 0},          {95, 1},         {96, 0},      {98, 0},
    {99, 1},       {100, 0},      {101, 0},     {102, 0},         {103, 0},        {111, 1024},  {115, 1},
    {120, 0},      {129, 0},
}};

int Clamped(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max()));
}

std::optional<int> FromFacts(const Device& device, int attribute) {
  const layout::DeviceFacts& facts = device.facts;
  const Architecture& architecture = ArchitectureOf(device.compute());
  switch (attribute) {
    case 13: return Clamped(facts.max_clock_mhz[layout::kClockSm] * 1000ULL);
    case 16: return Clamped(device.sm_count);
    case 18: return facts.unified_memory != 0 ? 1 : 0;
    case 20: return Clamped(device.compute_mode);
    case 32: return device.ecc ? 1 : 0;
    case 33: return Clamped(facts.pci_bus);
    case 34: return Clamped(facts.pci_device);
    case 36: return Clamped(facts.max_clock_mhz[layout::kClockMemory] * 1000ULL);
    case 37: return Clamped(facts.memory_bus_bits);
    case 38: return Clamped(facts.l2_cache_kib * 1024ULL);
    case 39: return architecture.threads_per_sm;
    case 40: return Clamped(device.place.whole() ? facts.copy_engines : device.instance.copy_engines);
    case 50: return Clamped(facts.pci_domain);
    case 75: return Clamped(facts.compute_major);
    case 76: return Clamped(facts.compute_minor);
    case 81: return architecture.shared_per_sm;
    case 86: return facts.c2c != 0 ? 1 : 0;
    case 87: return architecture.ratio;
    case 97: return architecture.shared_optin;
    case 106: return architecture.blocks_per_sm;
    case 131: return facts.numa_node;
    case 134: return facts.numa_node;
    case 139: return static_cast<int>(facts.pci_id);
    case 140: return static_cast<int>(facts.pci_subsystem);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<int> AttributeOf(const Device& device, int attribute) {
  if (const auto value = FromFacts(device, attribute)) return value;
  for (const auto& [number, value] : kFixed)
    if (number == attribute) return value;
  // Those that are left (up to the last of cuda.h 13.5) ask for abilities that these devices do not have.
  if (attribute > 0 && attribute < 163) return 0;
  return std::nullopt;
}

}  // namespace gpuop::machine::cuda
