#include <cmath>

#include "machine/cuda/exec/half.h"
#include "machine/cuda/exec/kernel_fixture_test.h"

namespace gpuop::machine::exec {
namespace {

constexpr std::uint32_t F(float v) { return std::bit_cast<std::uint32_t>(v); }
constexpr std::uint64_t D(double v) { return std::bit_cast<std::uint64_t>(v); }
constexpr std::uint64_t kNan = 0x7fc00000;

/// One instruction on the values of registers 1 … 4 (%r, %rd, %rs, %f, %fd: each the low bits of the input word; %p1
/// … %p4: whether it is odd). Its result is in register 9 of some kind.
std::uint64_t Evaluate(const std::string& instructions, std::vector<std::uint64_t> inputs) {
  inputs.resize(4);
  std::string text = R"(.visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<10>; .reg .f64 %fd<10>;
    ld.param.u64 %rd10, [in]; ld.param.u64 %rd11, [out];
)";
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i);
    text += "ld.global.u64 %rd" + n + ", [%rd10+" + std::to_string(8 * (i - 1)) + "]; cvt.u32.u64 %r" + n + ", %rd" +
            n + "; cvt.u16.u64 %rs" + n + ", %rd" + n + "; mov.b32 %f" + n + ", %r" + n + "; mov.b64 %fd" + n +
            ", %rd" + n + "; and.b32 %r10, %r" + n + ", 1; setp.ne.u32 %p" + n + ", %r10, 0;\n";
  }
  text += "mov.u32 %r9, 0; mov.u64 %rd9, 0; mov.u16 %rs9, 0;\n" + instructions + "\n";
  std::string store = "st.global.u64 [%rd11], %rd9;";
  if (instructions.find("%rs9") != std::string::npos)
    store = "cvt.u64.u16 %rd12, %rs9; st.global.u64 [%rd11], %rd12;";
  else if (instructions.find("%r9") != std::string::npos)
    store = "cvt.u64.u32 %rd12, %r9; st.global.u64 [%rd11], %rd12;";
  else if (instructions.find("%fd9") != std::string::npos)
    store = "st.global.f64 [%rd11], %fd9;";
  else if (instructions.find("%f9") != std::string::npos)
    store = "st.global.f32 [%rd11], %f9;";
  else if (instructions.find("%p9") != std::string::npos)
    store = "selp.u64 %rd12, 1, 0, %p9; st.global.u64 [%rd11], %rd12;";
  TestModule module(text + store + " ret; }");
  const std::uint64_t in = module.Buffer(inputs), out = module.Buffer(std::vector<std::uint64_t>{0});
  const Fault fault = module.Run("k", {1, 1, 1}, {1, 1, 1}, in, out);
  EXPECT_EQ(fault.trap, Trap::kNone) << fault.text;
  return module.Read<std::uint64_t>(out, 1)[0];
}

struct Case {
  const char* text;
  std::vector<std::uint64_t> inputs;
  std::uint64_t want;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(Evaluate(c.text, c.inputs), c.want) << c.text;
}

constexpr std::uint64_t kM1 = 0xffffffffffffffff;

