#pragma once

#include <string>
#include <string_view>

#include "sim/status.h"

namespace gpuop::sim {

/// What the client wants to see of an object.
struct Form {
  enum class Kind : std::uint8_t { kObject, kTable, kPartial } kind = Kind::kObject;
  /// meta.k8s.io's version, of Tables and PartialObjectMetadata.
  std::string version = "v1";
  /// The answer's content type.
  std::string content_type = "application/json";
  bool yaml = false;
};

/// Picks the first form of the Accept header that can be served. Protobuf answers are not. `list`: a refusal names the
/// stream forms too.
Answer<Form> Negotiate(std::string_view accept, bool list = false);

}  // namespace gpuop::sim
