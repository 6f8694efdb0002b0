// What the lanes of a warp do together (PTX ISA §9.7.9 shfl, §9.7.13 vote, match, redux, …).

#include <array>
#include <utility>

#include "machine/cuda/exec/builder.h"
#include "machine/cuda/exec/value.h"

namespace gpuop::machine::exec {
namespace {

using ptx::Operand;
using ptx::Type;

enum class Mode : std::uint16_t { kUp, kDown, kButterfly, kIndex };

/// Which lane `lane` reads, and whether it lies in its segment (PTX ISA, shfl).
std::pair<int, bool> SourceLane(Mode mode, int lane, std::uint32_t b, std::uint32_t c) {
  const int by = static_cast<int>(b & 31U), clamp = static_cast<int>(c & 31U);
  const int segment = static_cast<int>((c >> 8) & 31U);
  const int most = (lane & segment) | (clamp & ~segment);
  int from = lane;
  bool inside = false;
  switch (mode) {
    case Mode::kUp: from = lane - by, inside = from >= most; break;
    case Mode::kDown: from = lane + by, inside = from <= most; break;
    case Mode::kButterfly: from = lane ^ by, inside = from <= most; break;
    case Mode::kIndex: from = (lane & segment) | (by & ~segment), inside = from <= most; break;
  }
  return {inside ? from : lane, inside};
}

void Shuffle(Warp& w, const Inst& i, Mask m) {
  std::array<std::uint64_t, kLanes> result{};
  Mask inside = 0;
  ForLanes(m, [&](int l) {
    const auto [from, in] = SourceLane(static_cast<Mode>(i.flags), l, static_cast<std::uint32_t>(w.LaneValue(i.b, l)),
                                       static_cast<std::uint32_t>(w.LaneValue(i.x, l)));
    // What a lane that is not here would give is undefined: the own value.
    const bool here = ((m >> from) & 1U) != 0;
    result[static_cast<std::size_t>(l)] = w.LaneValue(i.a, here ? from : l);
    inside |= Mask{in} << l;
  });
  ForLanes(m, [&](int l) {
    w.SetLaneValue(i.d, l, static_cast<std::uint32_t>(result[static_cast<std::size_t>(l)]));
    if (i.e != kNoSlot) w.SetLanePred(i.e, l, ((inside >> l) & 1U) != 0);
  });
}

enum class Vote : std::uint16_t { kAll, kAny, kUniform, kBallot };
void RunVote(Warp& w, const Inst& i, Mask m) {
  Mask yes = 0;
  ForLanes(m, [&](int l) { yes |= Mask{w.LanePred(i.a, l)} << l; });
  const auto vote = static_cast<Vote>(i.flags);
  const bool result = vote == Vote::kAll ? yes == m : vote == Vote::kAny ? yes != 0 : yes == m || yes == 0;
  ForLanes(m, [&](int l) {
    if (vote == Vote::kBallot)
      w.SetLaneValue(i.d, l, yes);
    else
      w.SetLanePred(i.d, l, result);
  });
}

template <class T, bool kAll>
void Match(Warp& w, const Inst& i, Mask m) {
  std::array<Mask, kLanes> same{};
  ForLanes(m, [&](int l) {
    const T mine = Get<T>(w.LaneValue(i.a, l));
    ForLanes(m, [&](int other) {
      same[static_cast<std::size_t>(l)] |= Mask{Get<T>(w.LaneValue(i.a, other)) == mine} << other;
    });
  });
  ForLanes(m, [&](int l) {
    const Mask found = same[static_cast<std::size_t>(l)];
    w.SetLaneValue(i.d, l, kAll && found != m ? 0 : found);
    if (i.e != kNoSlot) w.SetLanePred(i.e, l, found == m);
  });
}

template <class T, auto Op>
void Redux(Warp& w, const Inst& i, Mask m) {
  T value = Get<T>(w.LaneValue(i.a, std::countr_zero(m)));
  ForLanes(m & (m - 1), [&](int l) { value = static_cast<T>(Op(value, Get<T>(w.LaneValue(i.a, l)))); });
  ForLanes(m, [&](int l) { w.SetLaneValue(i.d, l, Put<T>(value)); });
}
constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kMin = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };

/// The member mask is the last operand of the forms with .sync; older forms take whoever is here.
Slot Members(Builder& b, bool sync, std::size_t operand) { return sync ? b.Src(operand, Type::kB32) : kNoSlot; }

void BuildShuffle(Builder& b) {
  const bool sync = b.Take(".sync");
  Mode mode = Mode::kIndex;
  if (b.Take(".up"))
    mode = Mode::kUp;
  else if (b.Take(".down"))
    mode = Mode::kDown;
  else if (b.Take(".bfly"))
    mode = Mode::kButterfly;
  else
    b.Take(".idx");
  b.TakeType();
  b.NeedOperands(sync ? 5 : 4, sync ? 5 : 4);
  if (b.failed()) return;
  const Operand& to = b.now().operands[0];
  b.Emit({.run = &Shuffle,
          .d = b.Dst(to),
          .e = to.second.empty() ? kNoSlot : b.PredDst(to.second[0]),
          .a = b.Src(1, Type::kB32),
          .b = b.Src(2, Type::kU32),
          .c = Members(b, sync, 4),
          .x = b.Src(3, Type::kU32),
          .flags = static_cast<std::uint16_t>(mode),
          .flow = Flow::kWarp});
}

void BuildVote(Builder& b) {
  const bool sync = b.Take(".sync");
  Vote vote = Vote::kAll;
  if (b.Take(".any"))
    vote = Vote::kAny;
  else if (b.Take(".uni"))
    vote = Vote::kUniform;
  else if (b.Take(".ballot"))
    vote = Vote::kBallot;
  else
    b.Take(".all");
  b.TakeType();
  b.NeedOperands(sync ? 3 : 2, sync ? 3 : 2);
  if (b.failed()) return;
  const auto& operands = b.now().operands;
  b.Emit({.run = &RunVote,
          .d = vote == Vote::kBallot ? b.Dst(0) : b.PredDst(operands[0]),
          .a = b.PredSrc(operands[1]),
          .c = Members(b, sync, 2),
          .flags = static_cast<std::uint16_t>(vote),
          .flow = Flow::kWarp});
}

void BuildMatch(Builder& b) {
  const bool all = b.Take(".all");
  if (!all) b.Take(".any");
  b.Take(".sync");
  const Type type = b.TakeType();
  b.NeedOperands(3, 3);
  if (b.failed()) return;
  const Operand& to = b.now().operands[0];
  Handler run = all ? &Match<std::uint32_t, true> : &Match<std::uint32_t, false>;
  if (type == Type::kB64) run = all ? &Match<std::uint64_t, true> : &Match<std::uint64_t, false>;
  b.Emit({.run = run,
          .d = b.Dst(to),
          .e = to.second.empty() ? kNoSlot : b.PredDst(to.second[0]),
          .a = b.Src(1, type),
          .c = b.Src(2, Type::kB32),
          .flow = Flow::kWarp});
}

void BuildRedux(Builder& b) {
  b.Take(".sync");
  Handler is_unsigned = nullptr, is_signed = nullptr;
  if (b.Take(".add")) is_unsigned = is_signed = &Redux<std::uint32_t, kAdd>;
  if (b.Take(".min")) is_unsigned = &Redux<std::uint32_t, kMin>, is_signed = &Redux<std::int32_t, kMin>;
  if (b.Take(".max")) is_unsigned = &Redux<std::uint32_t, kMax>, is_signed = &Redux<std::int32_t, kMax>;
  if (b.Take(".and")) is_unsigned = is_signed = &Redux<std::uint32_t, kAnd>;
  if (b.Take(".or")) is_unsigned = is_signed = &Redux<std::uint32_t, kOr>;
  if (b.Take(".xor")) is_unsigned = is_signed = &Redux<std::uint32_t, kXor>;
  const Type type = b.TakeType();
  b.NeedOperands(3, 3);
  if (is_unsigned == nullptr || ptx::IsFloat(type)) return b.Refuse("is not supported on this device");
  b.Emit({.run = type == Type::kS32 ? is_signed : is_unsigned,
          .d = b.Dst(0),
          .a = b.Src(1, type),
          .c = b.Src(2, Type::kB32),
          .flow = Flow::kWarp});
}

void BuildActivemask(Builder& b) {
  b.TakeType();
  b.NeedOperands(1, 1);
  const Handler run = [](Warp& w, const Inst& i, Mask m) { ForLanes(m, [&](int l) { w.Dst(i.d)[l] = m; }); };
  b.Emit({.run = run, .d = b.Dst(0)});
}

void BuildElect(Builder& b) {
  b.Take(".sync");
  b.NeedOperands(2, 2);
  if (b.failed() || b.now().operands[0].second.empty()) return b.Mismatch();
  const Handler run = [](Warp& w, const Inst& i, Mask m) {
    const int leader = std::countr_zero(m);
    ForLanes(m, [&](int l) {
      w.SetLaneValue(i.d, l, static_cast<std::uint64_t>(leader));
      w.SetLanePred(i.e, l, l == leader);
    });
  };
  const Operand& to = b.now().operands[0];
  b.Emit({.run = run, .d = b.Dst(to), .e = b.PredDst(to.second[0]), .c = b.Src(1, Type::kB32), .flow = Flow::kWarp});
}

constexpr std::array kOps = {
    Op{"shfl", Class::kAny, BuildShuffle}, Op{"vote", Class::kAny, BuildVote},
    Op{"match", Class::kAny, BuildMatch},  Op{"redux", Class::kAny, BuildRedux},
    Op{"elect", Class::kAny, BuildElect},  Op{"activemask", Class::kAny, BuildActivemask},
};

}  // namespace

std::span<const Op> WarpOps() { return kOps; }

}  // namespace gpuop::machine::exec