TEST(IntegerOps, ComputeAsTheIsaSays) {
  Check({
      {"add.u32 %r9, %r1, %r2;", {0xffffffff, 2}, 1},
      {"add.s64 %rd9, %rd1, %rd2;", {kM1, 2}, 1},
      {"add.sat.s32 %r9, %r1, %r2;", {0x7fffffff, 1}, 0x7fffffff},
      {"sub.s32 %r9, %r1, 5;", {3}, 0xfffffffe},
      {"sub.sat.s32 %r9, %r1, %r2;", {0x80000000, 1}, 0x80000000},
      {"mul.lo.s32 %r9, %r1, %r2;", {kM1, 7}, 0xfffffff9},
      {"mul.hi.s32 %r9, %r1, %r2;", {kM1, 7}, 0xffffffff},
      {"mul.hi.u32 %r9, %r1, %r2;", {0xffffffff, 7}, 6},
      {"mul.hi.u64 %rd9, %rd1, %rd2;", {kM1, kM1}, kM1 - 1},
      {"mul.hi.s64 %rd9, %rd1, %rd2;", {kM1, kM1}, 0},
      {"mul.wide.s32 %rd9, %r1, %r2;", {kM1, 7}, static_cast<std::uint64_t>(-7)},
      {"mul.wide.u32 %rd9, %r1, -1431655765;", {3}, 3 * 0xaaaaaaabULL},
      {"mul.wide.u16 %r9, %rs1, %rs2;", {0xffff, 0xffff}, 0xfffe0001},
      {"mad.lo.s32 %r9, %r1, %r2, %r3;", {3, 4, 5}, 17},
      {"mad.hi.u32 %r9, %r1, %r2, %r3;", {0x80000000, 4, 5}, 7},
      {"mad.wide.s32 %rd9, %r1, %r2, %rd3;", {kM1, 4, 5}, 1},
      {"mul24.lo.u32 %r9, %r1, %r2;", {0xff000003, 5}, 15},
      {"mad24.lo.s32 %r9, %r1, %r2, %r3;", {0xffffff, 5, 1}, 0xfffffffc},
      {"div.s32 %r9, %r1, %r2;", {static_cast<std::uint64_t>(-7), 2}, 0xfffffffd},
      {"div.u32 %r9, %r1, %r2;", {7, 0}, 0xffffffff},
      {"div.s32 %r9, %r1, %r2;", {0x80000000, kM1}, 0x80000000},
      {"rem.s32 %r9, %r1, %r2;", {static_cast<std::uint64_t>(-7), 2}, 0xffffffff},
      {"rem.u64 %rd9, %rd1, %rd2;", {17, 5}, 2},
      {"min.s32 %r9, %r1, %r2;", {kM1, 2}, 0xffffffff},
      {"min.u32 %r9, %r1, %r2;", {kM1, 2}, 2},
      {"max.s64 %rd9, %rd1, %rd2;", {kM1, 2}, 2},
      {"max.s16x2 %r9, %r1, %r2;", {0x0001ffff, 0x00020001}, 0x00020001},
      {"abs.s32 %r9, %r1;", {static_cast<std::uint64_t>(-5)}, 5},
      {"neg.s16 %rs9, %rs1;", {5}, 0xfffb},
      {"sad.u32 %r9, %r1, %r2, %r3;", {3, 10, 1}, 8},
      {"add.cc.u32 %r8, %r1, %r2; addc.u32 %r9, %r3, 0;", {0xffffffff, 1, 7}, 8},
      {"sub.cc.u32 %r8, %r1, %r2; subc.u32 %r9, %r3, 0;", {0, 1, 7}, 6},
      {"mad.lo.cc.u32 %r8, %r1, %r2, %r3; madc.hi.u32 %r9, %r1, %r2, %r4;", {0xffffffff, 0xffffffff, 0xffffffff, 1}, 0},
      {"add.cc.u64 %rd8, %rd1, %rd2; addc.u64 %rd9, %rd3, %rd4;", {kM1, kM1, 1, 2}, 4},
  });
}

