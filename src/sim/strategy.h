#pragma once
// What the API server itself sets on an object of a kind, whatever the client sent: the parts of a write that are
// neither defaults nor validation.

#include <boost/json/object.hpp>

#include "sim/request.h"
#include "sim/resource.h"

namespace gpuop::sim {

/// A create: status reset, generation begun, what the server assigns. metadata.uid is set.
void PrepareCreate(const ResourceInfo& info, boost::json::object& object);

/// A write of the main resource, or of `subresource`: what it may not touch is put back as it is in `old`; the
/// generation counts up when the specification changed.
void PrepareUpdate(const ResourceInfo& info, const Subresource* subresource, boost::json::object& object,
                   const boost::json::object& old);

/// Whether DELETE answers with the object instead of a Status.
bool ReturnsDeleted(const ResourceInfo& info);

/// Seconds that a pod may take to stop when `asked` (nullopt: not said) is asked of it.
std::int64_t PodGraceSeconds(const boost::json::object& pod, std::optional<std::int64_t> asked);

}  // namespace gpuop::sim
