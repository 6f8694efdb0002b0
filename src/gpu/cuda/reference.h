#pragma once
// What the kernels of kernels.ptx must compute, to the last bit, computed here on the CPU.

#include <cstdint>
#include <span>
#include <vector>

namespace gpuop::gpu::cuda {

/// The threads of a block of gpuop_reduce, and the elements that it sums.
inline constexpr unsigned kReduceBlock = 256;
/// The edge of a tile of gpuop_matrix_product, of which a matrix's edge is a multiple.
inline constexpr unsigned kTile = 16;

/// `count` floats of which neither sums nor products are exact, the same for the same seed.
std::vector<float> TestNumbers(std::size_t count, std::uint32_t seed);

std::vector<float> VectorAddReference(std::span<const float> a, std::span<const float> b);
/// One sum for each block of kReduceBlock elements, added by halves as the kernel does.
std::vector<float> ReduceReference(std::span<const float> in);
/// a b for square matrices of edge `n`, row by row; fused multiply-adds in the order of the inner index.
std::vector<float> MatrixProductReference(std::span<const float> a, std::span<const float> b, unsigned n);
/// Word `index` of the memory pattern; only the lower half of the index counts.
std::uint32_t Pattern(std::uint64_t index, std::uint32_t seed);

}  // namespace gpuop::gpu::cuda