TEST(BitOps, ComputeAsTheIsaSays) {
  Check({
      {"and.b32 %r9, %r1, %r2;", {0xf0f0, 0xff00}, 0xf000},
      {"xor.b64 %rd9, %rd1, %rd2;", {kM1, 1}, kM1 - 1},
      {"not.b32 %r9, %r1;", {0}, 0xffffffff},
      {"cnot.b32 %r9, %r1;", {0}, 1},
      {"and.pred %p9, %p1, !%p2;", {1, 0}, 1},
      {"xor.pred %p9, %p1, %p2;", {1, 1}, 0},
      {"not.pred %p9, %p1;", {1}, 0},
      {"shl.b32 %r9, %r1, %r2;", {1, 33}, 0},
      {"shl.b64 %rd9, %rd1, 40;", {1}, std::uint64_t{1} << 40},
      {"shr.s32 %r9, %r1, %r2;", {0x80000000, 40}, 0xffffffff},
      {"shr.u32 %r9, %r1, %r2;", {0x80000000, 31}, 1},
      {"shr.b16 %rs9, %rs1, 4;", {0xf000}, 0x0f00},
      {"shf.l.wrap.b32 %r9, %r1, %r2, 8;", {0x11223344, 0x55667788}, 0x66778811},
      {"shf.r.clamp.b32 %r9, %r1, %r2, 40;", {0x11223344, 0x55667788}, 0x55667788},
      {"lop3.b32 %r9, %r1, %r2, %r3, 0x96;", {0xff, 0x0f, 0x33}, 0xff ^ 0x0f ^ 0x33},
      {"lop3.b32 %r9, %r1, %r2, %r3, 0xca;", {0xf0, 0x55, 0x33}, (0xf0 & 0x55) | (0x0f & 0x33)},
      {"bfe.u32 %r9, %r1, 4, 8;", {0x12345678}, 0x67},
      {"bfe.s32 %r9, %r1, 4, 4;", {0x80}, 0xfffffff8},
      {"bfe.s32 %r9, %r1, 28, 8;", {0x80000000}, 0xfffffff8},
      {"bfe.u64 %rd9, %rd1, 32, 32;", {0x1234567800000000}, 0x12345678},
      {"bfi.b32 %r9, %r1, %r2, 8, 4;", {0xff, 0}, 0xf00},
      {"bfind.u32 %r9, %r1;", {0x1000}, 12},
      {"bfind.s32 %r9, %r1;", {kM1}, 0xffffffff},
      {"bfind.shiftamt.u32 %r9, %r1;", {0x1000}, 19},
      {"popc.b64 %r9, %rd1;", {kM1}, 64},
      {"clz.b32 %r9, %r1;", {1}, 31},
      {"brev.b32 %r9, %r1;", {1}, 0x80000000},
      {"prmt.b32 %r9, %r1, %r2, 0x7531;", {0x44332211, 0x88776655}, 0x88664422},
      {"prmt.b32 %r9, %r1, %r2, 0x8888;", {0x80, 0}, 0xffffffff},
      {"prmt.b32.rc16 %r9, %r1, %r2, 1;", {0x44332211, 0}, 0x44334433},
      {"fns.b32 %r9, %r1, 0, 2;", {0b1010}, 3},
      {"bmsk.clamp.b32 %r9, 4, 8;", {}, 0xff0},
      {"szext.clamp.s32 %r9, %r1, 4;", {0x8}, 0xfffffff8},
      {"dp4a.s32.s32 %r9, %r1, %r2, %r3;", {0x01ff0203, 0x04030201, 10}, 10 + 1 * 4 - 3 + 2 * 2 + 3},
      {"dp2a.lo.u32.u32 %r9, %r1, %r2, %r3;", {0x00020003, 0x00000504, 1}, 3 * 4 + 2 * 5 + 1},
  });
}

TEST(FloatOps, RoundFlushAndSaturateAsTheIsaSays) {
  const float third = 1.0F / 3;
  Check({
      {"add.f32 %f9, %f1, %f2;", {F(1.5F), F(2.25F)}, F(3.75F)},
      {"add.rz.f32 %f9, %f1, %f2;", {F(1), F(0x1p-24F)}, F(1)},
      {"add.rp.f32 %f9, %f1, %f2;", {F(1), F(0x1p-24F)}, F(std::nextafter(1.0F, 2.0F))},
      {"add.sat.f32 %f9, %f1, %f2;", {F(1), F(2)}, F(1)},
      {"add.sat.f32 %f9, %f1, %f2;", {kNan, F(2)}, F(0)},
      {"mul.ftz.f32 %f9, %f1, %f2;", {F(0x1p-100F), F(0x1p-30F)}, 0},
      {"mul.f32 %f9, %f1, %f2;", {F(0x1p-100F), F(0x1p-30F)}, F(0x1p-130F)},
      {"mul.f32 %f9, %f1, 0f40490FDB;", {F(2)}, F(2 * 3.14159274F)},
      {"fma.rn.f32 %f9, %f1, %f2, %f3;", {F(third), F(3), F(-1)}, F(std::fma(third, 3.0F, -1.0F))},
      {"fma.rz.f64 %fd9, %fd1, %fd2, %fd3;", {D(1), D(1), D(0x1p-60)}, D(1)},
      {"sub.f64 %fd9, %fd1, 0d3FE0000000000000;", {D(2)}, D(1.5)},
      {"div.rn.f32 %f9, %f1, %f2;", {F(1), F(3)}, F(third)},
      {"div.full.f32 %f9, %f1, %f2;", {F(1), F(4)}, F(0.25F)},
      {"div.rn.f64 %fd9, %fd1, %fd2;", {D(1), D(3)}, D(1.0 / 3)},
      {"rcp.rn.f32 %f9, %f1;", {F(8)}, F(0.125F)},
      {"rcp.approx.ftz.f32 %f9, %f1;", {F(4)}, F(0.25F)},
      {"rcp.approx.ftz.f64 %fd9, %fd1;", {D(3)}, D(1.0 / 3) & 0xffffffff00000000},
      {"sqrt.rn.f32 %f9, %f1;", {F(2)}, F(std::sqrt(2.0F))},
      {"sqrt.approx.f32 %f9, %f1;", {F(16)}, F(4)},
      {"rsqrt.approx.f32 %f9, %f1;", {F(16)}, F(0.25F)},
      {"ex2.approx.ftz.f32 %f9, %f1;", {F(-3)}, F(0.125F)},
      {"lg2.approx.f32 %f9, %f1;", {F(1024)}, F(10)},
      {"sin.approx.f32 %f9, %f1;", {F(0)}, F(0)},
      {"cos.approx.f32 %f9, %f1;", {F(0)}, F(1)},
      {"tanh.approx.f32 %f9, %f1;", {F(0)}, F(0)},
      {"abs.f32 %f9, %f1;", {F(-2)}, F(2)},
      {"neg.f64 %fd9, %fd1;", {D(2)}, D(-2)},
      {"min.f32 %f9, %f1, %f2;", {kNan, F(2)}, F(2)},
      {"min.NaN.f32 %f9, %f1, %f2;", {kNan, F(2)}, 0x7fffffff},
      {"max.f32 %f9, %f1, %f2;", {F(-0.0F), F(0.0F)}, F(0.0F)},
      {"min.f32 %f9, %f1, %f2;", {F(-0.0F), F(0.0F)}, F(-0.0F)},
      {"max.f64 %fd9, %fd1, %fd2;", {D(1), D(2)}, D(2)},
      {"copysign.f32 %f9, %f1, %f2;", {F(-1), F(3)}, F(-3)},
      {"testp.infinite.f32 %p9, %f1;", {F(INFINITY)}, 1},
      {"testp.subnormal.f32 %p9, %f1;", {1}, 1},
  });
}

