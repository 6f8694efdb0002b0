#include "gpu/cuda/reference.h"

#include <array>
#include <cmath>

namespace gpuop::gpu::cuda {

std::vector<float> TestNumbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(static_cast<std::int32_t>(Pattern(i, seed))) / 3.0e8F;
  return numbers;
}

std::vector<float> VectorAddReference(std::span<const float> a, std::span<const float> b) {
  std::vector<float> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] + b[i];
  return c;
}

std::vector<float> ReduceReference(std::span<const float> in) {
  std::vector<float> out;
  for (std::size_t first = 0; first < in.size(); first += kReduceBlock) {
    std::array<float, kReduceBlock> sums{};
    for (std::size_t i = 0; i < kReduceBlock && first + i < in.size(); ++i) sums[i] = in[first + i];
    for (unsigned half = kReduceBlock / 2; half != 0; half /= 2)
      for (unsigned i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
    out.push_back(sums[0]);
  }
  return out;
}

std::vector<float> MatrixProductReference(std::span<const float> a, std::span<const float> b, unsigned n) {
  std::vector<float> c(a.size());
  for (unsigned row = 0; row < n; ++row)
    for (unsigned column = 0; column < n; ++column) {
      float sum = 0;
      for (unsigned k = 0; k < n; ++k) sum = std::fma(a[std::size_t{row} * n + k], b[std::size_t{k} * n + column], sum);
      c[std::size_t{row} * n + column] = sum;
    }
  return c;
}

std::uint32_t Pattern(std::uint64_t index, std::uint32_t seed) {
  std::uint32_t x = (static_cast<std::uint32_t>(index) ^ seed) * 0x9e3779b1U;
  x ^= x >> 15U;
  x *= 0x85ebca6bU;
  return x ^ x >> 13U;
}

}  // namespace gpuop::gpu::cuda
