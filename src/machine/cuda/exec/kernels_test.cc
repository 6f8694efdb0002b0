// Kernels as nvcc compiles them (testdata/cuda/kernels.cu), held to the same computed here.

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/testing/source_dir.h"
#include "machine/cuda/exec/kernel_fixture_test.h"

namespace gpuop::machine::exec {
namespace {

std::string KernelsText() {
  std::ifstream file(std::string(SourceDir()) + "/testdata/cuda/kernels.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Kernels : testing::Test {
  TestModule module{KernelsText()};

  void Run(std::string_view name, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block, auto... args) {
    const Fault fault = module.Run(name, grid, block, args...);
    EXPECT_EQ(fault.trap, Trap::kNone) << fault.text;
  }
};

TEST_F(Kernels, AddVectorsAndLeaveTheRestAlone) {
  std::vector<float> a(1000), b(1000);
  for (std::size_t i = 0; i < 1000; ++i) a[i] = static_cast<float>(i) * 0.5F, b[i] = static_cast<float>(1000 - i);
  const auto pa = module.Buffer(a), pb = module.Buffer(b), pc = module.Buffer(std::vector<float>(1001, -1));
  Run("vector_add", {8, 1, 1}, {128, 1, 1}, pa, pb, pc, 1000);
  const auto c = module.Read<float>(pc, 1001);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  EXPECT_EQ(c[1000], -1);
}

TEST_F(Kernels, CallThemselves) {
  struct {
    int add = 100;
    float factor = 0;
    double table[3] = {1, 2, 3};
  } p;
  const auto out = module.Buffer(std::vector<int>(20));
  Run("recursion", {1, 1, 1}, {20, 1, 1}, out, p);
  int a = 0, b = 1;
  const auto got = module.Read<int>(out, 20);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(got[i], a + 100 + static_cast<int>(i % 3) + 1) << i;
    b += a;
    a = b - a;
  }
}

TEST_F(Kernels, Print) {
  Run("print", {1, 1, 1}, {2, 1, 1}, 1.5F);
  EXPECT_EQ(module.printed, "0:  1.50 hello x% 10000000000\n1:  1.50 hello x% 10000000000\n");
}

TEST_F(Kernels, ReduceThroughSharedMemoryAndShuffles) {
  std::vector<float> in(5000);
  std::iota(in.begin(), in.end(), 0.0F);
  const auto pin = module.Buffer(in), out = module.Buffer(std::vector<float>{0});
  module.dynamic_shared = 256 * 4;
  Run("reduce", {4, 1, 1}, {256, 1, 1}, pin, out, 5000);
  EXPECT_EQ(module.Read<float>(out, 1)[0], 12497500.0F);
}

TEST_F(Kernels, MultiplyMatrices) {
  constexpr std::size_t n = 48;
  std::vector<float> a(n * n), b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5) - 2;
  const auto pa = module.Buffer(a), pb = module.Buffer(b), pc = module.Buffer(std::vector<float>(n * n));
  Run("matrix_product", {static_cast<std::uint32_t>(n / 16), static_cast<std::uint32_t>(n / 16), 1}, {16, 16, 1}, pa,
      pb, pc, static_cast<int>(n));
  const auto c = module.Read<float>(pc, n * n);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      ASSERT_EQ(c[row * n + column], sum * 2);
    }
}

TEST_F(Kernels, CountInHistogramsWithAtomics) {
  std::vector<unsigned char> in(20000);
  std::vector<unsigned> want(256);
  for (std::size_t i = 0; i < in.size(); ++i) ++want[in[i] = static_cast<unsigned char>(i * i + i / 7)];
  const auto pin = module.Buffer(in), out = module.Buffer(std::vector<unsigned>(256));
  Run("histogram", {6, 1, 1}, {256, 1, 1}, pin, out, 20000);
  EXPECT_EQ(module.Read<unsigned>(out, 256), want);
}