TEST(HalfOps, RoundOnce) {
  const auto h = [](double v) { return std::uint64_t{ToHalf(v)}; };
  const auto b = [](double v) { return std::uint64_t{ToBfloat(v)}; };
  Check({
      {"add.f16 %rs9, %rs1, %rs2;", {h(1), h(2.5)}, h(3.5)},
      {"add.f16x2 %r9, %r1, %r2;", {h(1) | h(2) << 16, h(3) | h(4) << 16}, h(4) | h(6) << 16},
      {"mul.f16 %rs9, %rs1, %rs2;", {h(300), h(300)}, 0x7c00},
      {"fma.rn.f16 %rs9, %rs1, %rs2, %rs3;", {h(1 + 0x1p-10), h(1 + 0x1p-10), h(-1)}, h(0x1p-9 + 0x1p-20)},
      {"fma.rn.f16x2 %r9, %r1, %r2, %r3;",
       {h(2) | h(3) << 16, h(5) | h(7) << 16, h(1) | h(2) << 16},
       h(11) | h(23) << 16},
      {"fma.rn.relu.bf16 %rs9, %rs1, %rs2, %rs3;", {b(2), b(3), b(-10)}, 0},
      {"add.bf16 %rs9, %rs1, %rs2;", {b(1), b(256)}, b(256)},
      {"max.bf16x2 %r9, %r1, %r2;", {b(1) | b(-2) << 16, b(3) | b(-4) << 16}, b(3) | b(-2) << 16},
      {"min.NaN.f16 %rs9, %rs1, %rs2;", {0x7e00, h(1)}, 0x7fff},
      {"neg.f16x2 %r9, %r1;", {h(1) | h(-2) << 16}, h(-1) | h(2) << 16},
      {"abs.bf16 %rs9, %rs1;", {b(-1)}, b(1)},
      {"setp.gt.f16 %p9, %rs1, %rs2;", {h(2), h(1)}, 1},
      {"ex2.approx.f16 %rs9, %rs1;", {h(3)}, h(8)},
  });
}

TEST(HalfFormats, WidenWhatTheyNarrow) {
  for (const SmallFloat format : {kHalf, kBfloat})
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const double value = Widen(static_cast<std::uint16_t>(bits), format);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Narrow(value, format), bits);
    }
  for (const SmallFloat format : {kE4m3, kE5m2})
    for (unsigned bits = 0; bits < 0x100; ++bits) {
      const double value = Widen(static_cast<std::uint16_t>(bits), format);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Narrow(value, format), bits);
    }
  EXPECT_EQ(Narrow(65520, kHalf), 0x7c00);
  EXPECT_EQ(Narrow(65520, kHalf, Round::kZero), 0x7bff);
  EXPECT_EQ(Narrow(0x1p-25, kHalf), 0);
  EXPECT_EQ(Narrow(0x1.8p-25, kHalf), 1);
  EXPECT_EQ(Narrow(1e9, kE4m3, Round::kNearest, true), 0x7e);
}

