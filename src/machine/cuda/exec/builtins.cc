#include "machine/cuda/exec/builtins.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/mutex.h"
#include "machine/cuda/exec/block.h"

namespace gpuop::machine::exec {
namespace {

/// A zero-ended text in the device's memory, at most 4 KiB of it.
std::string ReadText(Warp& warp, std::uint64_t address, int lane) {
  std::string text;
  while (text.size() < 4096) {
    const std::byte* byte = warp.Generic(address + text.size(), 1, lane);
    if (byte == nullptr || *byte == std::byte{0}) break;
    text += static_cast<char>(*byte);
  }
  return text;
}

/// printf's arguments lie one after another, each at a multiple of its size.
class Arguments {
 public:
  Arguments(Warp& warp, std::uint64_t address, int lane) : warp_(warp), address_(address), lane_(lane) {}
  std::uint64_t Next(std::uint32_t size) {
    address_ = (address_ + size - 1) & ~std::uint64_t{size - 1};
    std::uint64_t value = 0;
    if (const std::byte* from = warp_.Generic(address_, size, lane_); from != nullptr) std::memcpy(&value, from, size);
    address_ += size;
    return value;
  }

 private:
  Warp& warp_;
  std::uint64_t address_;
  int lane_;
};

template <class T>
std::string One(const std::string& spec, T value) {
  char buffer[1024];
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
#pragma clang diagnostic pop
  return std::string(buffer, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof buffer) - 1)));
}

/// The text of one conversion. `flags`: from '%' to before the length and letter; "*" is already a number in it.
std::string Convert(Warp& warp, const std::string& flags, bool wide, char letter, Arguments& args, int lane) {
  switch (letter) {
    case 'd':
    case 'i':
      if (wide) return One(flags + "lld", static_cast<long long>(args.Next(8)));
      return One(flags + "d", static_cast<int>(args.Next(4)));
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (wide) return One(flags + "ll" + letter, static_cast<unsigned long long>(args.Next(8)));
      return One(flags + letter, static_cast<unsigned>(args.Next(4)));
    case 'c': return One(flags + "c", static_cast<int>(args.Next(4)));
    case 'p': return One(flags + "p", reinterpret_cast<void*>(args.Next(8)));
    case 's': return One(flags + "s", ReadText(warp, args.Next(8), lane).c_str());
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return One(flags + letter, std::bit_cast<double>(args.Next(8)));
    default: return flags + letter;
  }
}

std::string Format(Warp& warp, std::string_view format, Arguments args, int lane) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out += format[++i];
      continue;
    }
    std::string flags = "%";
    bool wide = false;
    for (++i; i < format.size() && std::strchr("-+ #0123456789.*hlLzjt", format[i]) != nullptr; ++i) {
      const char c = format[i];
      if (c == '*')
        flags += std::to_string(std::clamp(static_cast<int>(args.Next(4)), -500, 500));
      else if (c == 'l' || c == 'z' || c == 'j' || c == 't')
        wide = true;
      else if (c != 'h' && c != 'L' && flags.size() < 16)
        flags += c;
    }
    if (i < format.size()) out += Convert(warp, flags, wide, format[i], args, lane);
  }
  return out;
}

void Print(Warp& warp, std::string_view text) {
  static Mutex mu;  // printf's buffer is one for the device; so are the program's lines
  if (!warp.block().launch().print) return;
  Lock lock(mu);
  warp.block().launch().print(text);
}

std::uint64_t AssertFail(Warp& warp, std::span<const std::uint64_t> args, int lane) {
  const auto text = [&](std::size_t i) { return args.size() > i ? ReadText(warp, args[i], lane) : std::string(); };
  const std::string what = text(1) + ":" + std::to_string(args.size() > 2 ? static_cast<std::uint32_t>(args[2]) : 0) +
                           ": " + text(3) + ": Assertion `" + text(0) + "` failed.\n";
  Print(warp, what);
  warp.Raise(Trap::kAssert, what);
  return 0;
}

}  // namespace

Builtin BuiltinNamed(std::string_view name) {
  if (name == "vprintf") return Builtin::kPrintf;
  if (name == "__assertfail") return Builtin::kAssertFail;
  if (name == "malloc") return Builtin::kMalloc;
  if (name == "free") return Builtin::kFree;
  return Builtin::kNone;
}

std::uint64_t RunBuiltin(Warp& warp, Builtin builtin, std::span<const std::uint64_t> args, int lane) {
  const Launch& launch = warp.block().launch();
  const auto arg = [&](std::size_t i) { return args.size() > i ? args[i] : 0; };
  switch (builtin) {
    case Builtin::kNone: break;
    case Builtin::kPrintf: {
      const std::string text = Format(warp, ReadText(warp, arg(0), lane), Arguments(warp, arg(1), lane), lane);
      Print(warp, text);
      return args.size();
    }
    case Builtin::kAssertFail: return AssertFail(warp, args, lane);
    case Builtin::kMalloc: return launch.allocate ? launch.allocate(arg(0)) : 0;
    case Builtin::kFree:
      if (launch.release) launch.release(arg(0));
      break;
  }
  return 0;
}

}  // namespace gpuop::machine::exec