TEST_F(Kernels, WaitForTheWholeGridWhenLaunchedCooperatively) {
  module.cooperative = true;
  const auto x = module.Buffer(std::vector<int>(2));
  const Fault fault = module.Run("grid_barrier", {4, 1, 1}, {64, 1, 1}, x);
  EXPECT_EQ(fault.trap, Trap::kNone) << fault.text;
  EXPECT_EQ(module.Read<int>(x, 2), (std::vector<int>{256, 256}));
}

TEST_F(Kernels, CallThroughPointers) {
  const auto out = module.Buffer(std::vector<int>(64));
  Run("indirect", {1, 1, 1}, {64, 1, 1}, out, 0);
  const auto got = module.Read<int>(out, 64);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i % 2 == 0 ? i + 1 : i * 2);
}

TEST_F(Kernels, TakeDifferentWaysAndJoinAgain) {
  std::vector<int> in(32);
  for (std::size_t i = 0; i < 32; ++i) in[i] = static_cast<int>(i % 9);
  const auto out = module.Buffer(in);
  Run("branches", {1, 1, 1}, {32, 1, 1}, out);
  const std::vector<int> of = {5, 99, 18, 0, 4 ^ 77, 1, 6, -1, -1};
  const auto got = module.Read<int>(out, 32);
  for (std::size_t i = 0; i < 32; ++i)
    if (in[i] != 3) EXPECT_EQ(got[i], of[i % 9]) << i;
}

TEST_F(Kernels, ComputeTheMathematicalFunctionsOfTheirLibrary) {
  std::vector<double> d = {0.5, 2.25, 1e6, 4, 9};
  std::vector<float> f = {0.5F, 2.25F, 3, 1.5F, 2, 2.5F};
  const auto pd = module.Buffer(d), pf = module.Buffer(f);
  Run("mathematics", {1, 1, 1}, {1, 1, 1}, pd, pf);
  EXPECT_NEAR(module.Read<double>(pd, 1)[0], std::sin(0.5) / std::sqrt(2.25) + std::exp(0.5), 1e-14);
  EXPECT_NEAR(module.Read<float>(pf, 1)[0], 2 * std::sin(0.5) + 0.5 / 2.25 + std::pow(0.5, 3.0) + 1 / std::sqrt(0.5),
              1e-5);
}

TEST_F(Kernels, DoNotStarveAThreadThatHoldsALock) {
  const auto lock = module.Buffer(std::vector<int>{0}), value = module.Buffer(std::vector<int>{0});
  Run("spin_lock", {2, 1, 1}, {64, 1, 1}, lock, value);
  EXPECT_EQ(module.Read<int>(value, 1)[0], 128);
}

TEST_F(Kernels, VoteAndMatchInParts) {
  const auto out = module.Buffer(std::vector<unsigned>(32));
  Run("warp_votes", {1, 1, 1}, {32, 1, 1}, out);
  const auto got = module.Read<unsigned>(out, 32);
  for (unsigned t = 0; t < 32; ++t) {
    unsigned want = 256;  // 1 + 3 + … + 31
    if (t % 2 == 0) want = 0x55U ^ (0x5U << (t / 4 * 4));
    EXPECT_EQ(got[t], want + (t ^ 1U) * 1000000) << t;
  }
}

TEST_F(Kernels, ReduceAtBarriers) {
  const auto out = module.Buffer(std::vector<int>(100));
  Run("barrier_votes", {1, 1, 1}, {100, 1, 1}, out);
  EXPECT_EQ(module.Read<int>(out, 100), std::vector<int>(100, 34 * 100 + 11));
}

TEST(Faults, SayWhatAddressAndWhere) {
  TestModule module(R"(.visible .entry k(.param .u64 p) {
.reg .b64 %rd<3>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
ld.global.u32 %r1, [%rd1];
ret; })");
  const auto buffer = module.Buffer(std::vector<int>(4));
  EXPECT_EQ(module.Run("k", {1, 1, 1}, {1, 1, 1}, buffer).trap, Trap::kNone);
  const Fault beyond = module.Run("k", {2, 1, 1}, {1, 1, 1}, buffer + 16);
  EXPECT_EQ(beyond.trap, Trap::kIllegalAddress);
  EXPECT_NE(beyond.text.find("line 7"), std::string::npos) << beyond.text;
  EXPECT_NE(beyond.text.find("access of 4 bytes at global address 0x7f"), std::string::npos) << beyond.text;
  EXPECT_EQ(module.Run("k", {1, 1, 1}, {1, 1, 1}, buffer + 2).trap, Trap::kMisalignedAddress);
  EXPECT_EQ(module.Run("k", {1, 1, 1}, {1, 1, 1}, std::uint64_t{0}).trap, Trap::kIllegalAddress);
}