TEST(ConvertOps, RoundAndSaturateAsTheIsaSays) {
  const auto h = [](double v) { return std::uint64_t{ToHalf(v)}; };
  Check({
      {"cvt.u64.u32 %rd9, %r1;", {0xffffffff}, 0xffffffff},
      {"cvt.s64.s32 %rd9, %r1;", {0xffffffff}, kM1},
      {"cvt.s32.s8 %r9, %r1;", {0x80}, 0xffffff80},
      {"cvt.u32.u8 %r9, %r1;", {0x180}, 0x80},
      {"cvt.u16.u32 %rs9, %r1;", {0x12345}, 0x2345},
      {"cvt.sat.u8.s32 %r9, %r1;", {0x1ff}, 0xff},
      {"cvt.sat.u8.s32 %r9, %r1;", {kM1}, 0},
      {"cvt.sat.s16.s32 %r9, %r1;", {0x80000000}, 0xffff8000},
      {"cvt.rn.f32.s32 %f9, %r1;", {kM1}, F(-1)},
      {"cvt.rn.f32.u32 %f9, %r1;", {0xffffffff}, F(4294967296.0F)},
      {"cvt.rz.f32.u32 %f9, %r1;", {0xffffffff}, F(4294967040.0F)},
      {"cvt.rn.f64.u64 %fd9, %rd1;", {kM1}, D(0x1p64)},
      {"cvt.rz.f64.s64 %fd9, %rd1;", {0x7fffffffffffffff}, D(0x1.fffffffffffffp62)},
      {"cvt.rzi.s32.f32 %r9, %f1;", {F(-2.9F)}, static_cast<std::uint32_t>(-2)},
      {"cvt.rni.s32.f32 %r9, %f1;", {F(2.5F)}, 2},
      {"cvt.rmi.s32.f32 %r9, %f1;", {F(-2.1F)}, static_cast<std::uint32_t>(-3)},
      {"cvt.rpi.u32.f32 %r9, %f1;", {F(2.1F)}, 3},
      {"cvt.rzi.u32.f32 %r9, %f1;", {F(-5)}, 0},
      {"cvt.rzi.s32.f32 %r9, %f1;", {F(1e20F)}, 0x7fffffff},
      {"cvt.rzi.s32.f32 %r9, %f1;", {kNan}, 0},
      {"cvt.rzi.s64.f64 %rd9, %fd1;", {D(NAN)}, 0x8000000000000000},
      {"cvt.rzi.u64.f32 %rd9, %f1;", {F(0x1p40F)}, std::uint64_t{1} << 40},
      {"cvt.rni.f32.f32 %f9, %f1;", {F(2.5F)}, F(2)},
      {"cvt.rmi.f64.f64 %fd9, %fd1;", {D(-2.5)}, D(-3)},
      {"cvt.sat.f32.f32 %f9, %f1;", {F(2.5F)}, F(1)},
      {"cvt.f64.f32 %fd9, %f1;", {F(0.1F)}, D(double{0.1F})},
      {"cvt.rn.f32.f64 %f9, %fd1;", {D(0.1)}, F(0.1F)},
      {"cvt.rm.f32.f64 %f9, %fd1;", {D(0.1)}, F(std::nextafter(0.1F, 0.0F))},
      {"cvt.rn.f16.f32 %rs9, %f1;", {F(0.1F)}, h(double{0.1F})},
      {"cvt.f32.f16 %f9, %rs1;", {h(1.5)}, F(1.5F)},
      {"cvt.rn.f16x2.f32 %r9, %f1, %f2;", {F(1), F(2)}, h(2) | h(1) << 16},
      {"cvt.rn.bf16.f32 %rs9, %f1;", {F(1.5F)}, ToBfloat(1.5)},
      {"cvt.f32.bf16 %f9, %rs1;", {ToBfloat(-3)}, F(-3)},
      {"cvt.rna.tf32.f32 %r9, %f1;", {0x3f801000}, 0x3f802000},
      {"cvt.rn.f16.s32 %rs9, %r1;", {7}, h(7)},
      {"cvt.rzi.s32.f16 %r9, %rs1;", {h(-7.9)}, static_cast<std::uint32_t>(-7)},
      {"cvt.rn.satfinite.e4m3x2.f32 %rs9, %f1, %f2;", {F(1), F(2)}, 0x3840},
      {"cvt.rn.f16x2.e5m2x2 %r9, %rs1;", {0x3c40}, h(2) | h(1) << 16},
  });
}

