#pragma once
// Request bodies in Kubernetes' protobuf form: the bytes "k8s\0", then a runtime.Unknown around the object.

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/schema.h"

namespace gpuop::sim::types {

/// The envelope (runtime.Unknown).
struct Envelope {
  std::string api_version, kind;
  /// The object's message; a view into the body.
  std::string_view raw;
};

/// Whether `body` begins with the magic bytes.
bool IsProtobuf(std::string_view body);
/// kInvalid when the bytes are no envelope, or one with an encoding of its own.
Result<Envelope> OpenEnvelope(std::string_view body);

/// The message as JSON: bytes as base64, times as RFC 3339, raw extensions as the JSON they hold; fields without a
/// known number are skipped. kInvalid on bytes that are no such message, or nested deeper than 100 messages. The work
/// is linear in the size of `message`.
Result<boost::json::object> DecodeMessage(const data::Schema& schema, std::string_view message);

}  // namespace gpuop::sim::types
