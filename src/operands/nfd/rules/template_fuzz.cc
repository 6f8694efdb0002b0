#include "operands/nfd/rules/template.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto parsed =
      gpuop::operands::nfd::Template::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!parsed) return 0;
  static const gpuop::data::Json kData = *gpuop::data::ParseJson(R"({"a":{"b":[{"Name":"x","Value":"1"}]}})");
  static_cast<void>(parsed->Execute(kData));
  return 0;
}