TEST(CompareOps, KnowOrderAndNan) {
  Check({
      {"setp.lt.s32 %p9, %r1, %r2;", {kM1, 1}, 1},
      {"setp.lo.u32 %p9, %r1, %r2;", {kM1, 1}, 0},
      {"setp.eq.s64 %p9, %rd1, %rd2;", {5, 5}, 1},
      {"setp.ne.f32 %p9, %f1, %f2;", {kNan, F(1)}, 0},
      {"setp.neu.f32 %p9, %f1, %f2;", {kNan, F(1)}, 1},
      {"setp.nan.f64 %p9, %fd1, %fd2;", {D(NAN), D(1)}, 1},
      {"setp.num.f32 %p9, %f1, %f2;", {F(2), F(1)}, 1},
      {"setp.gt.and.s32 %p9, %r1, %r2, %p3;", {2, 1, 0}, 0},
      {"setp.gt.or.s32 %p9, %r1, %r2, !%p3;", {0, 1, 0}, 1},
      {"setp.gt.s32 %p8|%p9, %r1, %r2;", {2, 1}, 0},
      {"setp.eq.ftz.f32 %p9, %f1, 0f00000000;", {1}, 1},
      {"set.gt.u32.s32 %r9, %r1, %r2;", {2, 1}, 0xffffffff},
      {"set.lt.f32.f32 %f9, %f1, %f2;", {F(1), F(2)}, F(1)},
      {"selp.b32 %r9, %r1, %r2, %p3;", {7, 8, 1}, 7},
      {"selp.f32 %f9, %f1, %f2, !%p3;", {F(7), F(8), 1}, F(8)},
      {"slct.f32.s32 %f9, %f1, %f2, %r3;", {F(1), F(2), kM1}, F(2)},
  });
}

TEST(MoveOps, PackAndUnpack) {
  Check({
      {"mov.b64 %rd9, {%r1, %r2};", {1, 2}, 0x200000001},
      {"mov.b64 {%r8, %r9}, %rd1;", {0x700000001}, 7},
      {"mov.b64 {_, %r9}, %rd1;", {0x700000001}, 7},
      {"mov.b32 %r9, {%rs1, %rs2};", {1, 2}, 0x20001},
      {"mov.b64 {%rs5, %rs6, %rs7, %rs9}, %rd1;", {0x0004000300020001}, 4},
      {"mov.pred %p9, %p1;", {1}, 1},
      {"mov.u32 %r9, WARP_SZ;", {}, 32},
      {"mov.f32 %f9, 0f3F800000;", {}, F(1)},
      {"mov.f64 %fd9, 1.5;", {}, D(1.5)},
  });
}

TEST(Clocks, Advance) { EXPECT_GT(Evaluate("mov.u64 %rd9, %globaltimer;", {}), 0U); }

TEST(Refusals, NameTheInstructionAndItsLine) {
  const auto error = [](const std::string& body) {
    TestModule module(".visible .entry k() {\n.reg .b32 %r<5>; .reg .pred %p<2>;\n" + body + "\nret; }");
    const auto program = module.TryDecode("k");
    return program ? std::string("none") : program.error().text;
  };
  EXPECT_EQ(
      error("wmma.load.a.sync.aligned.m16n16k16.row.f16 %r1, %r2;"),
      "ptxas application ptx input, line 6; error   : Instruction 'wmma.load.a.sync.aligned.m16n16k16.row.f16' is "
      "not supported on this device");
  EXPECT_EQ(error("add.rn.u32 %r1, %r2, %r3;"),
            "ptxas application ptx input, line 6; error   : Instruction 'add.rn.u32' has the modifier '.rn', which is "
            "not supported");
  EXPECT_EQ(error("add.u32 %r1, %r2;"),
            "ptxas application ptx input, line 6; error   : Arguments mismatch for instruction 'add'");
  EXPECT_EQ(error("add.u32 %r1, %r2, %p1;"),
            "ptxas application ptx input, line 6; error   : Arguments mismatch for instruction 'add'");
  EXPECT_EQ(error(".local .b8 huge[99999999999]; mov.u32 %r1, 1;"),
            "ptxas application ptx input, line 6; error   : 'huge' is too large for its state space");
  EXPECT_EQ(error("mov.u32 %r1, nobody;"), "ptxas application ptx input, line 6; error   : Unknown symbol 'nobody'");
}

}  // namespace
}  // namespace gpuop::machine::exec