TEST(Faults, KeepThreadsInTheirSharedAndLocalMemory) {
  TestModule module(R"(.visible .entry shared(.param .u32 at) {
.reg .b32 %r<3>; .shared .b32 s[4];
ld.param.u32 %r1, [at]; st.shared.u32 [%r1], %r1; ret; }
.visible .entry local(.param .u32 at) {
.reg .b64 %rd<3>; .reg .b32 %r<3>; .local .b8 depot[8];
ld.param.u32 %r1, [at]; cvt.u64.u32 %rd1, %r1; st.local.u32 [%rd1], %r1; ret; }
.visible .entry stop() { trap; })");
  EXPECT_EQ(module.Run("shared", {1, 1, 1}, {1, 1, 1}, 12).trap, Trap::kNone);
  EXPECT_EQ(module.Run("shared", {1, 1, 1}, {1, 1, 1}, 16).trap, Trap::kIllegalAddress);
  EXPECT_EQ(module.Run("local", {1, 1, 1}, {1, 1, 1}, 4).trap, Trap::kNone);
  EXPECT_EQ(module.Run("local", {1, 1, 1}, {1, 1, 1}, 1 << 20).trap, Trap::kIllegalAddress);
  EXPECT_EQ(module.Run("stop", {1, 1, 1}, {1, 1, 1}).trap, Trap::kTrap);
}

TEST(Barriers, ThatNobodyElseReachesEndTheKernel) {
  TestModule module(R"(.visible .entry k() {
.reg .b32 %r<3>; .reg .pred %p<2>;
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, 32;
@%p1 bar.sync 0;
@!%p1 bar.sync 1;
ret; })");
  EXPECT_EQ(module.Run("k", {1, 1, 1}, {64, 1, 1}).trap, Trap::kDeadlock);
}

TEST(Barriers, DoNotWaitForThreadsThatEnded) {
  TestModule module(R"(.visible .entry k(.param .u64 out) {
.reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>;
mov.u32 %r1, %tid.x;
setp.ge.u32 %p1, %r1, 40;
@%p1 exit;
bar.sync 0;
ld.param.u64 %rd1, [out];
red.global.add.u32 [%rd1], 1;
ret; })");
  const auto out = module.Buffer(std::vector<int>{0});
  EXPECT_EQ(module.Run("k", {1, 1, 1}, {96, 1, 1}, out).trap, Trap::kNone);
  EXPECT_EQ(module.Read<int>(out, 1)[0], 40);
}

TEST(Tables, BranchByIndex) {
  TestModule module(R"(.visible .entry k(.param .u64 out) {
.reg .b32 %r<3>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
ts: .branchtargets A, B, C;
brx.idx %r1, ts;
A: mov.u32 %r2, 10; bra.uni D;
B: mov.u32 %r2, 20; bra.uni D;
C: mov.u32 %r2, 30;
D: mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;
ret; })");
  const auto out = module.Buffer(std::vector<int>(3));
  EXPECT_EQ(module.Run("k", {1, 1, 1}, {3, 1, 1}, out).trap, Trap::kNone);
  EXPECT_EQ(module.Read<int>(out, 3), (std::vector<int>{10, 20, 30}));
}

TEST(Stop, EndsAKernelThatNeverWould) {
  TestModule module(".visible .entry k() { L: bra L; }");
  auto program = module.TryDecode("k");
  ASSERT_TRUE(program);
  const MemoryMap memory;
  Launch launch;
  launch.program = program->get();
  launch.memory = &memory;
  launch.stopped = [] { return true; };
  EXPECT_EQ(exec::Run(launch, 1).trap, Trap::kStopped);
}

}  // namespace
}  // namespace gpuop::machine::exec
