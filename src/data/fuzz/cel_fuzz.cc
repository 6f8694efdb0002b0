#include <boost/json.hpp>

#include "data/cel.h"

using namespace gpuop;

/// Any text compiles or is refused; what compiles ends within its limit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto program = data::CelProgram::Compile({reinterpret_cast<const char*>(bytes), size});
  if (!program) return 0;
  static const data::Json self =
      *data::ParseJson(R"({"s":"text","i":5,"n":1.5,"b":true,"l":[1,2,3],"m":{"k":"v"},"o":{"x":{"y":[{"z":null}]}}})");
  static const data::Json old = *data::ParseJson(R"({"s":"old","i":4})");
  (void)program->Evaluate({.self = &self, .old_self = &old}, 10000);
  return 0;
}
