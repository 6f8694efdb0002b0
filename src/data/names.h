#pragma once
// The syntax of names, labels and annotations. Every check answers the API server's messages; an empty list is well.

#include <string>
#include <string_view>
#include <vector>

#include "data/field_error.h"
#include "data/json.h"

namespace gpuop::data {

using Messages = std::vector<std::string>;

/// RFC 1123 label: most object names' parts, namespaces, containers.
Messages CheckDnsLabel(std::string_view name);
/// RFC 1123 subdomain: most object names.
Messages CheckDnsSubdomain(std::string_view name);
/// RFC 1035 label: the names of services.
Messages CheckDns1035Label(std::string_view name);
/// "[prefix/]name": label and annotation keys, taint keys, extended resources.
Messages CheckQualifiedName(std::string_view name);
Messages CheckLabelValue(std::string_view value);
/// What every object's name must be at least: fit for a URL's path.
Messages CheckPathSegment(std::string_view name);
/// A key of a ConfigMap or Secret.
Messages CheckConfigKey(std::string_view key);
/// A container's port name (IANA service name).
Messages CheckPortName(std::string_view name);

/// metadata.labels: keys and values. `path` is "metadata.labels".
std::vector<FieldError> CheckLabels(const JsonObject& labels, std::string_view path);
/// metadata.annotations: keys (in any case) and the total size of 256 KiB.
std::vector<FieldError> CheckAnnotations(const JsonObject& annotations, std::string_view path);

}  // namespace gpuop::data
