#include "gpu/cuda/workloads.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "gpu/cuda/kernels.h"
#include "gpu/cuda/reference.h"

namespace gpuop::gpu::cuda {
namespace {

constexpr unsigned kBlock = 256;
// Enough blocks to use every multiprocessor there is; each thread takes many words.
constexpr unsigned kPatternBlocks = 1024;

unsigned Blocks(std::size_t count, unsigned block) { return static_cast<unsigned>((count + block - 1) / block); }

Result<> Compare(std::string_view what, std::span<const float> got, std::span<const float> want) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = want.size(); i-- > 0;) {
    if (std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(want[i])) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return {};
  return Fail(Code::kIo, fmt::format("{}: element {} is {:#010x} instead of {:#010x}, {} of {} wrong", what, first,
                                     std::bit_cast<std::uint32_t>(got[first]),
                                     std::bit_cast<std::uint32_t>(want[first]), wrong, want.size()));
}

}  // namespace

Result<std::unique_ptr<Session>> OpenWorkloads(const Driver& driver, DeviceOrdinal device) {
  return Session::Open(driver, device, KernelsPtx());
}

Result<> RunVectorAdd(Session& session, unsigned count) {
  const std::vector<float> a = TestNumbers(count, 1), b = TestNumbers(count, 2);
  ASSIGN(const Buffer on_a, session.Upload<float>(a));
  ASSIGN(const Buffer on_b, session.Upload<float>(b));
  ASSIGN(const Buffer on_c, session.Allocate(on_a.bytes()));
  TRY(session.Launch("gpuop_vector_add", {.grid_x = Blocks(count, kBlock), .block_x = kBlock}, on_a.pointer(),
                     on_b.pointer(), on_c.pointer(), count));
  ASSIGN(const std::vector<float> c, session.Download<float>(on_c));
  return Compare("vector add", c, VectorAddReference(a, b));
}

Result<> RunReduction(Session& session, unsigned count) {
  const std::vector<float> in = TestNumbers(count, 3);
  const unsigned blocks = Blocks(count, kReduceBlock);
  ASSIGN(const Buffer on_in, session.Upload<float>(in));
  ASSIGN(const Buffer on_out, session.Allocate(blocks * sizeof(float)));
  TRY(session.Launch("gpuop_reduce", {.grid_x = blocks, .block_x = kReduceBlock}, on_in.pointer(), on_out.pointer(),
                     count));
  ASSIGN(const std::vector<float> out, session.Download<float>(on_out));
  return Compare("reduction", out, ReduceReference(in));
}

Result<> RunMatrixProduct(Session& session, unsigned edge) {
  if (edge == 0 || edge % kTile != 0)
    return Fail(Code::kInvalid, fmt::format("matrix product: edge {} is no multiple of {}", edge, kTile));
  const std::vector<float> a = TestNumbers(std::size_t{edge} * edge, 4), b = TestNumbers(std::size_t{edge} * edge, 5);
  ASSIGN(const Buffer on_a, session.Upload<float>(a));
  ASSIGN(const Buffer on_b, session.Upload<float>(b));
  ASSIGN(const Buffer on_c, session.Allocate(on_a.bytes()));
  const unsigned tiles = edge / kTile;
  TRY(session.Launch("gpuop_matrix_product", {.grid_x = tiles, .grid_y = tiles, .block_x = kTile, .block_y = kTile},
                     on_a.pointer(), on_b.pointer(), on_c.pointer(), edge));
  ASSIGN(const std::vector<float> c, session.Download<float>(on_c));
  return Compare("matrix product", c, MatrixProductReference(a, b, edge));
}

Result<> RunMemoryPattern(Session& session, std::size_t bytes, std::uint32_t seed) {
  const std::uint64_t words = bytes / sizeof(std::uint32_t);
  const std::uint64_t clean[] = {0, std::numeric_limits<std::uint64_t>::max()};
  ASSIGN(const Buffer memory, session.Allocate(bytes));
  ASSIGN(const Buffer result, session.Upload<std::uint64_t>(clean));
  const Shape shape{.grid_x = std::min(kPatternBlocks, std::max(1U, Blocks(words, kBlock))), .block_x = kBlock};
  TRY(session.Launch("gpuop_pattern_write", shape, memory.pointer(), words, seed));
  TRY(session.Launch("gpuop_pattern_check", shape, memory.pointer(), words, seed, result.pointer()));
  ASSIGN(const std::vector<std::uint64_t> found, session.Download<std::uint64_t>(result));
  if (found[0] == 0) return {};
  return Fail(Code::kIo,
              fmt::format("memory pattern: {} of {} words wrong, the first at byte {}", found[0], words, found[1] * 4));
}

}  // namespace gpuop::gpu::cuda
