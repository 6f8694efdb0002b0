#pragma once

#include "data/json.h"

namespace gpuop::data {

/// ParseJson into memory that is only ever added to, and freed with the last value read into it: quick for documents
/// that are looked at and thrown away, wasteful for those that are kept or grow.
Result<Json> ParseJsonBriefly(std::string_view text, const JsonLimits& limits = {});

}  // namespace gpuop::data
