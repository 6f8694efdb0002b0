#pragma once

#include <map>
#include <vector>

#include "machine/cuda/ptx/cursor.h"
#include "machine/cuda/ptx/module.h"

namespace gpuop::machine::ptx {

/// A variable's declaration from its state space on, one name of it: ".align 4 .b8 x[16] = {1, 2}". now() stands after
/// the space. `initial`: whether "= …" may follow. Several names with commas are the caller's.
Result<Variable> ParseVariable(Cursor& in, Space space, bool initial);

/// ".reg .b32 %r<5>, x;": what each name stands for. now() stands after ".reg"; the list's end is left to the caller.
struct RegisterNames {
  Type type = Type::kNone;
  std::uint64_t count = 0;  ///< 0: the plain name; else name0 … name<count-1>
};
Result<> ParseRegisters(Cursor& in, std::map<std::string_view, RegisterNames>& names);

/// A list of formal parameters in parentheses, now() at the '('.
Result<std::vector<Variable>> ParseFormals(Cursor& in);

}  // namespace gpuop::machine::ptx
