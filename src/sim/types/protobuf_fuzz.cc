#include <cstddef>
#include <cstdint>

#include "kube/builtin/table.h"
#include "sim/types/protobuf.h"

/// Any bytes as a protobuf body of a kind with every form of field.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpuop;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const auto pod = kube::builtin::FindKind("", "v1", "Pod");
  static const auto crd = kube::builtin::FindKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  (void)sim::types::OpenEnvelope(bytes);
  (void)sim::types::DecodeMessage(*pod, bytes);
  (void)sim::types::DecodeMessage(*crd, bytes);
  return 0;
}
