#include "operands/nfd/sources/feature_file.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  gpuop::operands::nfd::LocalFeatures out;
  gpuop::operands::nfd::AddFeatureFile(std::string_view(reinterpret_cast<const char*>(data), size), {}, out);
  return 0;
}
