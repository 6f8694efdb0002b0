#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/cuda/ptx/module.h"

namespace gpuop::machine::ptx {

/// Reads a PTX module (PTX ISA §4–5, §11). `text` outlives the module. Syntax, names and labels are checked; what an
/// instruction means is not. Errors are kInvalid, in the words of Complaint: line and what is wrong. Safe on any bytes.
Result<Module> Parse(std::string_view text);

/// One PTX module of several that parse, as a linker makes it: the first one's header, then what all of them define.
/// A name that two define is for Parse of the result to refuse.
std::string Merge(const std::vector<std::string>& texts);

}  // namespace gpuop::machine::ptx
